// The number of documents of each label in which each term occurs.
//
// Problem: together[l][t] = |{i : i has label l and x_it != 0}| for all labels l and terms t, from which
// every score of terms follows (joachims 2.3.1). Inputs: a CSR matrix of documents, and for each label the
// rows of its documents, concatenated. Output: labels x terms, zeroed here. One pass over the documents of
// each label, whose counts stay in the cache. Labels are handed out to threads in order, so the label with
// the most documents should come first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

template <typename T, class Poll>
void count_by_label(const CsrView<T>& x, std::int64_t n_labels, const std::int64_t* label_indptr,
                    const std::int32_t* label_rows, std::int32_t* together, int n_threads, Poll&& poll) {
    const auto count = [&](std::int64_t label) {
        std::int32_t* const counts = together + label * x.n_columns;
        std::fill(counts, counts + x.n_columns, 0);
        for (std::int64_t k = label_indptr[label]; k < label_indptr[label + 1]; ++k) {
            const Row<T> row = x.row(label_rows[k]);
            for (std::int64_t j = 0; j < row.size; ++j) counts[row.indices[j]] += row.values[j] != T(0);
        }
    };
    for_labels(n_labels, x.n_values(), n_threads, count, poll);
}

}  // namespace widemargin
