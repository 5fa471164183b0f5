// Compiled with AVX2 and FMA; used only where the CPU has them.
#if defined(WIDEMARGIN_AVX2)
#define WIDEMARGIN_TARGET avx2
#include "simd/all_loops.hpp"
#endif
