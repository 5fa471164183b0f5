// Scores of many sparse rows by many linear rules at once: scores = X W + b.
//
// W is features x labels, so each non-zero of a row adds one contiguous line of W. Rows are divided among
// threads. The scores of row i go to line i or, with `lines`, to line lines[i].
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

template <typename T, class Poll>
void score_rows(const CsrView<T>& x, const double* w, const double* intercept, std::int64_t n_labels,
                double* scores, int n_threads, Poll&& poll, const std::int32_t* lines = nullptr) {
    const LoopsOver<T>& loops = vector_loops().over<T>();
    const auto score = [&](std::int64_t i) {
        const Row<T> row = x.row(i);
        const Row<T> next = x.row(std::min(i + 1, x.n_rows - 1));
        const NextRow ahead{next.indices, next.size};
        double* const out = scores + (lines ? lines[i] : i) * n_labels;
        loops.score_row(row.indices, row.values, row.size, ahead, w, n_labels, intercept, n_labels, out);
    };
    Pieces pieces(x.n_rows, 64);
    run_work(
        n_threads, saturated_product(x.n_values() + x.n_rows, n_labels), 1000000,
        [&](int, const StopFlag& stop) { pieces.each(stop, score); }, poll);
}

}  // namespace widemargin
