// AdaBoost over trees of C4.5: a committee for every label.
//
// Problem: as in stump_committees.hpp, for one label: votes f(x) = sum_t h_t(x) that make sum_i d_i exp(-y_i
// f(x_i)) small. Every round grows a tree (tree_builder.hpp) on documents of weight w_i = d_i exp(-y_i
// f(x_i)), prunes it, and adds the vote of the leaf that a document reaches (Schapire, Singer: "Improved
// boosting algorithms using confidence-rated predictions", 1999). With the weights W_v+ and W_v- of the
// positive and the negative documents of a leaf v, and s times the weight of all documents added to smooth
// them,
//
//     real        1/2 ln(W_v+ / W_v-)
//     discrete    alpha sign(W_v+ - W_v-), alpha = 1/2 ln((1 - e) / e), e the share of wrong weight
//
// The sum of the weights stays what it was, so `min_objects` and the pruning mean what they mean for one
// tree.
//
// Inputs: sorted columns, signs (labels x examples), weights of the examples, options. Outputs per label:
// trees, a vote for every node (0 unless it is a leaf), and the loss after each round. The loss never rises.
// Stops after `n_rounds`, and before a tree that lowers the loss by less than 2 kTie: its error is 1/2, so it
// is a single leaf, or has leaves with the same weight on both sides. Discrete votes also stop after a tree
// without mistakes, as all weights fall alike and the next tree would be the same. Real votes weigh the
// leaves differently, so that other trees follow.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "trees/pruning.hpp"
#include "trees/stump_committees.hpp"
#include "trees/tree_builder.hpp"

namespace widemargin {

struct TreeBoostingOptions : TreeOptions {
    double confidence;  // of the pruning, at least 1 for none
    std::int64_t n_rounds;
    bool discrete;
    double smoothing;
};

struct TreeCommittee {
    std::vector<Tree> trees;
    std::vector<std::vector<double>> votes;
    std::vector<double> losses;
};

template <typename T>
class TreeBooster {
  public:
    TreeBooster(const SortedColumns<T>& columns, const TreeBoostingOptions& options)
        : x_(columns.x), options_(options), builder_(columns) {}

    // first: the weights of the examples before the first round; those of 0 are not used.
    TreeCommittee boost(const std::int8_t* signs, const std::vector<double>& first, const StopFlag& stop) {
        TreeCommittee committee;
        weights_ = first;
        all_ = 0;
        for (const double weight : weights_) all_ += weight;
        double loss = 1;
        for (std::int64_t round = 0; round < options_.n_rounds; ++round) {
            builder_.grow({signs, weights_.data()}, options_, stop);
            if (options_.confidence < 1) prune(builder_.tree(), options_.confidence);
            Tree tree = in_preorder(builder_.tree(), places_);
            find_leaves(tree);
            const std::vector<double> votes = votes_of(tree, signs);
            double after = 0;
            for (std::int64_t i = 0; i < x_.n_rows; ++i)
                if (weights_[i] > 0) after += next_weight(i, signs, votes);
            if (!(after <= all_ * (1 - 2 * kTie))) break;
            loss *= after / all_;
            const double scale = all_ / after;
            for (std::int64_t i = 0; i < x_.n_rows; ++i)
                if (weights_[i] > 0) weights_[i] = next_weight(i, signs, votes) * scale;
            committee.trees.push_back(std::move(tree));
            committee.votes.push_back(votes);
            committee.losses.push_back(loss);
            if (perfect_ && options_.discrete) break;
        }
        return committee;
    }

  private:
    double next_weight(std::int64_t i, const std::int8_t* signs, const std::vector<double>& votes) const {
        return weights_[i] * std::exp(-signs[i] * votes[leaves_[i]]);
    }

    // The leaf of every document that has a weight.
    void find_leaves(const Tree& tree) {
        const std::vector<std::int32_t>& grown = builder_.leaves();
        leaves_.assign(x_.n_rows, 0);
        for (std::int64_t i = 0; i < x_.n_rows; ++i) {
            if (!(weights_[i] > 0)) continue;
            // Documents that are too light for the builder have no leaf, and those of pruned leaves another
            // one.
            const bool is_known = grown[i] >= 0 && places_[grown[i]] >= 0;
            leaves_[i] = is_known ? places_[grown[i]] : walk(tree, i);
        }
    }

    std::int32_t walk(const Tree& tree, std::int64_t i) const {
        const Row<T> row = x_.row(i);
        std::int32_t node = 0;
        while (!tree.is_leaf(node)) {
            const std::int32_t* const end = row.indices + row.size;
            const std::int32_t* const found = std::lower_bound(row.indices, end, tree.column[node]);
            const bool is_stored = found != end && *found == tree.column[node];
            const double value = is_stored ? double(row.values[found - row.indices]) : 0.0;
            node = (value <= tree.threshold[node] ? tree.left : tree.right)[node];
        }
        return node;
    }

    std::vector<double> votes_of(const Tree& tree, const std::int8_t* signs) {
        std::vector<SideWeights> sides(tree.size());
        for (std::int64_t i = 0; i < x_.n_rows; ++i) {
            if (!(weights_[i] > 0)) continue;
            SideWeights& side = sides[leaves_[i]];
            (signs[i] > 0 ? side.positive : side.negative) += weights_[i];
            (signs[i] > 0 ? side.has_positive : side.has_negative) = true;
        }
        perfect_ = true;
        double wrong = 0;
        for (const SideWeights& side : sides) {
            perfect_ = perfect_ && !side.is_mixed();
            wrong += std::min(side.positive, side.negative);
        }
        const double extra = options_.smoothing * all_;
        const double alpha = 0.5 * std::log((all_ - wrong + extra) / (wrong + extra));
        std::vector<double> votes(tree.size(), 0.0);
        for (std::int32_t node = 0; node < tree.size(); ++node) {
            if (!tree.is_leaf(node)) continue;
            const SideWeights& side = sides[node];
            if (!options_.discrete) {
                votes[node] = real_vote(side, options_.smoothing, all_);
            } else if (std::abs(side.difference()) > 1e-12 * all_) {
                votes[node] = side.difference() > 0 ? alpha : -alpha;
            }
        }
        return votes;
    }

    const CsrView<T> x_;
    const TreeBoostingOptions options_;
    TreeBuilder<T> builder_;
    std::vector<double> weights_;
    std::vector<std::int32_t> leaves_, places_;
    double all_ = 0;
    bool perfect_ = false;
};

template <typename T, class Poll>
std::vector<TreeCommittee> boost_trees(const SortedColumns<T>& columns, const BoostingProblem& problem,
                                       const TreeBoostingOptions& options, int n_threads, Poll&& poll) {
    const std::int64_t n = columns.x.n_rows;
    std::vector<double> first(n, 1.0);
    if (problem.sample_weights) first.assign(problem.sample_weights, problem.sample_weights + n);
    std::vector<TreeCommittee> committees(problem.n_labels);
    Pieces pieces(problem.n_labels, 1);
    run_parallel(
        int(std::min<std::int64_t>(n_threads, problem.n_labels)),
        [&](int, const StopFlag& stop) {
            TreeBooster<T> booster(columns, options);
            pieces.each(stop, [&](std::int64_t label) {
                committees[label] = booster.boost(problem.signs + label * n, first, stop);
            });
        },
        poll);
    return committees;
}

}  // namespace widemargin
