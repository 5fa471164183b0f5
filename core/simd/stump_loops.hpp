// The losses of the stumps of all columns, four columns at a time (trees/stumps.hpp).
#pragma once
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

WIDEMARGIN_INLINE Double4 distance4(Double4 a, Double4 b) { return max4(a - b, b - a); }

static void add_stump_losses(Votes votes, const StumpSums& sums, std::int64_t n, double* losses) {
    const Double4 zero = all4(0), scale_p = all4(sums.scales[0]), scale_n = all4(sums.scales[1]);
    const Double4 all_p = all4(sums.all[0]), all_n = all4(sums.all[1]);
    // A weight below 0 is one of 0, after rounding.
    if (votes == Votes::real) {
        const Double4 scale = 2.0 * sqrt4(scale_p * scale_n);
        for (std::int64_t j = 0; j < n; j += 4) {
            const Double4 p = load4(sums.present[0] + j), q = load4(sums.present[1] + j);
            const Double4 present = max4(p, zero) * max4(q, zero);
            const Double4 absent = max4(all_p - p, zero) * max4(all_n - q, zero);
            store4(losses + j, load4(losses + j) + scale * (sqrt4(present) + sqrt4(absent)));
        }
    } else if (votes == Votes::abstaining) {
        const Double4 scale = 2.0 * sqrt4(scale_p * scale_n), all = scale_p * all_p + scale_n * all_n;
        for (std::int64_t j = 0; j < n; j += 4) {
            const Double4 p = max4(load4(sums.present[0] + j), zero);
            const Double4 q = max4(load4(sums.present[1] + j), zero);
            const Double4 absent = all - scale_p * p - scale_n * q;
            store4(losses + j, load4(losses + j) + absent + scale * sqrt4(p * q));
        }
    } else {
        const Double4 a = scale_p * all_p, b = scale_n * all_n;
        for (std::int64_t j = 0; j < n; j += 4) {
            const Double4 p = scale_p * load4(sums.present[0] + j);
            const Double4 q = scale_n * load4(sums.present[1] + j);
            const Double4 edge = distance4(p, q) + distance4(a - p, b - q);
            store4(losses + j, load4(losses + j) + (a + b) - edge);
        }
    }
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
