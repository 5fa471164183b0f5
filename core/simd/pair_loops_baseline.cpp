#define WIDEMARGIN_TARGET baseline
#include "simd/pair_loops_kernels.hpp"
