#define WIDEMARGIN_TARGET baseline
#include "log_weight_loops_kernels.hpp"
