// AdaBoost over stumps: AdaBoost.MH for all labels together, or a committee for every label.
//
// Problem: votes f(x, l) = sum_t h_t(x, l) that make sum_i,l D(i, l) exp(-y_il f(x_i, l)) small, for signs
// y_il of +1 and -1 and a distribution D over documents and labels. Every round adds the stump (stumps.hpp)
// with the least loss Z_t for the current weights, summed over the labels of the committee: all labels share
// its term, and each has votes of its own (Schapire, Singer, 2000, Figures 1 and 2). A committee of one label
// is binary AdaBoost. The loss after round t is the product of Z_1 to Z_t, which bounds the share of wrong
// signs (Theorem 1 there).
//
// Inputs: signs (labels x examples), weights of the examples, options. Outputs per committee and round: the
// column (-1 after the last one), the loss, and the votes for each label.
//
// Votes are smoothed (section 4.2 there): `smoothing` times the weight of all documents is added to the
// weights of both signs. Such votes are between 0 and the best ones, so the loss, which is convex in them,
// never rises. Stumps that are within kTie of the least loss tie, and the lowest column is taken. Stops after
// `n_rounds`, after a stump that makes no mistake, and before a round that would gain less than 2 kTie.
//
// Committees, or blocks of the labels of one committee, are handed out to threads; sums over labels are added
// in order of the labels, so the result does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "parallel.hpp"
#include "trees/stumps.hpp"

namespace widemargin {

struct BoostingProblem {
    const std::int8_t* signs;      // labels x examples
    const double* sample_weights;  // or null: all ones
    std::int64_t n_labels;
};

struct StumpOptions {
    std::int64_t n_rounds;
    std::int64_t votes;  // a number of Votes
    bool together;       // all labels in one committee
    double smoothing;
};

struct StumpResults {
    std::int64_t* columns;  // committees x rounds
    double* losses;         // committees x rounds
    double* votes;          // labels x rounds x 2: absent, present
};

// A share of the weight of all documents. Losses are square roots of products of weights, so rounding of
// 1e-16 and what sums lose show as up to about 1e-7.
constexpr double kTie = 1e-6;

// Votes that are smoothed. `all`: the weight of all documents of the committee.
inline double real_vote(const SideWeights& w, double smoothing, double all) {
    return 0.5 * std::log((w.positive + smoothing * all) / (w.negative + smoothing * all));
}

class StumpCommittee {
  public:
    static constexpr std::int64_t kBlock = 8;  // labels whose losses are added up by one thread

    StumpCommittee(const Presence& x, const BoostingProblem& problem, std::int64_t first_label,
                   std::int64_t n_labels, const StumpOptions& options, const StumpResults& results)
        : x_(x), options_(options), votes_form_(Votes(options.votes)) {
        committee_ = options.together ? 0 : first_label;
        columns_ = results.columns + committee_ * options.n_rounds;
        losses_ = results.losses + committee_ * options.n_rounds;
        votes_ = results.votes + first_label * options.n_rounds * 2;
        double sum = 0;
        for (std::int64_t i = 0; i < x.n_rows; ++i)
            sum += problem.sample_weights ? problem.sample_weights[i] : 1.0;
        first_.resize(x.n_rows);
        for (std::int64_t i = 0; i < x.n_rows; ++i)
            first_[i] = (problem.sample_weights ? problem.sample_weights[i] : 1.0) / (sum * double(n_labels));
        signs_ = problem.signs + first_label * x.n_rows;
        labels_.resize(n_labels);
        pending_.resize(n_labels);
        block_losses_.resize((n_labels + kBlock - 1) / kBlock);
    }

    std::int64_t n_blocks() const { return std::int64_t(block_losses_.size()); }

    // What every block of labels does in a round: it applies the stump of the round before, and adds up the
    // losses of all stumps.
    void visit(std::int64_t block) {
        const std::int64_t end = std::min((block + 1) * kBlock, std::int64_t(labels_.size()));
        std::vector<double>& losses = block_losses_[block];
        losses.assign((x_.n_columns + 3) / 4 * 4, 0.0);
        for (std::int64_t l = block * kBlock; l < end; ++l) {
            if (round_ == 0) {
                labels_[l].emplace(x_, signs_ + l * x_.n_rows, first_);
            } else {
                labels_[l]->apply(chosen_, pending_[l], normalizer_);
            }
            labels_[l]->add_losses(votes_form_, losses.data());
        }
    }

    // After all blocks were visited: chooses the stump of this round; false if there is none, or if it is the
    // last one.
    bool choose() {
        double all = 0;
        for (const auto& label : labels_) all += label->total();
        std::vector<double>& losses = block_losses_[0];
        for (std::size_t b = 1; b < block_losses_.size(); ++b)
            for (std::int64_t j = 0; j < x_.n_columns; ++j) losses[j] += block_losses_[b][j];
        const auto end = losses.begin() + x_.n_columns;
        const double least = x_.n_columns ? *std::min_element(losses.begin(), end) : all;
        if (!(least <= all * (1 - 2 * kTie))) return false;
        chosen_ = std::find_if(losses.begin(), end, [&](double loss) { return loss <= least + kTie * all; }) -
                  losses.begin();
        const bool perfect = vote(all);
        return ++round_ < options_.n_rounds && !perfect;
    }

  private:
    // Sets the votes of the chosen stump; true if it makes no mistake.
    bool vote(double all) {
        const std::int64_t n_labels = std::int64_t(labels_.size());
        std::vector<StumpWeights> divided;
        double edge = 0;
        for (const auto& label : labels_) {
            divided.push_back(label->divided(chosen_));
            edge += std::abs(divided.back().absent.difference());
            edge += std::abs(divided.back().present.difference());
        }
        const double smoothing = options_.smoothing;
        const double alpha =
            0.5 * std::log((all + edge + smoothing * all) / (std::max(all - edge, 0.0) + smoothing * all));
        const auto one = [&](const SideWeights& w) {
            if (votes_form_ != Votes::discrete) return real_vote(w, smoothing, all);
            // Weights that a round has made equal differ by rounding.
            if (std::abs(w.difference()) <= 1e-12 * all) return 0.0;
            return w.difference() > 0 ? alpha : -alpha;
        };
        bool perfect = true;
        double after = 0;
        for (std::int64_t l = 0; l < n_labels; ++l) {
            const SideWeights &absent = divided[l].absent, &present = divided[l].present;
            const bool abstains = votes_form_ == Votes::abstaining;
            pending_[l] = {abstains ? 0.0 : one(absent), one(present)};
            perfect = perfect && !present.is_mixed() && (abstains ? absent.is_empty() : !absent.is_mixed());
            const StumpVotes& c = pending_[l];
            after += absent.positive * std::exp(-c.absent) + absent.negative * std::exp(c.absent);
            after += present.positive * std::exp(-c.present) + present.negative * std::exp(c.present);
            double* const kept = votes_ + (l * options_.n_rounds + round_) * 2;
            kept[0] = c.absent;
            kept[1] = c.present;
        }
        // Weights are made to sum to 1 from time to time, so that they do not underflow.
        normalizer_ = after < 1e-9 && after > 0 ? 1 / after : 1.0;
        columns_[round_] = chosen_;
        losses_[round_] = after * scale_;
        scale_ /= normalizer_;
        return perfect;
    }

    const Presence& x_;
    const StumpOptions options_;
    const Votes votes_form_;
    std::int64_t committee_, round_ = 0, chosen_ = -1;
    std::int64_t* columns_;
    double *losses_, *votes_;
    const std::int8_t* signs_;
    std::vector<double> first_;
    std::vector<std::optional<LabelWeights>> labels_;  // made by a thread in the first round
    std::vector<StumpVotes> pending_;                  // of the chosen stump
    std::vector<std::vector<double>> block_losses_;
    double normalizer_ = 1, scale_ = 1;  // losses are weights times `scale_`
};

template <class Poll>
void boost_stumps(const Presence& x, const BoostingProblem& problem, const StumpOptions& options,
                  const StumpResults& results, int n_threads, Poll&& poll) {
    const std::int64_t n_committees = options.together ? 1 : problem.n_labels;
    std::fill_n(results.columns, n_committees * options.n_rounds, -1);
    if (!options.together) {
        const auto boost = [&](int, std::int64_t label, const StopFlag& stop) {
            StumpCommittee committee(x, problem, label, 1, options, results);
            do {
                committee.visit(0);
            } while (committee.choose() && !stop);
        };
        run_each(n_committees, n_threads, boost, poll);
        return;
    }
    StumpCommittee committee(x, problem, 0, problem.n_labels, options, results);
    do {
        const auto visit = [&](int, std::int64_t block, const StopFlag&) { committee.visit(block); };
        run_each(committee.n_blocks(), n_threads, visit, poll);
    } while (committee.choose());
}

}  // namespace widemargin
