#define WIDEMARGIN_TARGET baseline
#include "simd/log_weight_loops_kernels.hpp"
