// Linear support vector machines for measures of a whole collection: precision/recall breakeven point and F1.
//
// For each label, with y in {-1, +1}^n, cost C and rows x_i (and a constant bias feature of size B), over all
// labelings y' of the collection:
//
//   min_{w, xi}  1/2 w.w + C xi,   w.g(y') >= L(y') - xi for all y',   g(y') = 1/2 sum_i (y_i - y'_i) x_i
//
//   L(y') = 2 n+ (1 - PRBEP(y')) over the y' with n+ positives, where PRBEP = precision = recall
//   L(y') = 2 n+ (1 - F1(y'))    over all y'
//
// Joachims, "A support vector method for multivariate performance measures", ICML 2005 (SVM-perf). The factor
// 2 n+, with n+ positive examples, makes an error cost about as much as it does with the hinge loss: L is the
// number of errors for PRBEP, and close to it for few errors of F1. With L = the number of errors over all y'
// the problem is that of the hinge loss (Theorem 2 there).
//
// Cutting planes (Algorithm 1 there; Joachims, "Training linear SVMs in linear time", KDD 2006): solve the
// problem over the planes (g, L) found so far, add the most violated y' of a point between its solution and
// the best one so far, repeat (linear/multivariate/multivariate_label.hpp).
//
// The most violated y', with scores s_i = w.x_i: for c missed positives and b false positives these are the
// lowest and the highest scores of their class, so only pairs (c, b) are compared (Lemma 1 there). For PRBEP
// b = c, and each further pair gains less than the one before. For F1 the gain of a further false positive
// falls with b, so that the best b for each c is found by bisection.
//
// Stopping: the dual problem of the planes is a lower bound, the primal objective an upper one. Upper - lower
// <= tol upper.
#pragma once

#include <cstdint>

#include "linear/multivariate/multivariate_label.hpp"
#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

// All labels on n_threads threads.
template <typename T, class Poll>
void train_multivariate(const CsrView<T>& x, const MultivariateTask& task, const MultivariateOptions& options,
                        int n_threads, Poll&& poll) {
    const auto solve = [&](int, std::int64_t label, const StopFlag& stop) {
        MultivariateLabel<T>(x, task, options, label).solve(stop);
        count_up(task.labels_done, 1);
    };
    run_each(task.n_labels, n_threads, solve, poll);
}

}  // namespace widemargin
