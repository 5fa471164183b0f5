// Online learners: Winnow's weights from their logarithms, many at a time, and AROW's updates of four labels.
#pragma once
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

// exp(x) = 2^n exp(r) with |r| <= ln(2) / 2, where 14 terms of the series are exact up to rounding. x below
// -700 counts as -700. exp(0) is exactly 1.
WIDEMARGIN_INLINE Double4 exp4(Double4 x) {
    // ln(2) in two parts; n times the first is exact.
    constexpr double kLog2Head = 0x1.62e42fee00000p-1, kLog2Tail = 0x1.a39ef35793c76p-33;
    constexpr double kRound = 0x1.8p52;  // adding it leaves the nearest integer in the last bits
    constexpr double kFactorials[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                      1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                      1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
    x = x < all4(-700.0) ? all4(-700.0) : x;
    const Double4 shifted = x * 0x1.71547652b82fep0 + kRound;
    const Double4 n = shifted - kRound;
    const Double4 r = (x - n * kLog2Head) - n * kLog2Tail;
    Double4 sum = all4(kFactorials[0]);
    for (int k = 1; k < 12; ++k) sum = sum * r + kFactorials[k];
    sum = (sum * r + 1.0) * r + 1.0;
    const Long4 exponent = reinterpret_cast<Long4>(shifted) + 1023;
    return sum * reinterpret_cast<Double4>(exponent << 52);
}

static void weigh(const LogWeightForm& form, double shift, const double* v, std::int64_t n, double* w,
                  double* size) {
    for (std::int64_t k = 0; k < n; k += 4) {
        const Double4 x = load4(v + k);
        if (!form.balanced) {
            const Double4 weight = exp4(x - shift) * form.mu;
            store4(w + k, weight);
            store4(size + k, weight);
            continue;
        }
        const Double4 u = x < all4(0) ? -x : x;
        const Double4 large = exp4(u - shift), small = shift == 0 ? 1.0 / large : exp4(-u - shift);
        const Double4 weight = (large - small) * form.mu;
        store4(w + k, x < all4(0) ? -weight : weight);
        store4(size + k, (large + small) * form.mu);
    }
}

static void sizes(const LogWeightForm& form, double floor, const double* w, std::int64_t n, double* size) {
    for (std::int64_t k = 0; k < n; k += 4) {
        const Double4 x = load4(w + k);
        store4(size + k, form.balanced ? sqrt4(x * x + floor) : x);
    }
}

template <typename T>
static void score_variances(const std::int32_t* indices, const T* values, std::int64_t size,
                            const double* information, std::int64_t stride, double* v) {
    Double4 even = {}, odd = {};
    std::int64_t k = 0;
    const auto variance = [&](std::int64_t at) {
        const double x = double(values[at]);
        return all4(x * x) / (load4(information + std::int64_t(indices[at]) * stride) + 1.0);
    };
    for (; k + 2 <= size; k += 2) {
        even += variance(k);
        odd += variance(k + 1);
    }
    if (k < size) even += variance(k);
    store4(v, even + odd);
}

template <typename T>
static void forget_and_score(const std::int32_t* indices, const T* values, std::int64_t size,
                             const double* kept, std::int64_t stride, double* w, double* information,
                             double* scores) {
    const Double4 k = load4(kept);
    Double4 sum = {};
    for (std::int64_t at = 0; at < size; ++at) {
        const std::int64_t place = std::int64_t(indices[at]) * stride;
        const Double4 s = load4(information + place), left = s * k;
        const Double4 weight = load4(w + place) * (k * (s + 1.0) / (left + 1.0));
        store4(information + place, left);
        store4(w + place, weight);
        sum += weight * double(values[at]);
    }
    store4(scores, load4(scores) + sum);
}

template <typename T>
static void move_confident(const std::int32_t* indices, const T* values, std::int64_t size,
                           const double* moves, const double* gains, std::int64_t stride, double* w,
                           double* information) {
    const Double4 move = load4(moves), gain = load4(gains);
    for (std::int64_t k = 0; k < size; ++k) {
        const double x = double(values[k]);
        const std::int64_t at = std::int64_t(indices[k]) * stride;
        const Double4 s = load4(information + at);
        store4(w + at, load4(w + at) + move * x / (s + 1.0));
        store4(information + at, s + gain * (x * x));
    }
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
