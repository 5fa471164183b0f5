// Linear support vector machines in which every label weights the terms for itself.
//
// Label l has a factor f_j >= 0 for every column j. Its machine sees the rows z_i = x_i f / |x_i f| (products
// by columns; an empty row stays 0) and is the one of linear/dual_cd.hpp on these rows, with the same
// options, stopping rule and bias feature, which has no factor. No matrix is made for a label: with v = f w,
//
//   score of row i   w.z_i + b = (sum_j x_ij v_j) / |x_i f| + b,   |x_i f|^2 = sum_j x_ij^2 f_j^2,
//   step of alpha_i  v_j += (change of alpha_i) y_i x_ij f_j^2 / |x_i f|,
//   w.w              sum_j v_j^2 / f_j^2.
//
// So a visit reads the row and, for 16 labels together, a line of v and a line of f^2 for each of its
// columns; the lengths of all rows are kept for the labels of a block only. Results: coef holds v.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "linear/blocks.hpp"
#include "linear/label_blocks.hpp"
#include "linear/label_rows.hpp"
#include "linear/linear_svm_dual.hpp"
#include "parallel.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

// squared_factors: columns x labels
template <typename T, class Poll>
void train_label_weighted(const CsrView<T>& x, const float* squared_factors, const LinearSvmTask& task,
                          const LinearSvmOptions& options, int n_threads, Poll&& poll) {
    const SharedRows<T> shared(x, task.sample_weights);
    const auto solve = [&](const std::int64_t* labels, int count, const StopFlag& stop) {
        auto rows = factored_rows(shared, squared_factors, task.n_labels, labels, count);
        LabelBlock<FactoredRows<T>>(shared, task, options, labels, std::move(rows)).solve(stop);
    };
    solve_in_blocks(task, x.n_rows, n_threads, solve, poll);
}

// Scores of rows x labels.
template <typename T, class Poll>
void score_factored_rows(const CsrView<T>& x, const FactoredWeights& weights, double* scores, int n_threads,
                         Poll&& poll) {
    const LoopsOver<T>& loops = vector_loops().over<T>();
    const auto score = [&](std::int64_t i) {
        const Row<T> row = x.row(i);
        loops.score_factored(row.indices, row.values, row.size, weights, scores + i * weights.n_labels);
    };
    Pieces pieces(x.n_rows, 64);
    run_work(
        n_threads, saturated_product(x.n_values() + x.n_rows, 2 * weights.n_labels), 1000000,
        [&](int, const StopFlag& stop) { pieces.each(stop, score); }, poll);
}

}  // namespace widemargin
