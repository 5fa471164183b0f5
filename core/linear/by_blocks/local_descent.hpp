// One part of the rows, for a linear support vector machine whose rows are divided among machines.
//
// CoCoA+ (Ma, Smith, Jaggi, Jordan, Richtarik, Takac, "Adding vs. averaging in distributed primal-dual
// optimization", ICML 2015, Algorithm 1 with gamma = 1): K parts change their dual variables at the same
// time, each as if the others did not, and the changes of w are added. With w = sum_i alpha_i y_i x_i over
// all parts, part k maximizes over its own alphas (the notation of linear/dual_cd.hpp)
//
//   sum_i alpha_i - w.delta - sigma/2 delta.delta - sum_i d_i/2 alpha_i^2,   0 <= alpha_i <= U_i,
//   delta = sum_i (alpha_i - alpha_i at the beginning) y_i x_i,
//
// where sigma = K bounds how much the changes of all parts can add up (Lemma 3 there). By coordinate descent:
// with w~ = w + sigma delta, g = y_i w~.x_i - 1 + d_i alpha_i and the curvature sigma x_i.x_i + d_i, one
// alpha_i at a time in random order. The bias is a feature like any other.
//
// Inputs: the rows, their signs, U and d; alphas (changed in place); w, the last entry being that of the bias
// feature. Output: delta, with the same entries. It makes a given number of passes; the caller decides when
// the whole problem is solved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

struct LocalTask {
    const std::int8_t* signs;
    const double* upper;     // U_i
    const double* diagonal;  // d_i
    const double* w;
    double* alpha;
    double* delta;
};

struct LocalOptions {
    double bias;   // size of the bias feature
    double sigma;  // the number of parts
    int passes;
    std::uint64_t seed;
};

template <typename T, class Poll>
void descend_locally(const CsrView<T>& x, const LocalTask& task, const LocalOptions& options, Poll&& poll) {
    const std::int64_t bias = x.n_columns;
    std::vector<double> moved(task.w, task.w + x.n_columns + 1);  // w~
    std::vector<double> squares(x.n_rows), before(task.alpha, task.alpha + x.n_rows);
    for (std::int64_t i = 0; i < x.n_rows; ++i)
        squares[i] = x.row(i).squared_norm() + options.bias * options.bias;
    Indices order = all_of(x.n_rows);
    Random random(options.seed);
    for (int pass = 0; pass < options.passes; ++pass) {
        poll();
        random.shuffle(order);
        for (const std::int32_t i : order) {
            const double curvature = options.sigma * squares[i] + task.diagonal[i];
            if (task.upper[i] <= 0 || curvature <= 0) continue;
            const auto row = x.row(i);
            const double y = task.signs[i], alpha = task.alpha[i];
            const double f = row.dot(moved.data()) + options.bias * moved[bias];
            const double g = y * f - 1 + task.diagonal[i] * alpha;
            const double next = std::min(std::max(alpha - g / curvature, 0.0), task.upper[i]);
            const double step = (next - alpha) * y * options.sigma;
            if (step == 0) continue;
            task.alpha[i] = next;
            row.axpy(step, moved.data());
            moved[bias] += step * options.bias;
        }
    }
    // From the alphas themselves, so that rounding in w~ does not add up over rounds.
    std::fill(task.delta, task.delta + x.n_columns + 1, 0.0);
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const double step = (task.alpha[i] - before[i]) * task.signs[i];
        if (step == 0) continue;
        x.row(i).axpy(step, task.delta);
        task.delta[bias] += step * options.bias;
    }
}

}  // namespace widemargin
