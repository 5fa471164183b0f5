// Rules from the paths of a tree, generalized and sifted (Quinlan, C4.5, 1993, chapter 5).
//
// Problem: an ordered list of rules "if all conditions hold, then the class", and a default. Inputs: a tree
// without pruning, and its examples. Every path to a leaf is a rule for the class of most examples of the
// leaf. From a rule, conditions are dropped one at a time, each time the one without which the pessimistic
// error rate U(e, n) of the rule on all examples is lowest (pruning.hpp), as long as that does not rise; of
// equal ones the last on the path. Rules that are then wrong at least as often as right are dropped, and so
// are repeated ones.
//
// The rules of each class are sifted in the order of their error rate: one is kept if, among the examples
// that no kept rule of the class covers, it is right more often than wrong. (Quinlan chooses the subset by
// description length.) The class whose rules have the lower weight of false positives comes first. The
// default is the class of most examples that no rule covers, or of most examples if all are covered.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "trees/pruning.hpp"
#include "trees/sorted_columns.hpp"
#include "trees/tree.hpp"

namespace widemargin {

// x[column] > threshold if `above`, otherwise x[column] <= threshold.
struct Condition {
    std::int32_t column;
    bool above;
    double threshold;

    bool operator==(const Condition& other) const {
        return column == other.column && above == other.above && threshold == other.threshold;
    }
    bool holds(double x) const { return (x > threshold) == above; }
    // Whether it does not hold for a zero.
    bool fails_for_zero() const { return !holds(0); }
};

// The class is that of most of the covered examples.
struct Rule {
    std::vector<Condition> conditions;
    Mass mass;        // of the examples that it covers; of the default: that no other rule covers
    double rate = 0;  // pessimistic error rate

    bool is_positive() const { return mass.positive > mass.n - mass.positive; }
};

// The examples that fail the conditions of a rule, while conditions are dropped.
template <typename T>
class RuleCover {
  public:
    explicit RuleCover(const SortedColumns<T>& columns)
        : columns_(columns), fails_(columns.x.n_rows), which_(columns.x.n_rows) {}

    // masses: of all examples
    void start(const std::vector<Condition>& conditions, const std::vector<Mass>& masses) {
        conditions_ = conditions;
        is_kept_.assign(conditions.size(), true);
        without_.assign(conditions.size(), Mass{});
        covered_ = {};
        std::int32_t n_dense = 0, which = 0;
        for (std::size_t c = 0; c < conditions.size(); ++c) {
            if (!conditions[c].fails_for_zero()) continue;
            ++n_dense;
            which ^= std::int32_t(c);
        }
        std::fill(fails_.begin(), fails_.end(), n_dense);
        std::fill(which_.begin(), which_.end(), which);
        for (std::size_t c = 0; c < conditions.size(); ++c) {
            const std::int32_t step = conditions[c].fails_for_zero() ? -1 : 1;
            each_unlike_zero(conditions[c], [&](std::int32_t row) {
                fails_[row] += step;
                which_[row] ^= std::int32_t(c);
            });
        }
        for (std::size_t row = 0; row < masses.size(); ++row) count(std::int32_t(row), masses[row], 1);
    }

    const Mass& covered() const { return covered_; }
    bool is_kept(std::size_t c) const { return is_kept_[c]; }
    bool covers(std::int32_t row) const { return fails_[row] == 0; }
    // What the rule covers without condition c.
    Mass without(std::size_t c) const { return covered_ + without_[c]; }

    void drop(std::size_t c, const std::vector<Mass>& masses) {
        is_kept_[c] = false;
        const auto change = [&](std::int32_t row) {
            count(row, masses[row], -1);
            --fails_[row];
            which_[row] ^= std::int32_t(c);
            count(row, masses[row], 1);
        };
        if (!conditions_[c].fails_for_zero()) return each_unlike_zero(conditions_[c], change);
        // All fail but those whose value is unlike zero. They would be changed in vain: change them back.
        for (std::size_t row = 0; row < masses.size(); ++row) {
            --fails_[row];
            which_[row] ^= std::int32_t(c);
        }
        each_unlike_zero(conditions_[c], [&](std::int32_t row) {
            ++fails_[row];
            which_[row] ^= std::int32_t(c);
        });
        covered_ = {};
        std::fill(without_.begin(), without_.end(), Mass{});
        for (std::size_t row = 0; row < masses.size(); ++row) count(std::int32_t(row), masses[row], 1);
    }

  private:
    // work(row) for the stored values on the other side of the threshold than zero.
    template <class Work>
    void each_unlike_zero(const Condition& condition, Work&& work) const {
        const bool for_zero = condition.holds(0);
        for (std::int64_t k = columns_.begin[condition.column]; k < columns_.begin[condition.column + 1]; ++k)
            if (condition.holds(double(columns_.values[k])) != for_zero) work(columns_.rows[k]);
    }

    void count(std::int32_t row, const Mass& mass, double sign) {
        if (fails_[row] > 1) return;
        Mass& place = fails_[row] == 0 ? covered_ : without_[which_[row]];
        place = {place.n + sign * mass.n, place.positive + sign * mass.positive};
    }

    const SortedColumns<T>& columns_;
    std::vector<Condition> conditions_;
    std::vector<bool> is_kept_;
    std::vector<std::int32_t> fails_;  // number of conditions that a row fails
    std::vector<std::int32_t> which_;  // exclusive or of their numbers: if it is one, its number
    Mass covered_;
    std::vector<Mass> without_;  // examples that fail this condition only
};

template <typename T>
class RuleMaker {
  public:
    explicit RuleMaker(const SortedColumns<T>& columns) : columns_(columns), cover_(columns) {}

    // signs and weights: of the examples, as for the tree; an example that is not used has the weight 0.
    std::vector<Rule> rules(const Tree& tree, const std::int8_t* signs, const std::vector<double>& weights,
                            double confidence, const StopFlag& stop) {
        stop_ = &stop;
        masses_.resize(weights.size());
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const double weight = signs[i] ? weights[i] : 0;
            masses_[i] = {weight, signs[i] > 0 ? weight : 0};
        }
        std::vector<Rule> of_class[2], made;
        generalize(tree, 0, confidence, of_class);
        double false_positives[2];
        std::vector<bool> is_covered(weights.size(), false);
        for (int positive = 0; positive < 2; ++positive)
            false_positives[positive] = sift(of_class[positive], positive, is_covered);
        const int first = false_positives[1] <= false_positives[0];
        for (const int positive : {first, 1 - first})
            made.insert(made.end(), of_class[positive].begin(), of_class[positive].end());
        Rule otherwise;
        for (std::size_t i = 0; i < masses_.size(); ++i)
            if (!is_covered[i]) otherwise.mass = otherwise.mass + masses_[i];
        if (otherwise.mass.n == 0) otherwise.mass = tree.mass[0];
        made.push_back(otherwise);
        return made;
    }

  private:
    static double errors(const Mass& mass, bool positive) {
        return positive ? mass.n - mass.positive : mass.positive;
    }

    // The rules of all leaves.
    void generalize(const Tree& tree, std::int32_t node, double confidence, std::vector<Rule>* of_class) {
        struct Visit {
            std::int32_t node;
            std::size_t depth;
        };
        std::vector<Visit> waiting{{node, 0}};
        std::vector<Condition> path;
        while (!waiting.empty()) {
            if (*stop_) throw Interrupted();
            const Visit visit = waiting.back();
            waiting.pop_back();
            const std::int32_t at = visit.node;
            path.resize(visit.depth);
            if (visit.depth > 0) path.back() = conditions_to_[at];
            if (tree.is_leaf(at)) {
                const bool positive = tree.mass[at].positive > tree.mass[at].n - tree.mass[at].positive;
                add(generalized(path, positive, confidence), positive, of_class[positive]);
                continue;
            }
            conditions_to_.resize(tree.size());
            conditions_to_[tree.left[at]] = {tree.column[at], false, tree.threshold[at]};
            conditions_to_[tree.right[at]] = {tree.column[at], true, tree.threshold[at]};
            waiting.push_back({tree.right[at], visit.depth + 1});
            waiting.push_back({tree.left[at], visit.depth + 1});
        }
    }

    Rule generalized(const std::vector<Condition>& path, bool positive, double confidence) {
        cover_.start(path, masses_);
        const auto rate = [&](const Mass& mass) {
            return upper_error_rate(errors(mass, positive), mass.n, confidence);
        };
        double now = rate(cover_.covered());
        for (std::size_t n_kept = path.size(); n_kept > 0; --n_kept) {
            double best = now + kSameRate;
            std::size_t dropped = path.size();
            for (std::size_t c = path.size(); c-- > 0;) {
                if (!cover_.is_kept(c)) continue;
                const Mass mass = cover_.without(c);
                const double wrong = errors(mass, positive);
                // The rate is at least the share of errors, and a search for it is slow.
                if (wrong > best * mass.n || !is_rate_up_to(best, wrong, mass.n, confidence)) continue;
                const double found = rate(mass);
                if (dropped < path.size() && found >= best - kSameRate) continue;
                best = found;
                dropped = c;
            }
            if (dropped == path.size()) break;
            cover_.drop(dropped, masses_);
            now = best;
        }
        Rule rule{{}, cover_.covered(), now};
        for (std::size_t c = 0; c < path.size(); ++c)
            if (cover_.is_kept(c)) rule.conditions.push_back(path[c]);
        return rule;
    }

    static void add(Rule&& rule, bool positive, std::vector<Rule>& rules) {
        if (2 * errors(rule.mass, positive) >= rule.mass.n) return;
        for (const Rule& other : rules)
            if (other.conditions == rule.conditions) return;
        rules.push_back(std::move(rule));
    }

    // Keeps the rules of a class that pay; returns the weight of their false positives, and marks what they
    // cover.
    double sift(std::vector<Rule>& rules, bool positive, std::vector<bool>& is_covered) {
        const auto rounded = [](const Rule& rule) { return std::nearbyint(rule.rate / kSameRate); };
        std::stable_sort(rules.begin(), rules.end(),
                         [&](const Rule& a, const Rule& b) { return rounded(a) < rounded(b); });
        std::vector<bool> covered(masses_.size(), false);
        std::vector<Rule> kept;
        Mass all;
        for (Rule& rule : rules) {
            cover_.start(rule.conditions, masses_);
            Mass added;
            for (std::size_t i = 0; i < masses_.size(); ++i)
                if (cover_.covers(std::int32_t(i)) && !covered[i]) added = added + masses_[i];
            if (2 * errors(added, positive) >= added.n) continue;
            all = all + added;
            for (std::size_t i = 0; i < masses_.size(); ++i)
                if (cover_.covers(std::int32_t(i))) covered[i] = is_covered[i] = true;
            kept.push_back(std::move(rule));
        }
        rules = std::move(kept);
        return errors(all, positive);
    }

    // Rates that differ by less are equal.
    static constexpr double kSameRate = 1e-9;

    const SortedColumns<T>& columns_;
    RuleCover<T> cover_;
    std::vector<Mass> masses_;
    const StopFlag* stop_ = nullptr;
    std::vector<Condition> conditions_to_;  // by node: the last condition on the path to it
};

}  // namespace widemargin
