// Linear support vector machines with few weights: the squared hinge with an L1 penalty, for all labels of a
// one-vs-rest task.
//
// For each label, with y_i = +1 or -1, costs C_i and rows x_i (and a constant bias feature of size B):
//
//   primal   min_w      P(w) = sum_j |w_j| + sum_i C_i max(0, b_i)^2,    b_i = 1 - y_i w.x_i
//   dual     max_alpha  D(alpha) = sum_i alpha_i - alpha_i^2 / (4 C_i),  alpha_i >= 0,
//                       |g_j| <= 1 for all features j,  g_j = -sum_i alpha_i y_i x_ij
//
// Yuan, Chang, Hsieh, Lin, "A comparison of optimization methods and software for large-scale L1-regularized
// linear classification", JMLR 11, 2010, section 4.1 and appendix: one weight at a time by a Newton step with
// a line search (CDN), which is LIBLINEAR's solver 5. Features are visited in rounds. Each round takes the
// features that have a weight, and those whose gradient g_j violates its bound most, at most as many again.
// It ends when their violations are a tenth of what they were. Most features of a text collection are never
// in a round.
//
// Stopping: between rounds, alpha_i = 2 C_i max(0, b_i) is scaled until all |g_j| <= 1. That makes a feasible
// dual point, so the duality gap is certain: P - D <= tol P, with the largest D so far.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "linear/l1_label.hpp"
#include "linear/label_costs.hpp"
#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

// All labels on n_threads threads. `columns` is the transposed matrix: its rows are features.
template <typename T, class Poll>
void train_l1_svm(const CsrView<T>& columns, const L1Task& task, const L1Options& options, int n_threads,
                  Poll&& poll) {
    const L1Columns<T> shared(columns, options.bias);
    const auto solve = [&](int, std::int64_t label, const StopFlag& stop) {
        L1Label<T>(shared, task, options, label).solve(stop);
        count_up(task.labels_done, 1);
    };
    run_each(task.n_labels, n_threads, solve, poll);
}

}  // namespace widemargin
