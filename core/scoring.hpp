// Scores of many sparse rows by many linear rules at once: scores = X W + b.
//
// W is features x labels, so a non-zero of a row adds one contiguous line of W; rows are shared out to
// threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel.hpp"
#include "sparse.hpp"

namespace widemargin {

template <typename T, typename Weight>
void score_row(const Row<T>& x, const Weight* w, const double* intercept, std::int64_t n_labels,
               double* scores) {
    std::copy(intercept, intercept + n_labels, scores);
    for (std::int64_t k = 0; k < x.size; ++k) {
        const Weight* const line = w + std::int64_t(x.indices[k]) * n_labels;
        const double value = x.values[k];
        for (std::int64_t l = 0; l < n_labels; ++l) scores[l] += value * double(line[l]);
    }
}

template <typename T, typename Weight, class Poll>
void score_rows(const CsrView<T>& x, const Weight* w, const double* intercept, std::int64_t n_labels,
                double* scores, int n_threads, Poll&& poll) {
    // A thread costs some 20 microseconds to start: not worth it for a few documents.
    const std::int64_t work = x.n_values() * n_labels;
    if (n_threads <= 1 || work < 1000000) {
        for (std::int64_t i = 0; i < x.n_rows; ++i) {
            score_row(x.row(i), w, intercept, n_labels, scores + i * n_labels);
        }
        return;
    }
    Pieces pieces(x.n_rows, 64);
    run_parallel(
        n_threads,
        [&](int, const StopFlag& stop) {
            std::int64_t begin, end;
            while (!stop && pieces.next(begin, end)) {
                for (std::int64_t i = begin; i < end; ++i) {
                    score_row(x.row(i), w, intercept, n_labels, scores + i * n_labels);
                }
            }
        },
        poll);
}

}  // namespace widemargin
