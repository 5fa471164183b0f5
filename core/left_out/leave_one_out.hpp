// Exact leave-one-out of linear support vector machines, unbiased or with a bias feature.
//
// For every example t and label: the score f_t(x_t) of the rule learned without t, with a proven accuracy,
// from one solution alpha on all examples. Letters as in linear/dual_cd.hpp; K_t = x_t.x_t + B^2, d_t the
// diagonal of the squared hinge, g the duality gap of alpha, m = y_t f(x_t) the margin of t, m_t the one by
// the rule without t.
//
// What needs no retraining. Between the exact solutions the margin of t can only fall (thesis, Lemma 8), so
//   m_t <= m + sqrt(g K_t)                                                                              (1)
// Moving a of alpha_t's weight into the solution without t cannot beat the best dual objective by more than
// g, for any 0 <= a <= U_t:
//   m_t >= 1 - a q / 2 - c / a,   q = K_t + d_t,                                                        (2)
//   c = alpha_t (1 - m + alpha_t K_t) - alpha_t^2 q / 2 + g
// With g = 0 and the best a this is the xi-alpha bound m_t >= 1 - xi_t - alpha_t K_t. An example with
// alpha_t = 0 may leave without a change: |m_t - m| <= sqrt(g K_t).
//
// Retraining of the others starts where the solution is when t has left it along its path
// (left_out/solution_path.hpp), which is mostly the end. If not, or where a label has too many free examples
// for the path, it goes on with dual coordinate descent on the change of the rule, delta = w_t - w
// (simd/label_loops.hpp, 16 left-out examples of a label side by side); without a path from the solution with
// alpha_t = 0, the weight of the bias feature, on which all margins depend, kept by a small step of all free
// alphas. An example with y_i f(x_i) - 1 = e_i whose alpha is at a bound stays there without any slack while
//   |delta| |x_i| + B |v| < |e_i|                                                                       (3)
// with v the change of the bias weight, so only the rows for which this fails are looked at.
//
// Certificate: for any alpha feasible without t, with its delta and v' = B sum_i y_i (change of alpha_i), and
// any v, the duality gap is the sum of the examples' slacks at (delta, v), plus (v - v')^2 / 2. P is strongly
// convex in the weights and -D in those of the alphas, so with the bias weight half-way between v and v' the
// rule is within sqrt(gap - (v - v')^2 / 4) of the exact one, and its score of x_t within sqrt(K_t) times
// that. The best v is found exactly: at v' the smallest error of the bias weight would cost a slack of every
// example. Retraining stops when this proves the sign of the score and the accuracy that was asked for, or
// when only rounding, which is part of every bound (rounding.hpp), keeps it from doing so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "left_out/batches.hpp"
#include "left_out/linear_bounds.hpp"
#include "left_out/linear_paths.hpp"
#include "left_out/retraining.hpp"
#include "parallel.hpp"

namespace widemargin {

// All labels, some at a time: their solutions are examined side by side, and then all their examples
// retrained. What a few passes do not settle waits for others like it: 16 lanes with one at work would cost
// as much as 16.
template <typename T, class Poll>
void leave_one_out(const CsrView<T>& x, const LeaveOneOutTask& task, const LeaveOneOutOptions& options,
                   int n_threads, Poll&& poll) {
    constexpr std::int64_t kLabelsAtOnce = 16;
    struct Effort {
        std::int64_t passes;
        int rounds;
    };
    constexpr Effort kEfforts[] = {{0, 0}, {12, 1}, {24, 2}, {72, 2}};
    const SharedRows<T> shared(x, task.sample_weights);
    const LeaveOneOut<T> problem(shared, task, options);
    std::vector<std::unique_ptr<Retraining<T>>> retraining(n_threads);
    const auto of = [&](int thread) -> Retraining<T>& {
        if (!retraining[thread]) retraining[thread] = std::make_unique<Retraining<T>>(problem);
        return *retraining[thread];
    };
    for (std::int64_t first = 0; first < task.n_labels; first += kLabelsAtOnce) {
        std::vector<LabelSolution> solutions(std::min(kLabelsAtOnce, task.n_labels - first));
        const auto n_solutions = static_cast<std::int64_t>(solutions.size());
        const auto examine = [&](int, std::int64_t k, const StopFlag& stop) {
            solutions[k] = problem.examine(first + k);
            make_tableau(problem, solutions[k], stop);
            count_up(task.progress, x.n_rows - static_cast<std::int64_t>(solutions[k].left_out.size()));
        };
        run_each(n_solutions, n_threads, examine, poll);
        for (const Effort& effort : kEfforts) {
            const bool last = &effort == std::end(kEfforts) - 1;
            std::vector<Batch> batches = batches_of(
                0, solutions.size(), kLanes, [&](std::size_t k) { return solutions[k].left_out.size(); });
            const auto retrain = [&](int thread, std::int64_t b, const StopFlag& stop) {
                Batch& batch = batches[b];
                const LabelSolution& s = solutions[batch.label];
                const std::size_t count = batch.end - batch.begin;
                of(thread).run(s, s.left_out.data() + batch.begin, count, effort.passes, effort.rounds,
                               last ? nullptr : &batch.open, stop);
                count_up(task.progress, static_cast<std::int64_t>(count - batch.open.size()));
            };
            run_each(static_cast<std::int64_t>(batches.size()), n_threads, retrain, poll);
            for (LabelSolution& s : solutions) s.left_out.clear();
            for (const Batch& batch : batches) {
                Indices& rest = solutions[batch.label].left_out;
                rest.insert(rest.end(), batch.open.begin(), batch.open.end());
            }
        }
    }
}

}  // namespace widemargin
