// Products of tall matrices of few columns: what block Krylov methods for least squares consist of.
#pragma once
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

// Two columns of v and 4 N of w: their sums stay in registers.
template <int N>
WIDEMARGIN_INLINE void cross_tile(const double* v, std::int64_t p, const double* w, std::int64_t q,
                                  std::int64_t n, double* sums) {
    Double4 first[N] = {}, second[N] = {};
    for (std::int64_t i = 0; i < n; ++i) {
        const double a = v[i * p], b = v[i * p + 1];
        for (int k = 0; k < N; ++k) {
            const Double4 x = load4(w + i * q + 4 * k);
            first[k] += x * a;
            second[k] += x * b;
        }
    }
    for (int k = 0; k < N; ++k) {
        store4(sums + 4 * k, load4(sums + 4 * k) + first[k]);
        store4(sums + q + 4 * k, load4(sums + q + 4 * k) + second[k]);
    }
}

static void cross(const double* v, std::int64_t p, const double* w, std::int64_t q, std::int64_t n,
                  double* sums) {
    for (std::int64_t a = 0; a < p; a += 2) {
        std::int64_t b = 0;
        for (; b + 20 <= q; b += 20) cross_tile<5>(v + a, p, w + b, q, n, sums + a * q + b);
        for (; b + 16 <= q; b += 16) cross_tile<4>(v + a, p, w + b, q, n, sums + a * q + b);
        for (; b < q; b += 4) cross_tile<1>(v + a, p, w + b, q, n, sums + a * q + b);
    }
}

// Two rows and 4 N columns of w.
template <int N>
WIDEMARGIN_INLINE void add_tile(const double* v, std::int64_t p, const double* s, std::int64_t q, double* w) {
    Double4 first[N], second[N];
    for (int k = 0; k < N; ++k) {
        first[k] = load4(w + 4 * k);
        second[k] = load4(w + q + 4 * k);
    }
    for (std::int64_t j = 0; j < p; ++j) {
        const double a = v[j], b = v[p + j];
        for (int k = 0; k < N; ++k) {
            const Double4 x = load4(s + j * q + 4 * k);
            first[k] += x * a;
            second[k] += x * b;
        }
    }
    for (int k = 0; k < N; ++k) {
        store4(w + 4 * k, first[k]);
        store4(w + q + 4 * k, second[k]);
    }
}

static void add_products(const double* v, std::int64_t p, const double* s, std::int64_t q, std::int64_t n,
                         double* w) {
    std::int64_t i = 0;
    for (; i + 2 <= n; i += 2) {
        std::int64_t b = 0;
        for (; b + 20 <= q; b += 20) add_tile<5>(v + i * p, p, s + b, q, w + i * q + b);
        for (; b + 16 <= q; b += 16) add_tile<4>(v + i * p, p, s + b, q, w + i * q + b);
        for (; b < q; b += 4) add_tile<1>(v + i * p, p, s + b, q, w + i * q + b);
    }
    for (; i < n; ++i) {
        for (std::int64_t b = 0; b < q; b += 4) {
            Double4 sum = load4(w + i * q + b);
            for (std::int64_t j = 0; j < p; ++j) sum += load4(s + j * q + b) * v[i * p + j];
            store4(w + i * q + b, sum);
        }
    }
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
