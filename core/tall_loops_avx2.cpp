// Compiled with AVX2 and FMA; used only where the CPU has them.
#if defined(__x86_64__)
#define WIDEMARGIN_TARGET avx2
#include "tall_loops_kernels.hpp"
#endif
