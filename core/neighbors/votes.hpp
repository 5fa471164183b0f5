// The votes of the nearest documents (joachims (2.24)).
//
// Problem: the score of label l is the sum of v_i y_il over the neighbors i, divided by the sum of v_i, where
// v_i is the cosine or 1, times how often document i counts, and y_il is +1 or -1. It is from -1 to 1, and
// NaN for a document without neighbors. Inputs: documents to classify, of length 1, and the labels of the
// rows of the index. All labels take one search. Each document is searched on one thread, so results do not
// depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "neighbors/nearest.hpp"
#include "parallel.hpp"

namespace widemargin {

struct Queries {
    CsrView<float> rows;
    const std::int32_t* left_out;  // for each query a row of the index to leave out; null: none
};

struct VoteOptions {
    double k;
    bool by_cosine;
};

struct LabelsOfRows {
    std::int64_t n_labels;
    const std::int64_t* indptr;
    const std::int32_t* labels;
};

// Calls use(query, neighbors) for every query.
template <class Use, class Poll>
void each_search(const CosineIndex& index, const Queries& queries, double k, int n_threads, Use&& use,
                 Poll&& poll) {
    Pieces pieces(queries.rows.n_rows, 8);
    const std::int64_t n = queries.rows.n_rows, most = std::max<std::int64_t>(1, n / 8);
    run_work(
        static_cast<int>(std::min<std::int64_t>(n_threads, most)), n * (index.rows().n_rows + 1000), 100000,
        [&](int, const StopFlag& stop) {
            NearestSearch search(index, k);
            pieces.each(stop, [&](std::int64_t q) {
                use(q, search.find(queries.rows.row(q), queries.left_out ? queries.left_out[q] : -1));
            });
        },
        poll);
}

// scores: queries x labels.
template <class Poll>
void vote(const CosineIndex& index, const Queries& queries, const LabelsOfRows& labels,
          const VoteOptions& options, double* scores, int n_threads, Poll&& poll) {
    each_search(
        index, queries, options.k, n_threads,
        [&](std::int64_t q, const std::vector<Neighbor>& neighbors) {
            double* const of_query = scores + q * labels.n_labels;
            std::fill(of_query, of_query + labels.n_labels, 0.0);
            double total = 0;
            for (const Neighbor& each : neighbors) {
                const double votes = options.by_cosine ? each.cosine * each.count : each.count;
                total += votes;
                for (std::int64_t k = labels.indptr[each.row]; k < labels.indptr[each.row + 1]; ++k)
                    of_query[labels.labels[k]] += votes;
            }
            // A label of all neighbors has all votes, added up in the same order: exactly 1.
            for (std::int64_t l = 0; l < labels.n_labels; ++l)
                of_query[l] =
                    total > 0 ? 2 * (of_query[l] / total) - 1 : std::numeric_limits<double>::quiet_NaN();
        },
        poll);
}

struct Found {
    std::int64_t room;  // for each query
    std::int32_t* rows;
    double *cosines, *counts;
};

// Nearest first; what is left of the room is not changed.
template <class Poll>
void nearest(const CosineIndex& index, const Queries& queries, double k, const Found& found, int n_threads,
             Poll&& poll) {
    each_search(
        index, queries, k, n_threads,
        [&](std::int64_t q, const std::vector<Neighbor>& neighbors) {
            const std::int64_t size = std::min(found.room, std::int64_t(neighbors.size()));
            for (std::int64_t p = 0; p < size; ++p) {
                found.rows[q * found.room + p] = neighbors[p].row;
                found.cosines[q * found.room + p] = neighbors[p].cosine;
                found.counts[q * found.room + p] = neighbors[p].count;
            }
        },
        poll);
}

}  // namespace widemargin
