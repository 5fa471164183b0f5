#define WIDEMARGIN_TARGET baseline
#include "simd/label_lanes_kernels.hpp"
