// The loops of left_out/solution_path.hpp.
#pragma once
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

constexpr float kNever = __builtin_inff();
constexpr float kAtRest = 1e-9f;

// Tiles of 4 rows and 8 columns, whose sums stay in registers.
static void subtract_products(const double* u, const double* v, std::int64_t depth, std::int64_t rows,
                              std::int64_t stride, double* c) {
    for (std::int64_t i = 0; i < rows; i += 4) {
        const double* const first = u + i * depth;
        for (std::int64_t j = 0; j < i + 4; j += 8) {
            Double4 left[4] = {}, right[4] = {};
            for (std::int64_t k = 0; k < depth; ++k) {
                const Double4 a = load4(v + k * stride + j), b = load4(v + k * stride + j + 4);
                for (int r = 0; r < 4; ++r) {
                    left[r] += a * first[r * depth + k];
                    right[r] += b * first[r * depth + k];
                }
            }
            for (int r = 0; r < 4; ++r) {
                double* const to = c + (i + r) * stride + j;
                store4(to, load4(to) - left[r]);
                store4(to + 4, load4(to + 4) - right[r]);
            }
        }
    }
}

// Four rows at a time, so that the sums are loaded and stored less often.
template <typename Real>
static void add_rows(const Real* const* rows, const double* steps, std::int64_t n_rows, std::int64_t n,
                     double* sums) {
    std::int64_t a = 0;
    for (; a + 4 <= n_rows; a += 4) {
        Double4 low[4], high[4];
        for (int r = 0; r < 4; ++r) {
            low[r] = load4(steps + (a + r) * kColumns);
            high[r] = load4(steps + (a + r) * kColumns + 4);
        }
        for (std::int64_t i = 0; i < n; ++i) {
            double* const to = sums + i * kColumns;
            Double4 left = load4(to), right = load4(to + 4);
            for (int r = 0; r < 4; ++r) {
                const double value = rows[a + r][i];
                left += low[r] * value;
                right += high[r] * value;
            }
            store4(to, left);
            store4(to + 4, right);
        }
    }
    for (; a < n_rows; ++a) {
        const Double4 low = load4(steps + a * kColumns), high = load4(steps + a * kColumns + 4);
        for (std::int64_t i = 0; i < n; ++i) {
            double *const to = sums + i * kColumns, value = rows[a][i];
            store4(to, load4(to) + low * value);
            store4(to + 4, load4(to + 4) + high * value);
        }
    }
}

WIDEMARGIN_INLINE float time_of(float quantity, float rate, float low, float high) {
    if (!(rate > kAtRest) && !(rate < -kAtRest)) return kNever;
    const float time = ((rate > 0 ? high : low) - quantity) / rate;
    return time > 0 ? time : 0.0f;
}

static FirstLimit first_limit(const float* quantity, const float* rate, const float* low, const float* high,
                              std::int64_t n) {
    const Float8 zero = {}, never = zero + kNever, at_rest = zero + kAtRest;
    Float8 first = never;
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const Float8 r = load8(rate + i);
        const Float8 limit = r > zero ? load8(high + i) : load8(low + i);
        Float8 time = (limit - load8(quantity + i)) / r;
        time = time > zero ? time : zero;
        time = ((r > at_rest) | (r < -at_rest)) ? time : never;
        first = first < time ? first : time;
    }
    float soonest = kNever;
    for (int k = 0; k < 8; ++k) soonest = first[k] < soonest ? first[k] : soonest;
    for (; i < n; ++i) {
        const float time = time_of(quantity[i], rate[i], low[i], high[i]);
        soonest = time < soonest ? time : soonest;
    }
    if (soonest == kNever) return {-1, kNever};
    for (i = 0; i < n; ++i) {
        if (time_of(quantity[i], rate[i], low[i], high[i]) <= soonest) return {i, soonest};
    }
    return {-1, kNever};
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
