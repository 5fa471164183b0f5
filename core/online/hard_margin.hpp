// Dual updates (online/dual_updates.hpp) with C = infinity: the hard margin.
//
// Zhang, "Large Margin Winnow Methods for Text Categorization", section 2: min 1/2 w.w (2.1) or the relative
// entropy (2.2), subject to y_i w.x_i >= 1. The dual variables have no upper bound.
//
// Let m be the smallest margin y_i w.x_i, at most 1. The gap is that of the same program with margins of at
// least m, whose dual is m sum_i alpha_i - ...:
//
//   sum_i alpha_i (y_i w.x_i - m).
//
// The program is solved when this is small and m >= 1 - tol. If no weights separate the examples, the dual is
// unbounded, and m stays below 1. The normalized entropy is at most W ln(Z_0 / min_j mu_j), Z_0 being the sum
// of the prior; as soon as the dual exceeds it, there are no such weights, and the label ends. Alphas of
// Winnow stop at kLargestLog / max_j |x_ij|: no exponential of a larger v has a correct digit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "online/dual_task.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

constexpr double kLargestLog = 1e12;
// The objective where nothing separates the examples.
constexpr double kNoMargin = std::numeric_limits<double>::infinity();

// What the updates need of each document: x.x for the SVM, and for a hard margin the largest alpha.
struct RowSizes {
    std::vector<double> squared_norms, limits;
};

template <typename T>
RowSizes row_sizes(const CsrView<T>& x, const DualOptions& options, bool hard) {
    RowSizes sizes;
    for (std::int64_t i = 0; i < x.n_rows && (hard || options.additive); ++i) {
        const Row<T> row = x.row(i);
        const double norm = row.squared_norm() + options.bias * options.bias;
        if (options.additive) sizes.squared_norms.push_back(norm);
        if (!hard) continue;
        double largest = options.bias;
        for (std::int64_t k = 0; k < row.size; ++k) {
            largest = std::max(largest, std::fabs(double(row.values[k])));
        }
        // No weights give an empty document a margin.
        const double limit =
            options.additive ? std::numeric_limits<double>::infinity() : kLargestLog / largest;
        sizes.limits.push_back((options.additive ? norm : largest) > 0 ? limit : 0.0);
    }
    return sizes;
}

// What an example adds to the gap; for a hard margin without (1 - m) alpha. g = 1 - y_i w.x_i.
inline double share_of_gap(double g, double alpha, double cost) {
    return (std::isinf(cost) ? 0.0 : cost * std::max(g, 0.0)) - alpha * g;
}

inline bool has_hard_margin(const DualProblem& problem, std::int64_t label) {
    return std::isinf(std::max(problem.cost_positive[label], problem.cost_negative[label]));
}

}  // namespace widemargin
