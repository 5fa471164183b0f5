// The weights of the documents of one label under boosted stumps, and the loss of every stump.
//
// Problem: AdaBoost keeps a weight w_i for every document, w_i = d_i exp(-y_i f(x_i)) with the first weights
// d_i and the votes f so far. A stump tests one term: it votes c_1 for documents that have it and c_0 for all
// others. With W_v+ and W_v-, the weights of the positive and the negative documents that have the term (v =
// 1) or not (v = 0), the weights after the round sum to
//
//     Z = sum_v W_v+ exp(-c_v) + W_v- exp(c_v),
//
// the loss of the stump, which is least, for the votes that are allowed (Schapire, Singer: "BoosTexter",
// Machine Learning 39, 2000, sections 4.1 to 4.3),
//
//     real          c_v = 1/2 ln(W_v+ / W_v-)            Z = 2 sum_v sqrt(W_v+ W_v-)
//     abstaining    the same, but c_0 = 0                Z = W_0 + 2 sqrt(W_1+ W_1-)
//     discrete      c_v = alpha sign(W_v+ - W_v-)        Z falls with the edge sum_v |W_v+ - W_v-|
//
// Losses are added up over the labels of a committee; for discrete votes, the weight of all documents minus
// the edge stands for the loss.
//
// A round costs a pass over the documents that have its term, not over all of them. All others are multiplied
// by exp(-c_0) or exp(c_0), which two scales record, one for the positive and one for the negative documents;
// the documents with the term get what is left, exp(-y (c_1 - c_0)), and the sums of their terms change. The
// sums of absent terms are differences, so no document is read for a term that it does not have. As sums that
// are changed lose digits when most of what they held has gone, all of them are added up again every
// kRoundsBetweenSums rounds, and when the weights have fallen to a hundredth.
//
// Memory: 8 bytes for each document and 16 for each column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "simd/loops.hpp"
#include "trees/presence.hpp"

namespace widemargin {

// The votes of a stump for documents without and with its term.
struct StumpVotes {
    double absent = 0, present = 0;
};

// The weights of positive and negative documents, and whether there are any.
struct SideWeights {
    double positive = 0, negative = 0;
    bool has_positive = false, has_negative = false;

    double difference() const { return positive - negative; }
    bool is_mixed() const { return has_positive && has_negative; }
    bool is_empty() const { return !has_positive && !has_negative; }
};

// Weights of the documents without and with a term.
struct StumpWeights {
    SideWeights absent, present;
};

class LabelWeights {
  public:
    static constexpr int kRoundsBetweenSums = 64;

    // signs: +1 and -1. first: the weight of every document before the first round.
    LabelWeights(const Presence& x, const std::int8_t* signs, const std::vector<double>& first)
        : x_(&x), signs_(signs), weights_(first) {
        const std::int64_t padded = (x.n_columns + 3) / 4 * 4;
        for (std::vector<double>& sums : present_) sums.assign(padded, 0.0);
        for (std::int64_t i = 0; i < x.n_rows; ++i) n_[side(i)] += weights_[i] > 0;
        add_up();
    }

    double total() const { return scales_[0] * all_[0] + scales_[1] * all_[1]; }

    // Adds the loss of the stump of every column.
    void add_losses(Votes votes, double* losses) const {
        const StumpSums sums{
            {present_[0].data(), present_[1].data()}, {all_[0], all_[1]}, {scales_[0], scales_[1]}};
        vector_loops().add_stump_losses(votes, sums, std::int64_t(present_[0].size()), losses);
    }

    // What the stump of a column divides, from the weights themselves.
    StumpWeights divided(std::int64_t column) const {
        double with[2] = {0, 0};
        std::int64_t n_with[2] = {0, 0};
        for (const std::int32_t i : x_->rows_with(column)) {
            with[side(i)] += weights_[i];
            n_with[side(i)] += weights_[i] > 0;
        }
        double without[2];
        for (int s = 0; s < 2; ++s) {
            without[s] = n_with[s] < n_[s] ? std::max(all_[s] - with[s], 0.0) : 0.0;
            with[s] *= scales_[s];
            without[s] *= scales_[s];
        }
        return {{without[0], without[1], n_with[0] < n_[0], n_with[1] < n_[1]},
                {with[0], with[1], n_with[0] > 0, n_with[1] > 0}};
    }

    // Reweighs all documents after a round, and multiplies their weights by `normalizer`.
    void apply(std::int64_t column, StumpVotes votes, double normalizer) {
        const double change = votes.present - votes.absent;
        const double factors[2] = {std::exp(-change), std::exp(change)};
        scales_[0] *= std::exp(-votes.absent) * normalizer;
        scales_[1] *= std::exp(votes.absent) * normalizer;
        if (change != 0) {
            for (const std::int32_t i : x_->rows_with(column)) {
                const int s = side(i);
                const double step = weights_[i] * (factors[s] - 1);
                weights_[i] += step;
                all_[s] += step;
                double* const sums = present_[s].data();
                for (const std::int32_t j : x_->terms_of(i)) sums[j] += step;
            }
        }
        bool worn = ++rounds_ >= kRoundsBetweenSums;
        for (int s = 0; s < 2; ++s) {
            most_[s] = std::max(most_[s], all_[s]);
            worn = worn || !(all_[s] >= 0.01 * most_[s]);
        }
        if (worn) add_up();
    }

  private:
    int side(std::int64_t i) const { return signs_[i] > 0 ? 0 : 1; }

    // All sums anew, with scales of 1.
    void add_up() {
        for (int s = 0; s < 2; ++s) {
            std::fill(present_[s].begin(), present_[s].end(), 0.0);
            all_[s] = 0;
        }
        for (std::int64_t i = 0; i < x_->n_rows; ++i) {
            const int s = side(i);
            const double weight = weights_[i] *= scales_[s];
            all_[s] += weight;
            double* const sums = present_[s].data();
            for (const std::int32_t j : x_->terms_of(i)) sums[j] += weight;
        }
        for (int s = 0; s < 2; ++s) {
            scales_[s] = 1;
            most_[s] = all_[s];
        }
        rounds_ = 0;
    }

    const Presence* x_;
    const std::int8_t* signs_;
    std::vector<double> weights_;     // times the scale of their side
    std::vector<double> present_[2];  // by side: the weights of the documents with each term
    double all_[2] = {0, 0}, most_[2] = {0, 0}, scales_[2] = {1, 1};
    std::int64_t n_[2] = {0, 0};  // documents with a weight
    int rounds_ = 0;              // since all sums were added up
};

}  // namespace widemargin
