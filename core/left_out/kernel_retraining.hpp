// Learning a kernel machine again without an example: the solution of a label, the examples that leave it
// without a change, and the retraining of the others. left_out/leave_one_out_kernel.hpp says how.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernel/decomposition.hpp"
#include "left_out/kernel_bounds.hpp"
#include "left_out/kernel_paths.hpp"

namespace widemargin {

struct LeftOutOptions {
    DecompositionOptions method;  // tol: where to begin with the labels' solutions
    Hyperplane hyperplane;
    double kappa;
    bool bias_feature;
    double accuracy;          // of every score; infinity: only the signs have to be certain
    bool certify;             // false for kernels that may be indefinite, for which no bound holds
    std::int64_t path_bytes;  // for the tableaux of all labels that are in memory at one time
    double values;  // by how much of sqrt(K_ii K_jj) a value can be off (kernel/kernel_rounding.hpp)
    double ridge;   // how much of its diagonal makes the kernel matrix positive semi-definite
};

// All arrays belong to the caller; L labels, n examples, size = n and the artificial ones.
struct LeftOutResults {
    double* scores;            // L x n
    double* accuracy;          // L x n
    std::int64_t* retrained;   // L: how many examples
    std::int64_t* unstable;    // L: how many scores have a threshold from the middle of an interval
    std::int64_t* iterations;  // L: of retraining
    std::int64_t* progress;    // one element, read by another thread: examples done, of L x n
    // L x n, or null: to which accuracy to find each score; infinity: only its sign, 0: it stays as it is
    const double* asked;
};

struct LeftOutTask : KernelProblem, LeftOutResults {};

struct LeftOutLabel {
    std::int64_t label;
    std::vector<double> y, upper, alpha, s;
    double tol;           // at which the solution was good enough
    double rounding = 0;  // of s_i, times r_i
    std::unique_ptr<Rule> rule;
    Indices open;  // examples that need their kernel row at least
    PathExamples path_examples;
    LabelPaths paths;
};

// One for each thread.
template <class Engine>
class LeftOut {
  public:
    LeftOut(std::unique_ptr<Engine> engine, const LeftOutTask& task, const LeftOutOptions& options)
        : engine_(std::move(engine)),
          task_(task),
          options_(options),
          diagonal_(task.size),
          lengths_(task.size) {
        const std::int64_t values = options.method.row_values;
        for (std::int64_t i = 0; i < task.size; ++i) {
            diagonal_[i] = engine_->diagonal(i);
            lengths_[i] = length_of(std::max(diagonal_[i], 0.0), values) * (1 + options.values);
            if (i >= task.n) continue;
            longest_ = std::max(longest_, lengths_[i]);
            largest_ = std::max(largest_, diagonal_[i]);
        }
    }

    // Solves a label well enough, and settles the examples that leave without a change.
    void prepare(LeftOutLabel& l, std::int64_t label, const StopFlag& stop) {
        l.label = label;
        l.y.resize(task_.size);
        l.upper.resize(task_.size);
        for (std::int64_t i = 0; i < task_.size; ++i) {
            const bool real = i < task_.n;
            l.y[i] = real ? task_.signs[label * task_.n + i] : (i == task_.n ? 1.0 : -1.0);
            l.upper[i] = real ? task_.upper[label * task_.n + i] : std::numeric_limits<double>::infinity();
        }
        l.alpha.assign(task_.start + label * task_.size, task_.start + (label + 1) * task_.size);
        l.s.assign(task_.size, 0.0);
        const double target = std::isinf(options_.accuracy) ? kForSigns : options_.accuracy;
        std::int64_t iterations = 0;
        l.tol = descend(l.y, l.upper, l.alpha, l.s, false, options_.method.tol, l.rounding, iterations, stop,
                        [&] {
                            make_rule(l);
                            if (!biased()) return l.rule->doubt(longest_) <= target;
                            if (l.rule->is_corner()) return true;
                            const Bounds b = SharedBounds(point(l), *l.rule, widest()).without(-1);
                            return b.high - b.low <= 2 * target;
                        });
        if (stop) return;
        // All left-out examples start from this s.
        if (refresh(l.y, l.alpha, l.s, l.rounding)) make_rule(l);
        const DualPoint of_label = point(l);
        const SharedBounds shared(of_label, *l.rule, widest());
        for (std::int64_t t = 0; t < task_.n; ++t) {
            if (asked(label, t) <= 0) continue;
            if (l.alpha[t] > 0 || !settle_unchanged(l, of_label, shared, t))
                l.open.push_back(static_cast<std::int32_t>(t));
        }
        if (!options_.certify) return;
        l.path_examples = path_examples({l.y, l.upper, l.alpha, l.s}, l.rule->b(), l.open.size());
        if (l.path_examples.bytes() > options_.path_bytes) l.path_examples = {};
    }

    void find_paths(LeftOutLabel& l, const StopFlag& stop) {
        l.paths = paths_of(*engine_, {l.y, l.upper, l.alpha, l.s}, l.rule->b(), std::move(l.path_examples),
                           options_.method.equality, stop);
    }

    // Settles up to kColumns examples for which their kernel rows are needed.
    void run(const LeftOutLabel& l, const std::int32_t* examples, std::size_t count, const StopFlag& stop) {
        std::vector<Departure> rest;
        for (std::size_t k = 0; k < count && !stop; ++k) {
            const std::int32_t t = examples[k];
            read_row(t);
            if (options_.certify && !(biased() && l.rule->is_corner() && l.alpha[t] <= 0)) {
                const Bounds b = l.rule->without(point(l), t, diagonal_.data(), row_.data());
                if (settle_if_enough(l.label, t, b)) continue;
            }
            rest.push_back({t});
            follow(l.paths, {l.y, l.upper, l.alpha, l.s}, row_, options_.method.equality, path_, rest.back());
        }
        if constexpr (Engine::has_columns) update_together(rest);
        for (std::size_t k = 0; k < rest.size() && !stop; ++k) retrain(l, rest[k], k, stop);
    }

  private:
    void read_row(std::int64_t t) {
        const auto* const values = engine_->row(t);
        row_.assign(values, values + task_.size);
    }

    // What the paths change of s, in columns_.
    void update_together(const std::vector<Departure>& leaving) {
        Indices changed;
        std::vector<double> steps;
        place_.assign(task_.size, -1);
        for (std::size_t c = 0; c < leaving.size(); ++c) {
            for (std::size_t k = 0; k < leaving[c].changed.size(); ++k) {
                const std::int32_t i = leaving[c].changed[k];
                if (place_[i] < 0) {
                    place_[i] = static_cast<std::int32_t>(changed.size());
                    changed.push_back(i);
                    steps.resize(changed.size() * kColumns, 0.0);
                }
                steps[std::size_t(place_[i]) * kColumns + c] = leaving[c].change[k];
            }
        }
        columns_.assign(task_.size * kColumns, 0.0);
        engine_->update_columns(changed, steps, columns_.data());
    }

    // From the end of its way, or from where the solution is without it.
    void retrain(const LeftOutLabel& l, Departure& leaving, std::size_t column, const StopFlag& stop) {
        const std::int64_t t = leaving.t;
        read_row(t);
        y_ = l.y;
        upper_ = l.upper;
        alpha_ = l.alpha;
        s_ = l.s;
        upper_[t] = 0;
        ScoreDrift drift{static_cast<double>(options_.method.row_values), weight_of(alpha_), l.rounding};
        if (!leaving.has_path && alpha_[t] > 0)
            step_out({y_, upper_, alpha_, s_}, diagonal_, row_,
                     options_.method.equality || options_.bias_feature, leaving);
        for (std::size_t k = 0; k < leaving.changed.size(); ++k)
            alpha_[leaving.changed[k]] = leaving.alpha[k];
        if (Engine::has_columns && leaving.has_path) {
            for (std::int64_t i = 0; i < task_.size; ++i) s_[i] += columns_[i * kColumns + column];
        } else if (!leaving.changed.empty()) {
            const Indices all = everybody();
            engine_->start(all);
            engine_->update(leaving.changed, leaving.change, all, s_.data());
        }
        if (!leaving.changed.empty()) note(drift, leaving.changed, leaving.change);
        double rounding = drift.error;
        // The signs often show early; scores take as long as those of the solution took.
        const double begin = !options_.certify               ? l.tol
                             : std::isinf(options_.accuracy) ? kFirstForSigns
                                                             : std::min(kEasier * l.tol, kFirstForSigns);
        double score = 0, accuracy = 0;
        bool unstable = false;
        std::int64_t iterations = 0;
        descend(y_, upper_, alpha_, s_, true, begin, rounding, iterations, stop, [&] {
            const DualPoint p = point(y_, upper_, alpha_, s_, rounding);
            const Rule rule(p, options_.hyperplane, options_.kappa);
            score = p.s[t] + rule.b();
            if (biased() && rule.is_corner()) {
                unstable = rule.threshold().highest - rule.threshold().lowest > kNarrow;
                accuracy = proven(rule.corner_error(p, t));
                return true;
            }
            if (!options_.certify) {
                accuracy = std::numeric_limits<double>::infinity();
                return true;
            }
            const Bounds b = rule.outside(p, t, diagonal_.data(), row_.data());
            score = std::min(std::max(score, b.low), b.high);
            accuracy = proven(rounded_up(std::max(b.high - score, score - b.low)));
            return is_enough(l.label, t, b, accuracy);
        });
        if (stop) return;
        keep(l.label, t, score, accuracy);
        count_up(task_.retrained + l.label, 1);
        count_up(task_.iterations + l.label, iterations);
        if (unstable) count_up(task_.unstable + l.label, 1);
    }

    bool biased() const { return options_.hyperplane == Hyperplane::biased; }

    // Infinite where nothing is proven.
    double proven(double accuracy) const {
        return options_.certify && std::isfinite(accuracy) ? accuracy
                                                           : std::numeric_limits<double>::infinity();
    }
    double widest() const { return rounded_up(4 * longest_ * longest_ * (1 + options_.ridge)); }

    // W of rounding.hpp.
    double weight_of(const std::vector<double>& alpha) const {
        double weight = 0;
        for (std::int64_t i = 0; i < task_.n; ++i) weight += alpha[i] * lengths_[i];
        return rounded_up(weight * (1 + rounding_of(static_cast<double>(task_.n))));
    }

    // `rounding`: what the arithmetic of s has added to the errors of kernel values.
    DualPoint point(const std::vector<double>& y, const std::vector<double>& upper,
                    const std::vector<double>& alpha, const std::vector<double>& s, double rounding) const {
        const double weight = weight_of(alpha);
        return {y.data(),       upper.data(),   alpha.data(),
                s.data(),       task_.n,        lengths_.data(),
                longest_,       weight,         rounded_up(rounding + options_.values * weight),
                options_.ridge, options_.values};
    }
    DualPoint point(const LeftOutLabel& l) const { return point(l.y, l.upper, l.alpha, l.s, l.rounding); }

    void make_rule(LeftOutLabel& l) const {
        l.rule = std::make_unique<Rule>(point(l), options_.hyperplane, options_.kappa);
    }

    // s from its alphas, free of what many updates leave behind; false where that would change little.
    bool refresh(const std::vector<double>& y, const std::vector<double>& alpha, std::vector<double>& s,
                 double& rounding) {
        ScoreDrift drift{static_cast<double>(options_.method.row_values), weight_of(alpha), 0.0};
        drift.from_scratch(task_.size - std::count(alpha.begin(), alpha.end(), 0.0));
        if (!options_.certify || drift.error >= kWorthRefreshing * rounding) return false;
        std::vector<double> signed_alpha(task_.size);
        for (std::int64_t i = 0; i < task_.size; ++i) signed_alpha[i] = alpha[i] * y[i];
        engine_->start(everybody());
        engine_->from_scratch(signed_alpha, s.data());
        rounding = drift.error;
        return true;
    }

    void note(ScoreDrift& drift, const Indices& changed, const std::vector<double>& change) const {
        double size = 0;
        for (std::size_t k = 0; k < changed.size(); ++k) size += std::abs(change[k]) * lengths_[changed[k]];
        drift.step(static_cast<std::int64_t>(changed.size()),
                   size * (1 + rounding_of(static_cast<double>(changed.size()))));
    }

    void keep(std::int64_t label, std::int64_t t, double score, double accuracy) const {
        task_.scores[label * task_.n + t] = score;
        task_.accuracy[label * task_.n + t] = accuracy;
    }

    double asked(std::int64_t label, std::int64_t t) const {
        return task_.asked ? task_.asked[label * task_.n + t] : options_.accuracy;
    }

    bool is_enough(std::int64_t label, std::int64_t t, const Bounds& b, double accuracy) const {
        return accuracy <= asked(label, t) && (b.low > 0 || b.high < 0 || accuracy < kSmallest);
    }

    bool settle_if_enough(std::int64_t label, std::int64_t t, const Bounds& b) const {
        const bool open = std::isinf(b.low) || std::isinf(b.high);
        const double half = b.half();
        if (!is_enough(label, t, b, half)) return false;
        keep(label, t, open ? (b.low > 0 ? b.low : b.high) : b.middle(), half);
        return true;
    }

    // An example with alpha_t = 0; false if more has to be known.
    bool settle_unchanged(const LeftOutLabel& l, const DualPoint& of_label, const SharedBounds& shared,
                          std::int64_t t) const {
        const double score = l.s[t] + l.rule->b();
        Bounds b{score, score};
        if (biased() && l.rule->is_corner()) {
            const Threshold& now = l.rule->threshold();
            const double own = l.y[t] - l.s[t];
            // Without an example at an end of it the interval is another.
            const double off = 2 * l.rule->threshold_error();
            if (l.upper[t] > 0 && (l.y[t] > 0 ? own >= now.lowest - off : own <= now.highest + off))
                return false;
            keep(l.label, t, score, proven(l.rule->corner_error(of_label, t)));
            if (now.highest - now.lowest > kNarrow) count_up(task_.unstable + l.label, 1);
            return true;
        }
        if (!options_.certify) {
            keep(l.label, t, score, std::numeric_limits<double>::infinity());
            return true;
        }
        if (biased()) {
            const Bounds threshold = shared.without(t);
            const double off = l.rule->error(of_label, t);
            b = {std::min(l.s[t] + threshold.low - off, score),
                 std::max(l.s[t] + threshold.high + off, score)};
        } else {
            const double doubt = l.rule->doubt_of(of_label, t);
            b = {score - doubt, score + doubt};
        }
        const double accuracy = rounded_up(std::max(b.high - score, score - b.low));
        if (!is_enough(l.label, t, b, accuracy)) return false;
        keep(l.label, t, score, accuracy);
        return true;
    }

    Indices everybody() const {
        Indices all(task_.size);
        for (std::int64_t i = 0; i < task_.size; ++i) all[i] = static_cast<std::int32_t>(i);
        return all;
    }

    // Solves to one tolerance after the other until `enough`; returns the last.
    template <class Enough>
    double descend(const std::vector<double>& y, const std::vector<double>& upper, std::vector<double>& alpha,
                   std::vector<double>& s, bool s_is_known, double tol, double& rounding,
                   std::int64_t& iterations, const StopFlag& stop, Enough&& enough) {
        double progress[3];
        while (!stop) {
            DecompositionOptions method = options_.method;
            method.tol = tol;
            method.max_iterations -= iterations;
            const DecompositionReport report =
                Decomposition(*engine_, method, y.data(), upper.data(), alpha.data(), s.data(), progress)
                    .solve(stop, s_is_known);
            iterations += report.iterations;
            rounding += report.rounding;
            s_is_known = true;
            double sum = 0;
            for (const double a : alpha) sum += a;
            if (enough() || (refresh(y, alpha, s, rounding) && enough()) || !report.converged) break;
            // Below the errors of s a smaller tolerance proves nothing more.
            const double off = (rounding + options_.values * weight_of(alpha)) * longest_;
            if (tol <= std::max(kRounding * (1 + sum * largest_), off)) break;
            tol = kTighter * std::min(tol, std::max(report.violation, kTighter * tol));
        }
        return tol;
    }

    static constexpr double kForSigns = 0.1, kFirstForSigns = 0.25, kEasier = 4, kTighter = 0.25;
    static constexpr double kRounding = 1e-14;  // of a sum of kernel values
    static constexpr double kSmallest = 1e-7;   // nobody can tell such scores from 0
    static constexpr double kNarrow = 1e-9;     // an interval of thresholds that is none
    static constexpr double kWorthRefreshing = 0.5;

    std::unique_ptr<Engine> engine_;
    const LeftOutTask& task_;
    const LeftOutOptions& options_;
    std::vector<double> diagonal_, lengths_, row_, y_, upper_, alpha_, s_;
    double longest_ = 0, largest_ = 0;  // r_i and K_ii
    SolutionPath path_;
    std::vector<double> columns_;
    Indices place_;
};

}  // namespace widemargin
