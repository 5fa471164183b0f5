#define WIDEMARGIN_TARGET baseline
#include "tableau_loops_kernels.hpp"
