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

#include <cstdint>
#include <utility>
#include <vector>

#include "linear/blocks.hpp"
#include "linear/label_blocks.hpp"
#include "linear/label_rows.hpp"
#include "linear/linear_svm_dual.hpp"
#include "parallel.hpp"
#include "sparse/csr.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

// All labels on n_threads threads.
template <typename T, class Poll>
void train_linear_svm(const CsrView<T>& x, const LinearSvmTask& task, const LinearSvmOptions& options,
                      int n_threads, Poll&& poll) {
    const SharedRows<T> shared(x, task.sample_weights);
    const auto solve = [&](const std::int64_t* labels, int count, const StopFlag& stop) {
        std::vector<PlainRows<T>> rows(count, PlainRows<T>(shared));
        LabelBlock<PlainRows<T>>(shared, task, options, labels, std::move(rows)).solve(stop);
    };
    solve_in_blocks(task, x.n_rows, n_threads, solve, poll);
}

}  // namespace widemargin
