#define WIDEMARGIN_TARGET baseline
#include "simd/tableau_loops_kernels.hpp"
