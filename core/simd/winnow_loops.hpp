// Winnow's weights from their logarithms, many at a time.
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

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
