// Transductive support vector machines: the labels of k unlabeled examples that leave the widest margin.
//
//   min over y*, w, b  1/2 w.w + sum_i C_i xi_i + sum_j C*_j xi*_j                  (thesis, OP 14)
//   y_i (w.x_i + b) >= 1 - xi_i,  y*_j (w.x*_j + b) >= 1 - xi*_j,  with num_plus labels y* = +1.
//
// The search is Figure 9.1 of the thesis (Joachims, 2000): label the examples with an inductive machine,
// increase their costs C*- and C*+ from almost 0, solve at every level, and exchange the labels of a positive
// m and a negative l while xi*_m > 0, xi*_l > 0 and xi*_m + xi*_l > 2. Each such pair lowers the objective
// with w and b unchanged, independently of other pairs. `many` exchanges the half of them with the largest
// slacks before solving again, and all if there are at least 50 (Sindhwani, Keerthi, SIGIR 2006, always
// exchange all; half ended nearer to the result of one at a time). An exchange keeps num_plus. It also keeps
// the equality constraint, since both examples are at their upper bounds and exchange these too.
//
// Inputs: signs (0: unlabeled), costs of the labeled examples, the final costs of the unlabeled ones.
// Outputs: all signs, alpha, s_i = sum_j alpha_j y_j K_ij, the threshold, a record of every level and of all
// exchanged pairs. The same for the inductive machine, and for the machine at par: the search continued until
// unlabeled examples cost as much as labeled ones, which is where machines can be compared (thesis, 7.5).
//
// Stopping: a solution by (8.32)-(8.35); a level when no pair is left with xi*_m + xi*_l > 2 + tol and both
// slacks above tol, the accuracy of a solution. A round that does not lower the objective (because of
// rounding) is undone, so the objective never rises within a level.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "kernel/decomposition.hpp"

namespace widemargin {

struct TransductionOptions {
    DecompositionOptions solver;
    double growth;  // factor of the costs from level to level
    bool many;      // exchange half or all pairs before solving again, or only one
    // The working set grows with the number of unbounded support vectors, up to this size. With all of them
    // in it, solving takes a few steps, otherwise hundreds.
    std::int64_t largest_working_set;
};

// The record of a level.
struct TransductionLevel {
    double cost_negative, cost_positive, first_objective, objective, squared_weights;
    std::int64_t switches, solutions;
};

// The costs of unlabeled examples with either label: at the first level, at the last (C*), and those of
// labeled examples.
struct UnlabeledCosts {
    double first_negative, first_positive, limit_negative, limit_positive, par_negative, par_positive;
};

struct TransductionTask : UnlabeledCosts {
    const std::int8_t* signs;  // n: +1, -1, 0 for unlabeled
    const double* cost;        // n: of labeled examples
    std::int64_t num_plus;     // ties are broken by position; a single example is labeled by its score
};

template <class Engine>
class Transduction {
  public:
    // progress: as in kernel/decomposition.hpp, for the current solution.
    Transduction(Engine& engine, const TransductionOptions& options, const TransductionTask& task,
                 double* progress)
        : engine_(engine),
          options_(options),
          solver_options_(options.solver),
          task_(task),
          n_(engine.size()),
          y_(n_),
          upper_(n_, 0.0),
          alpha_(n_, 0.0),
          s_(n_, 0.0),
          all_(all_of(n_)),
          machine_(engine, solver_options_, y_.data(), upper_.data(), alpha_.data(), s_.data(), progress) {
        for (std::int64_t i = 0; i < n_; ++i) {
            if (task.signs[i] == 0) unlabeled_.push_back(static_cast<std::int32_t>(i));
        }
    }

    // One entry per example.
    const std::vector<double>& y() const { return y_; }
    const std::vector<double>& alpha() const { return alpha_; }
    const std::vector<double>& s() const { return s_; }
    const std::vector<double>& upper() const { return upper_; }
    double intercept() const { return intercept_; }
    bool converged() const { return converged_; }
    const std::vector<TransductionLevel>& levels() const { return levels_; }
    // The exchanged pairs in order, two entries each: what became negative, what became positive.
    const Indices& switched() const { return switched_; }

    // Trains the inductive machine, on labeled examples only.
    void induce(const StopFlag& stop) {
        for (std::int64_t i = 0; i < n_; ++i) {
            y_[i] = task_.signs[i] < 0 ? -1.0 : 1.0;
            upper_[i] = task_.signs[i] == 0 ? 0.0 : task_.cost[i];
        }
        solve(stop, true);
    }

    // From the inductive machine to the transductive one.
    void search(const StopFlag& stop) {
        label_by_score();
        if (!costs_anything()) return;
        enter(std::min(task_.first_negative, task_.limit_negative),
              std::min(task_.first_positive, task_.limit_positive));
        climb(task_.first_negative, task_.first_positive, task_.limit_negative, task_.limit_positive, stop);
    }

    // Continues until unlabeled examples cost as much as labeled ones.
    void go_on_to_par(const StopFlag& stop) {
        if (!costs_anything() ||
            (task_.limit_negative >= task_.par_negative && task_.limit_positive >= task_.par_positive)) {
            return;
        }
        climb(options_.growth * task_.limit_negative, options_.growth * task_.limit_positive,
              task_.par_negative, task_.par_positive, stop);
    }

  private:
    bool costs_anything() const { return task_.limit_negative > 0 || task_.limit_positive > 0; }

    // Raises the costs level by level up to the last ones.
    void climb(double negative, double positive, double last_negative, double last_positive,
               const StopFlag& stop) {
        while (!stop) {
            const bool last = negative >= last_negative && positive >= last_positive;
            level(std::min(negative, last_negative), std::min(positive, last_positive), stop);
            if (last) break;
            negative *= options_.growth;
            positive *= options_.growth;
        }
    }

    void label_by_score() {
        if (unlabeled_.size() == 1) {
            double& only = y_[unlabeled_[0]];
            only = s_[unlabeled_[0]] + intercept_ > 0 ? 1.0 : -1.0;
            return;
        }
        Indices ranked = unlabeled_;
        std::stable_sort(ranked.begin(), ranked.end(),
                         [&](std::int32_t a, std::int32_t b) { return s_[a] > s_[b]; });
        for (std::size_t p = 0; p < ranked.size(); ++p) {
            y_[ranked[p]] = static_cast<std::int64_t>(p) < task_.num_plus ? 1.0 : -1.0;
        }
    }

    // Initial alphas of the unlabeled examples. Their costs are too small to change w much, so those with a
    // slack start at their bounds, largest slacks first, as far as the equality constraint allows.
    void enter(double negative, double positive) {
        find_slacks();
        double most = std::numeric_limits<double>::infinity();
        if (solver_options_.equality) {
            most = std::min(positive * static_cast<double>(worst_positive_.size()),
                            negative * static_cast<double>(worst_negative_.size()));
        }
        for (auto* const side : {&worst_positive_, &worst_negative_}) {
            const double cost = side == &worst_positive_ ? positive : negative;
            std::sort(side->begin(), side->end(), worse);
            double rest = most;
            for (const Candidate& candidate : *side) {
                alpha_[candidate.example] = std::min(cost, rest);
                rest -= alpha_[candidate.example];
            }
        }
        for (const std::int32_t i : unlabeled_) upper_[i] = y_[i] > 0 ? positive : negative;
    }

    void level(double negative, double positive, const StopFlag& stop) {
        raise_costs(negative, positive);
        solver_options_.tol = options_.solver.tol;
        solve(stop, false);
        const double first = objective();
        TransductionLevel record{negative, positive, first, first, 0.0, 0, 1};
        while (!stop) {
            const std::int64_t pairs = find_pairs();
            if (pairs == 0) break;
            const auto y = y_, alpha = alpha_, s = s_, upper = upper_;
            const double intercept = intercept_;
            exchange(pairs, negative, positive);
            solve(stop, true);
            ++record.solutions;
            double value = objective();
            while (!stop && !(value < record.objective) && solver_options_.tol > kTightest) {
                solver_options_.tol *= kTighter;
                solve(stop, true);
                value = objective();
            }
            if (!(value < record.objective)) {
                y_ = y, alpha_ = alpha, s_ = s, upper_ = upper, intercept_ = intercept;
                break;
            }
            record.objective = value;
            record.switches += pairs;
            // The solution has left the lists of slacks as they were.
            for (std::int64_t p = 0; p < pairs; ++p) {
                switched_.insert(switched_.end(), {worst_positive_[p].example, worst_negative_[p].example});
            }
        }
        record.squared_weights = squared_weights();
        levels_.push_back(record);
    }

    // Sets new upper bounds of the unlabeled examples; an alpha at the old bound moves to the new one.
    void raise_costs(double negative, double positive) {
        for (const std::int32_t i : unlabeled_) {
            const double cost = y_[i] > 0 ? positive : negative;
            if (upper_[i] > 0) alpha_[i] *= cost / upper_[i];
            upper_[i] = cost;
        }
        if (solver_options_.equality) balance();
    }

    // Restores sum_i y_i alpha_i = 0: each alpha of the larger side is reduced by the same share, first those
    // between their bounds.
    void balance() {
        double excess = 0;
        for (std::int64_t i = 0; i < n_; ++i) excess += y_[i] * alpha_[i];
        const double side = excess > 0 ? 1.0 : -1.0;
        excess = std::abs(excess);
        for (const bool bounded : {false, true}) {
            double total = 0;
            const auto gives = [&](std::int64_t i) {
                return y_[i] == side && alpha_[i] > 0 && (alpha_[i] >= upper_[i]) == bounded;
            };
            std::vector<std::int32_t> givers;
            for (std::int64_t i = 0; i < n_; ++i) {
                if (gives(i)) givers.push_back(static_cast<std::int32_t>(i)), total += alpha_[i];
            }
            if (total <= 0 || excess <= 0) continue;
            const double given = std::min(excess, total);
            for (const std::int32_t i : givers) alpha_[i] *= 1 - given / total;
            excess -= given;
        }
    }

    void solve(const StopFlag& stop, bool s_is_known) {
        const DecompositionReport report = machine_.solve(stop, s_is_known);
        intercept_ = report.intercept;
        converged_ = converged_ && report.converged;
        // Half of a working set for each direction, with room for more than the unbounded ones.
        std::int64_t n_free = 0;
        for (std::int64_t i = 0; i < n_; ++i) n_free += alpha_[i] > 0 && alpha_[i] < upper_[i];
        const std::int64_t smallest = options_.solver.working_set;
        solver_options_.working_set =
            std::max(smallest, std::min(smallest + 2 * n_free, options_.largest_working_set));
    }

    double slack(std::int64_t i) const { return std::max(0.0, 1 - y_[i] * (s_[i] + intercept_)); }

    double squared_weights() const {
        double sum = 0;
        for (std::int64_t i = 0; i < n_; ++i) sum += alpha_[i] * y_[i] * s_[i];
        return sum;
    }

    double objective() const {
        double sum = 0.5 * squared_weights();
        for (std::int64_t i = 0; i < n_; ++i) {
            if (upper_[i] > 0 && std::isfinite(upper_[i])) sum += upper_[i] * slack(i);
        }
        return sum;
    }

    // Fills worst_positive_ and worst_negative_, unordered. A solution is exact only up to the tolerance: a
    // smaller slack may belong to an unbounded support vector, whose true slack is 0, and its last digits
    // must not decide whether a label is exchanged.
    void find_slacks() {
        const double tol = solver_options_.tol;
        worst_positive_.clear();
        worst_negative_.clear();
        for (const std::int32_t i : unlabeled_) {
            if (slack(i) > tol) (y_[i] > 0 ? worst_positive_ : worst_negative_).push_back({slack(i), i});
        }
    }

    // Sorts them; returns how many of the first entries are pairs to exchange.
    std::int64_t find_pairs() {
        find_slacks();
        for (auto* const side : {&worst_positive_, &worst_negative_}) {
            if (options_.many) {
                std::sort(side->begin(), side->end(), worse);
            } else if (!side->empty()) {
                std::iter_swap(side->begin(), std::min_element(side->begin(), side->end(), worse));
            }
        }
        const std::size_t most = std::min(worst_positive_.size(), worst_negative_.size());
        std::size_t pairs = 0;
        while (pairs < most && (options_.many || pairs == 0) &&
               worst_positive_[pairs].slack + worst_negative_[pairs].slack > 2 + solver_options_.tol) {
            ++pairs;
        }
        return static_cast<std::int64_t>(pairs < kMany ? (pairs + 1) / 2 : pairs);
    }

    void exchange(std::int64_t pairs, double negative, double positive) {
        Indices moved;
        std::vector<double> change;
        const auto turn = [&](std::int32_t i) {
            const double before = y_[i] * alpha_[i];
            y_[i] = -y_[i];
            upper_[i] = y_[i] > 0 ? positive : negative;
            moved.push_back(i);
            change.push_back(before);
        };
        for (std::int64_t p = 0; p < pairs; ++p) {
            const std::int32_t m = worst_positive_[p].example, l = worst_negative_[p].example;
            turn(m);
            turn(l);
            std::swap(alpha_[m], alpha_[l]);
            clip(m);
            clip(l);
        }
        if (solver_options_.equality) {
            // Usually nothing is left to do: an example with a slack is at its bound up to rounding.
            double excess = 0, total = 0;
            for (std::int64_t i = 0; i < n_; ++i) excess += y_[i] * alpha_[i], total += alpha_[i];
            if (std::abs(excess) > kRounding * total) {
                balance();
                compute_s();
                return;
            }
        }
        for (std::size_t p = 0; p < moved.size(); ++p) {
            change[p] = y_[moved[p]] * alpha_[moved[p]] - change[p];
        }
        engine_.start(all_);
        engine_.update(moved, change, all_, s_.data());
    }

    void clip(std::int32_t i) { alpha_[i] = std::min(alpha_[i], upper_[i]); }

    void compute_s() {
        std::vector<double> signed_alpha(n_);
        for (std::int64_t i = 0; i < n_; ++i) signed_alpha[i] = y_[i] * alpha_[i];
        engine_.from_scratch(signed_alpha, s_.data());
    }

    struct Candidate {
        double slack;
        std::int32_t example;
    };
    static bool worse(const Candidate& a, const Candidate& b) {
        return a.slack != b.slack ? a.slack > b.slack : a.example < b.example;
    }
    static constexpr std::size_t kMany = 50;
    static constexpr double kTighter = 0.1, kTightest = 1e-8, kRounding = 1e-12;

    Engine& engine_;
    const TransductionOptions& options_;
    DecompositionOptions solver_options_;
    const TransductionTask& task_;
    const std::int64_t n_;
    std::vector<double> y_, upper_, alpha_, s_;
    Indices all_, unlabeled_, switched_;
    Decomposition<Engine> machine_;
    double intercept_ = 0;
    bool converged_ = true;
    std::vector<TransductionLevel> levels_;
    std::vector<Candidate> worst_positive_, worst_negative_;
};

}  // namespace widemargin
