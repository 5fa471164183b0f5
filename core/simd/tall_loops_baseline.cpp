#define WIDEMARGIN_TARGET baseline
#include "simd/tall_loops_kernels.hpp"
