#define WIDEMARGIN_TARGET baseline
#include "tall_loops_kernels.hpp"
