// Votes of all the weight vectors that a mistake-driven learner has had (Freund, Schapire, "Large margin
// classification using the perceptron algorithm", 1999): the share of training documents after which the
// weights accept the row, minus the share after which they reject it.
//
// Only the changes of single weights are stored. For a row and a label, only changes of the row's features
// change its score; they are sorted by time and swept once.
//
// Inputs: changes sorted by label, feature and time; the weight of features before their first change; the
// number of documents that each label has seen. Output: votes, rows x labels, in [-1, 1].
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

struct VoteTask {
    std::int64_t n_labels;
    std::int64_t n_changes;
    const std::int64_t* keys;  // label * (features + 1) + feature, sorted
    const std::int64_t* times;
    const double* weights;
    double start;              // the weight of a feature before its first change
    double bias;               // size of the constant feature, 0 for none; it starts at `start` too
    double theta;              // threshold of a score
    const double* row_sums;    // n: divisors of the scores, or null
    const std::int64_t* seen;  // L
    double* votes;             // n x L
};

template <typename T>
double vote(const CsrView<T>& x, const VoteTask& task, std::int64_t i, std::int64_t label,
            std::vector<std::pair<std::int64_t, double>>& moves) {
    const Row<T> row = x.row(i);
    double score = 0;
    moves.clear();
    const std::int64_t* const end = task.keys + task.n_changes;
    const auto collect = [&](std::int64_t feature, double strength) {
        double weight = task.start;
        score += weight * strength;
        const std::int64_t key = label * (x.n_columns + 1) + feature;
        for (const std::int64_t* at = std::lower_bound(task.keys, end, key); at < end && *at == key; ++at) {
            const std::int64_t k = at - task.keys;
            moves.emplace_back(task.times[k], (task.weights[k] - weight) * strength);
            weight = task.weights[k];
        }
    };
    for (std::int64_t k = 0; k < row.size; ++k) collect(row.indices[k], double(row.values[k]));
    if (task.bias > 0) collect(x.n_columns, task.bias);
    std::stable_sort(moves.begin(), moves.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const double strength = task.row_sums ? task.row_sums[i] : 1.0;
    const std::int64_t seen = task.seen[label];
    std::int64_t balance = 0, since = 0;
    for (std::size_t k = 0; k <= moves.size(); ++k) {
        const std::int64_t until = k < moves.size() ? std::min(moves[k].first, seen) : seen;
        balance += (score / strength > task.theta ? 1 : -1) * (until - since);
        since = until;
        if (k < moves.size()) score += moves[k].second;
    }
    return seen > 0 ? double(balance) / double(seen) : 0.0;
}

template <typename T, class Poll>
void vote_rows(const CsrView<T>& x, const VoteTask& task, int n_threads, Poll&& poll) {
    Pieces pieces(x.n_rows, 16);
    run_parallel(
        n_threads,
        [&](int, const StopFlag& stop) {
            std::vector<std::pair<std::int64_t, double>> moves;
            pieces.each(stop, [&](std::int64_t i) {
                for (std::int64_t label = 0; label < task.n_labels; ++label) {
                    task.votes[i * task.n_labels + label] = vote(x, task, i, label, moves);
                }
            });
        },
        poll);
}

}  // namespace widemargin
