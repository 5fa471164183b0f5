// Compiled with AVX2 and FMA; used only where the CPU has them.
#if defined(WIDEMARGIN_AVX2)
#define WIDEMARGIN_TARGET avx2
#include "simd/tall_loops_kernels.hpp"
#endif
