#define WIDEMARGIN_TARGET baseline
#include "pair_loops_kernels.hpp"
