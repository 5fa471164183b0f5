// Pearson's test statistic for independence of every label and every term (joachims 2.3.1).
//
// Problem: scores[l][t] = (n tp - df P)^2 n / (df (n - df) P (n - P)) for tp = together[l][t] documents with
// both, df with the term, P with the label. Inputs: the counts, and the factors that depend on the term or
// the label alone: of_terms = n / (df (n - df)) and of_labels = 1 / (P (n - P)), 0 where the denominator is
// 0. Output: labels x terms. One pass; each label is one piece of work for a thread.
#pragma once

#include <cstdint>

#include "parallel.hpp"

namespace widemargin {

struct ChiSquareTerms {
    const double* frequencies;
    const double* of_terms;
    std::int64_t n_terms;
};

struct ChiSquareLabels {
    const double* frequencies;
    const double* of_labels;
    std::int64_t n_labels;
};

template <class Poll>
void chi_square(const std::int32_t* together, const ChiSquareTerms& terms, const ChiSquareLabels& labels,
                double n, double* scores, int n_threads, Poll&& poll) {
    const auto score = [&](std::int64_t label) {
        const std::int32_t* const counts = together + label * terms.n_terms;
        double* const row = scores + label * terms.n_terms;
        const double P = labels.frequencies[label], of_label = labels.of_labels[label];
        for (std::int64_t t = 0; t < terms.n_terms; ++t) {
            const double difference = n * counts[t] - P * terms.frequencies[t];
            row[t] = difference * difference * terms.of_terms[t] * of_label;
        }
    };
    for_labels(labels.n_labels, saturated_product(labels.n_labels, terms.n_terms), n_threads, score, poll);
}

}  // namespace widemargin
