#define WIDEMARGIN_TARGET baseline
#include "label_lanes_kernels.hpp"
