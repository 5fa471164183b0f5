// The threshold b of a biased hyperplane, from its alphas and s_i = sum_j alpha_j y_j K_ij.
//
// An unbounded support vector has y_i (s_i + b) = 1, and b is the mean over all of them (8.29). Without any,
// the optimality conditions leave an interval of equally good thresholds, which is the same for all optimal
// alphas. The convention is its middle, or its end if it has only one (all examples are of one class).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace widemargin {

struct Threshold {
    double value;
    double lowest, highest;  // the interval; equal up to the accuracy of the solution when stable
    bool stable;             // whether there is an unbounded support vector
};

inline Threshold threshold_of(const double* y, const double* upper, const double* alpha, const double* s,
                              std::int64_t n) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    // An alpha that differs from a bound only by rounding is at the bound.
    constexpr double kRounding = 1e-12;
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, alpha[i]);
    double sum = 0;
    std::int64_t n_free = 0;
    Threshold result{0.0, -kInfinity, kInfinity, false};
    for (std::int64_t i = 0; i < n; ++i) {
        if (upper[i] <= 0) continue;
        const bool above = alpha[i] > kRounding * std::min(upper[i], largest);
        const bool below = alpha[i] < upper[i] * (1 - kRounding);
        const double b = y[i] - s[i];
        if (above && below) sum += b, ++n_free;
        if (y[i] > 0 ? below : above) result.lowest = std::max(result.lowest, b);
        if (y[i] > 0 ? above : below) result.highest = std::min(result.highest, b);
    }
    result.stable = n_free > 0;
    if (n_free > 0) {
        result.value = sum / static_cast<double>(n_free);
    } else if (result.lowest == -kInfinity) {
        result.value = result.highest == kInfinity ? 0.0 : result.highest;
    } else {
        result.value = result.highest == kInfinity ? result.lowest : 0.5 * (result.lowest + result.highest);
    }
    return result;
}

}  // namespace widemargin
