// The vector types of simd/ and their operations, in the namespace WIDEMARGIN_TARGET of the file that
// includes this one.
//
// Loops use nothing from the standard library except constants and memcpy: the linker keeps only one copy of
// an inline function, and a copy compiled for AVX2 would then run on every CPU.
#pragma once

#include <cstring>

#include "simd/loops.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define WIDEMARGIN_INLINE static inline __attribute__((always_inline))

namespace widemargin {
namespace WIDEMARGIN_TARGET {

typedef float Float4 __attribute__((vector_size(16)));
typedef float Float8 __attribute__((vector_size(32)));
typedef double Double4 __attribute__((vector_size(32)));
typedef std::int8_t Bytes8 __attribute__((vector_size(8)));
typedef std::int32_t Int8 __attribute__((vector_size(32)));
typedef std::int64_t Long4 __attribute__((vector_size(32)));
// The same types in memory, at any address. (memcpy would go through the stack.)
typedef float MemoryFloat4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float MemoryFloat8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double MemoryDouble4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef std::int8_t MemoryBytes8 __attribute__((vector_size(8), aligned(1), may_alias));

WIDEMARGIN_INLINE Float8 load8(const float* from) { return *reinterpret_cast<const MemoryFloat8*>(from); }
WIDEMARGIN_INLINE Double4 load4(const double* from) { return *reinterpret_cast<const MemoryDouble4*>(from); }
WIDEMARGIN_INLINE Double4 load4(const float* from) {
#if defined(__AVX__)
    return _mm256_cvtps_pd(_mm_loadu_ps(from));  // GCC 12 splits __builtin_convertvector in two
#else
    const Float4 values = *reinterpret_cast<const MemoryFloat4*>(from);
    return __builtin_convertvector(values, Double4);
#endif
}
WIDEMARGIN_INLINE Bytes8 load_bytes(const std::int8_t* from) {
    return *reinterpret_cast<const MemoryBytes8*>(from);
}
WIDEMARGIN_INLINE void store8(float* to, Float8 v) { *reinterpret_cast<MemoryFloat8*>(to) = v; }
WIDEMARGIN_INLINE void store4(double* to, Double4 v) { *reinterpret_cast<MemoryDouble4*>(to) = v; }

WIDEMARGIN_INLINE Float8 all8(float value) {
    return Float8{value, value, value, value, value, value, value, value};
}
WIDEMARGIN_INLINE Double4 all4(double value) { return Double4{value, value, value, value}; }
WIDEMARGIN_INLINE Float8 max8(Float8 a, Float8 b) { return a > b ? a : b; }
WIDEMARGIN_INLINE Float8 min8(Float8 a, Float8 b) { return a < b ? a : b; }
WIDEMARGIN_INLINE Double4 max4(Double4 a, Double4 b) { return a > b ? a : b; }
WIDEMARGIN_INLINE Double4 min4(Double4 a, Double4 b) { return a < b ? a : b; }
WIDEMARGIN_INLINE double largest(Double4 v) {
    const double a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
    return a > b ? a : b;
}
WIDEMARGIN_INLINE double smallest(Double4 v) { return -largest(-v); }
// std::sqrt would call the library, which sets errno for negative numbers.
WIDEMARGIN_INLINE Double4 sqrt4(Double4 x) {
#if defined(__AVX__)
    return _mm256_sqrt_pd(x);
#elif defined(__SSE2__)
    const __m128d low = _mm_sqrt_pd(__m128d{x[0], x[1]}), high = _mm_sqrt_pd(__m128d{x[2], x[3]});
    return Double4{low[0], low[1], high[0], high[1]};
#else
    return Double4{__builtin_sqrt(x[0]), __builtin_sqrt(x[1]), __builtin_sqrt(x[2]), __builtin_sqrt(x[3])};
#endif
}
// One instruction in AVX2; __builtin_shufflevector would need GCC 12.
WIDEMARGIN_INLINE Float8 joined(Float4 a, Float4 b) {
    return Float8{a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]};
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
