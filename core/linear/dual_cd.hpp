// Linear support vector machines by dual coordinate descent: one label, or all labels of a one-vs-rest task.
//
// For each label, with y_i = +1 or -1, costs C_i and rows x_i (and a constant bias feature of size B):
//
//   primal   min_w      P(w) = 1/2 w.w + sum_i C_i xi_i     (hinge)    xi_i = max(0, 1 - y_i w.x_i)
//                       P(w) = 1/2 w.w + sum_i C_i xi_i^2   (squared hinge)
//   dual     max_alpha  D(alpha) = sum_i alpha_i - 1/2 w.w - sum_i d_i/2 alpha_i^2,   0 <= alpha_i <= U_i,
//                       w = sum_i alpha_i y_i x_i,
//            hinge: U_i = C_i, d_i = 0;   squared hinge: U_i = infinity, d_i = 1 / (2 C_i).
//
// Algorithm 3 of Hsieh, Chang, Lin, Keerthi, Sundararajan, "A dual coordinate descent method for large-scale
// linear SVM", ICML 2008: one alpha_i at a time in random order, with shrinking; over-relaxed
// (simd/label_loops.hpp). PG is the projected gradient, g = y_i w.x_i - 1 + d_i alpha_i where alpha_i may
// still move against it. The threshold is a variable of its own that follows the alphas slowly
// (linear/threshold.hpp): the bias feature then costs next to no passes.
//
// Stopping: the duality gap P - D is a sum of non-negative terms, one for each example,
//   hinge:          max(alpha_i g_i, (alpha_i - C_i) g_i)
//   squared hinge:  C_i xi_i^2 + d_i/2 alpha_i^2 + alpha_i (y_i w.x_i - 1)
// so every pass estimates it for nothing. When the estimate is small enough, one pass over all examples in
// double precision decides (P - D <= tol P), and brings back what had been shrunk wrongly. The alternative is
// LIBLINEAR's: max(PG, 0) - min(PG, 0) <= tol over all examples; there the bias feature is a feature like any
// other.
//
// All labels: blocks of 16 labels share the first passes (simd/label_loops.hpp, single precision) while their
// active sets overlap; then each label goes on alone, on its own active set, in double precision; the
// deciding passes are shared again. C = infinity (hard margin) skips the shared passes; there the gap
// compares D with the objective of w scaled until every example has margin 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "linear/label_blocks.hpp"
#include "linear/linear_svm_dual.hpp"
#include "parallel.hpp"
#include "sparse/csr.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

// All labels on n_threads threads. Labels with similar numbers of positive examples share a block: their
// active sets shrink at the same rate.
template <typename T, class Poll>
void train_linear_svm(const CsrView<T>& x, const LinearSvmTask& task, const LinearSvmOptions& options,
                      int n_threads, Poll&& poll) {
    const SharedRows<T> shared(x, task.sample_weights);
    std::vector<std::int64_t> positives(task.n_labels), order(task.n_labels);
    for (std::int64_t l = 0; l < task.n_labels; ++l) {
        const std::int8_t* first = task.signs + l * x.n_rows;
        positives[l] = std::count(first, first + x.n_rows, std::int8_t(1));
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return positives[a] > positives[b]; });
    // As few blocks as 16 lanes allow, but a whole number for each thread, all of about the same size.
    std::int64_t n_blocks = (task.n_labels + kLanes - 1) / kLanes;
    n_blocks = std::min((n_blocks + n_threads - 1) / n_threads * n_threads, task.n_labels);
    const auto solve = [&](int, std::int64_t block, const StopFlag& stop) {
        const std::int64_t first = block * task.n_labels / n_blocks;
        const std::int64_t last = (block + 1) * task.n_labels / n_blocks;
        LabelBlock<T>(shared, task, options, order.data() + first, static_cast<int>(last - first))
            .solve(stop);
    };
    run_each(n_blocks, n_threads, solve, poll);
}

}  // namespace widemargin
