// What the solution on all examples says of each example left out: left_out/leave_one_out.hpp, (1) and (2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "left_out/conjugate_gradients.hpp"
#include "left_out/solution_path.hpp"
#include "linear/bias_shift.hpp"
#include "linear/label_costs.hpp"
#include "rounding.hpp"
#include "sparse/csr.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

struct LeaveOneOutOptions {
    double bias;              // size B of the bias feature, 0 for none
    bool squared_loss;        // squared hinge instead of hinge
    double accuracy;          // of every score, unless `asked` says more; infinity: only signs
    bool retrain;             // false: only what the solution on all examples says
    std::int64_t max_rounds;  // Newton steps for one left-out example
    std::uint64_t seed;
};

// All arrays belong to the caller; n examples, L labels.
struct LeaveOneOutResults {
    double* scores;           // L x n
    double* accuracy;         // L x n
    std::int64_t* retrained;  // L
    std::int64_t* progress;   // one element, read by another thread: examples done, of L x n
    // L x n, or null: to which accuracy to find each score; infinity: only its sign, 0: it stays as it is
    const double* asked;
};

struct LeaveOneOutTask : LinearProblem, LeaveOneOutResults {};

// The solution of one label, and which of its examples have to be retrained without.
struct LabelSolution {
    std::int64_t label = 0;
    double gap = 0;              // no less than the exact one
    double length = 0;           // no less than |w|: scores are off by a rounding of it (rounding.hpp, R1)
    double apart = 0;            // how far the rule can be from the combination of its alphas (R2)
    Indices free;                // whose alphas are between their bounds, or belong there
    std::vector<double> shift;   // steps of their y alpha that would lower all their scores by one
    double shift_of_bias = 0;    // what these steps add to the score through the bias feature
    std::vector<double> excess;  // e_i
    std::vector<float> single_excess;
    Indices nearest;               // examples by |e_i|, those with an alpha between its bounds first
    std::vector<double> distance;  // of nearest[k]: 0 or |e_i|
    Indices left_out;              // those to retrain without, by how far the solution may move
    Tableau tableau;               // left_out/linear_paths.hpp; may be empty
    Indices in_tableau;
    std::vector<std::int32_t> place_in_tableau;  // of every example, or -1
};

// What a label's examples are and cost, and the solution that is given.
template <typename T>
class LeaveOneOut {
  public:
    LeaveOneOut(const SharedRows<T>& shared, const LeaveOneOutTask& task, const LeaveOneOutOptions& options)
        : shared(shared), task(task), options(options), n(shared.x.n_rows), d(shared.x.n_columns) {
        lengths.resize(n);
        roundings.resize(n);
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t size = shared.x.row(i).size;
            lengths[i] = length_of(K(i), size + 1);
            roundings[i] = rounded_up(rounding_of(static_cast<double>(size) + 16) * lengths[i]);
            longest_row = std::max(longest_row, length_of(shared.x.row(i).squared_norm(), size));
            largest_rounding = std::max(largest_rounding, roundings[i]);
            most_values = std::max(most_values, static_cast<std::size_t>(size) + 16);
        }
    }

    LabelCosts costs(std::int64_t label) const { return {task, label, n, options.squared_loss}; }
    double sign(std::int64_t label, std::int64_t i) const { return costs(label).sign(i); }
    double cost(std::int64_t label, std::int64_t i) const { return costs(label).cost(i); }
    double upper(std::int64_t label, std::int64_t i) const { return costs(label).upper(i); }
    double diagonal(std::int64_t label, std::int64_t i) const { return costs(label).diagonal(i); }
    double alpha(std::int64_t label, std::int64_t i) const { return task.start[label * n + i]; }
    double K(std::int64_t i) const { return shared.squared_norms[i] + options.bias * options.bias; }

    double slack(double e, double alpha, double cost) const {
        return slack_of(e, alpha, cost, options.squared_loss);
    }
    // The largest that it can be when e may be off by `error`.
    double slack_within(double e, double error, double alpha, double cost) const {
        if (options.squared_loss) error += 2 * kUnit * alpha / cost;
        return rounded_up(std::max(slack(e - error, alpha, cost), slack(e + error, alpha, cost)));
    }

    // How far a computed combination of `count` rows can be from the exact one, if their lengths, times their
    // weights, add up to `weight`.
    static double apart(std::size_t count, double weight) {
        return rounded_up(rounding_of(static_cast<double>(count) + 4) * weight);
    }
    // How far e_i can be off, by a rule of this length.
    double error_of(std::int64_t i, double length) const {
        return rounded_up(roundings[i] * length) + 8 * kUnit;
    }
    // An example at a bound whose |e_i| is more than this has no slack, whatever shift of the bias weight is
    // chosen: `length` and v are of the change of the rule.
    double furthest(const LabelSolution& s, double length, double v) const {
        const double error = rounded_up(largest_rounding * (s.length + length + std::abs(v))) + 8 * kUnit;
        return rounded_up(length * longest_row + options.bias * std::abs(v)) + SlacksOfShift::kFurthest +
               2 * error;
    }

    // To which accuracy the score of t has to be known; 0 if nobody asks for it.
    double asked(std::int64_t label, std::int64_t t) const {
        return task.asked ? task.asked[label * n + t] : options.accuracy;
    }
    bool enough(std::int64_t label, std::int64_t t, double score, double accuracy) const {
        return accuracy <= asked(label, t) && (accuracy < std::abs(score) || accuracy < kSmallest);
    }

    // q = (X X' + bias^2 1 1' + diagonal) p over some rows; returns p.q. w: memory for as many numbers as
    // there are features.
    double times_gram(std::int64_t label, const Indices& rows, double bias, const std::vector<double>& p,
                      std::vector<double>& q, std::vector<double>& w) const {
        std::fill(w.begin(), w.end(), 0.0);
        double sum = 0, pq = 0;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            if (p[k] != 0) shared.x.row(rows[k]).axpy(p[k], w.data());
            sum += p[k];
        }
        for (std::size_t k = 0; k < rows.size(); ++k) {
            q[k] = shared.x.row(rows[k]).dot(w.data()) + bias * bias * sum + diagonal(label, rows[k]) * p[k];
            pq += p[k] * q[k];
        }
        return pq;
    }

    // Adds example i, whose e = y_i f(x_i) - 1 comes from a rule no longer than `rule`, to a sum of slacks.
    void add_slack(SlacksOfShift& slacks, double e, std::int64_t i, double y, double alpha, double cost,
                   double rule) const {
        const double error = error_of(i, rule);
        slacks.add(slack(e, alpha, cost), slack_within(e, error, alpha, cost), e, error, y, alpha, cost);
    }

    // Scores of all examples by the given solution, its gap, and what (1) and (2) decide.
    LabelSolution examine(std::int64_t label) const {
        LabelSolution s;
        s.label = label;
        std::vector<double> w(d + 1, 0.0);
        std::size_t n_supports = 0;
        double weight = 0;
        bool feasible = true;
        for (std::int64_t i = 0; i < n; ++i) {
            feasible = feasible && alpha(label, i) >= 0 && alpha(label, i) <= upper(label, i);
            if (alpha(label, i) == 0) continue;
            ++n_supports;
            weight += alpha(label, i) * lengths[i];
            const double step = alpha(label, i) * sign(label, i);
            shared.x.row(i).axpy(step, w.data());
            w[d] += step * options.bias;
        }
        const double squared = std::inner_product(w.begin(), w.end(), w.begin(), 0.0);
        s.length = length_of(squared, d + 1);
        s.apart = apart(n_supports, weight);
        s.excess.resize(n);
        s.single_excess.resize(n);
        std::vector<double> distance(n, 0.0);
        for (std::int64_t i = 0; i < n; ++i) {
            const double score = shared.x.row(i).dot(w.data()) + options.bias * w[d];
            const double e = s.excess[i] = sign(label, i) * score - 1;
            s.single_excess[i] = static_cast<float>(e);
            const double u = upper(label, i), a = alpha(label, i);
            if (u <= 0) {
                distance[i] = std::numeric_limits<double>::infinity();
                continue;
            }
            s.gap += slack_within(e, error_of(i, s.length), a, cost(label, i));
            if ((a <= 0 && e > 0) || (a >= u && e < 0)) {
                distance[i] = std::abs(e);
            } else {
                s.free.push_back(static_cast<std::int32_t>(i));
            }
        }
        s.gap = rounded_up(s.gap * (1 + rounding_of(static_cast<double>(n))) + 0.5 * s.apart * s.apart);
        if (!feasible) s.gap = infinity();
        s.shift = response(label, s.free);
        s.shift_of_bias = options.bias * options.bias * std::accumulate(s.shift.begin(), s.shift.end(), 0.0);
        s.nearest.resize(n);
        std::iota(s.nearest.begin(), s.nearest.end(), 0);
        std::stable_sort(s.nearest.begin(), s.nearest.end(),
                         [&](std::int32_t a, std::int32_t b) { return distance[a] < distance[b]; });
        s.distance.resize(n);
        for (std::int64_t k = 0; k < n; ++k) s.distance[k] = distance[s.nearest[k]];
        for (std::int64_t t = 0; t < n; ++t) {
            if (asked(label, t) <= 0) continue;
            const ScoreInterval margin = margins_without(s, t);
            const double half = margin.half(), middle = std::isinf(half) ? 1 + s.excess[t] : margin.middle();
            task.scores[label * n + t] = sign(label, t) * middle;
            task.accuracy[label * n + t] = half;
            if (options.retrain && !enough(label, t, middle, half))
                s.left_out.push_back(static_cast<std::int32_t>(t));
        }
        std::stable_sort(s.left_out.begin(), s.left_out.end(),
                         [&](std::int32_t a, std::int32_t b) { return reach(label, a) < reach(label, b); });
        task.retrained[label] = static_cast<std::int64_t>(s.left_out.size());
        return s;
    }

    // How far w can move when t leaves.
    double reach(std::int64_t label, std::int64_t t) const { return alpha(label, t) * std::sqrt(K(t)); }

    const SharedRows<T>& shared;
    const LeaveOneOutTask& task;
    const LeaveOneOutOptions& options;
    const std::int64_t n, d;
    std::vector<double> lengths;    // no less than |(x_i, B)|
    std::vector<double> roundings;  // of x_i: of scores, times the length of the rule
    double longest_row = 0, largest_rounding = 0;
    std::size_t most_values = 0;  // in a row, and what else a score takes

  private:
    // Nobody can tell such scores from 0.
    static constexpr double kSmallest = 1e-7;
    static constexpr int kConjugateSteps = 8;

    static constexpr double infinity() { return std::numeric_limits<double>::infinity(); }

    // The interval of m_t from (1) and (2), both with what rounding can have changed.
    ScoreInterval margins_without(const LabelSolution& s, std::int64_t t) const {
        const double m = 1 + s.excess[t], a_t = alpha(s.label, t), u = upper(s.label, t);
        const double k = rounded_up(lengths[t] * lengths[t]);
        const double error = error_of(t, s.length) + rounded_up(s.apart * lengths[t]);
        const double high = m + (rounded_up(std::sqrt(s.gap * k)) + error);
        // A document that is empty has the same score with and without it.
        if (a_t <= 0 || u <= 0 || K(t) <= 0) return {m - (high - m), high};
        const double d = diagonal(s.label, t), q = rounded_up(k + d);
        const double size = a_t * (std::abs(1 - m) + error) + a_t * a_t * q + s.gap;
        const double c =
            std::max(a_t * (1 - m + error) + 0.5 * a_t * a_t * (k - d) + s.gap + 16 * kUnit * size,
                     std::numeric_limits<double>::min());
        const double a = std::min(std::sqrt(2 * c / q), u);
        const double low = 1 - 0.5 * a * q - c / a;
        return {std::min(low - 8 * kUnit * (1 + a * q + c / a), high), high};
    }

    // (X X' + diagonal)^-1 1 over the free examples, by a few steps of conjugate gradients.
    std::vector<double> response(std::int64_t label, const Indices& free) const {
        const std::size_t m = free.size();
        if (m == 0 || options.bias == 0) return std::vector<double>(m, 0.0);
        std::vector<double> w(d);
        return conjugate_gradients(std::vector<double>(m, 1.0), 1e-6, kConjugateSteps, 0.0,
                                   [&](const std::vector<double>& p, std::vector<double>& q) {
                                       return times_gram(label, free, 0.0, p, q, w);
                                   });
    }
};

}  // namespace widemargin
