// Products of tall matrices of few columns, as vector instructions: what block Krylov methods consist of.
//
// A matrix is n x width in rows, with width a multiple of 4; columns that fill up to it are 0.
#pragma once

#include <cstdint>

#include "simd/simd_choice.hpp"

namespace widemargin {

struct TallLoops {
    // sums += v' w, for v of n x p and w of n x q.
    void (*cross)(const double* v, std::int64_t p, const double* w, std::int64_t q, std::int64_t n,
                  double* sums);
    // w += v s, for s of p x q.
    void (*add)(const double* v, std::int64_t p, const double* s, std::int64_t q, std::int64_t n, double* w);
};

// simd/tall_loops_kernels.hpp is compiled once for any CPU and, on x86-64, once for AVX2 and FMA.
namespace baseline {
TallLoops tall_loops();
}
#if defined(WIDEMARGIN_AVX2)
namespace avx2 {
TallLoops tall_loops();
}
#endif

inline TallLoops tall_loops() {
#if defined(WIDEMARGIN_AVX2)
    if (use_avx2()) return avx2::tall_loops();
#endif
    return baseline::tall_loops();
}

}  // namespace widemargin
