// Logistic regression by dual coordinate descent: one label, or all labels of a one-vs-rest task.
//
// For each label, with y_i = +1 or -1, costs C_i and rows x_i (and a constant bias feature of size B):
//
//   primal   min_w      P(w) = 1/2 w.w + sum_i C_i loss(m_i),   loss(m) = log(1 + exp(-m)),  m_i = y_i w.x_i
//   dual     max_alpha  D(alpha) = -1/2 w.w - sum_i [alpha_i log(alpha_i / C_i)
//                                                    + (C_i - alpha_i) log(1 - alpha_i / C_i)],
//                       0 < alpha_i < C_i,   w = sum_i alpha_i y_i x_i
//
// At the solution alpha_i = C_i sigma(-m_i), with sigma(t) = 1 / (1 + exp(-t)).
//
// Yu, Huang, Lin, "Dual coordinate descent methods for logistic regression and maximum entropy models",
// Machine Learning 85, 2011: one alpha_i at a time in random order (Algorithm 3). The variable here is u_i,
// the margin with alpha_i = C_i sigma(-u_i), instead of alpha_i: it needs no logarithm, loses no accuracy
// near the bounds, and the step has a root between u_i and m_i which Newton's method finds from one side
// (logistic_step).
//
// Stopping: with w = sum_i alpha_i y_i x_i, the duality gap P - D is a sum over the examples,
//   C_i [loss(m_i) - loss(u_i) + sigma(-u_i) (m_i - u_i)]
// so every pass estimates it for nothing. The threshold is a variable of its own that follows the alphas
// slowly, and adds 1/2 (S - v)^2 to the gap (linear/threshold.hpp). When the estimate is small enough, all
// weights are summed up again in double precision, and the exact gap decides: P - D <= tol P.
//
// All labels: blocks of 16 labels share passes in single precision (simd/logistic_loops.hpp). Where that is
// not accurate enough, or for one or two labels, each goes on alone in double precision. The deciding passes
// are shared again.
#pragma once

#include <cstdint>

#include "linear/blocks.hpp"
#include "linear/logistic_blocks.hpp"
#include "linear/logistic_dual.hpp"
#include "sparse/csr.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

// All labels on n_threads threads.
template <typename T, class Poll>
void train_logistic(const CsrView<T>& x, const LogisticTask& task, const LogisticOptions& options,
                    int n_threads, Poll&& poll) {
    const SharedRows<T> shared(x, task.sample_weights);
    const auto solve = [&](const std::int64_t* labels, int count, const StopFlag& stop) {
        LogisticBlock<T>(shared, task, options, labels, count).solve(stop);
    };
    solve_in_blocks(task, x.n_rows, n_threads, solve, poll);
}

}  // namespace widemargin
