// One example left out, in double precision: for what 16 at a time (left_out/retraining.hpp) do not settle.
//
// Newton steps over the free alphas, and a few passes of coordinate descent after each, which decide who is
// free, until the certificate of left_out/leave_one_out.hpp is enough.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "left_out/linear_bounds.hpp"
#include "linear/bias_shift.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "rounding.hpp"

namespace widemargin {

// The rows whose alphas may move, in the order in which they came.
class WorkingRows {
  public:
    explicit WorkingRows(std::int64_t n) : held_(n, 0) {}

    const Indices& rows() const { return rows_; }
    bool holds(std::int64_t i) const { return held_[i] != 0; }
    // Whether it is new among them.
    bool admit(std::int32_t i) {
        if (held_[i]) return false;
        held_[i] = 1;
        rows_.push_back(i);
        return true;
    }
    void clear() {
        for (const std::int32_t i : rows_) held_[i] = 0;
        rows_.clear();
    }

  private:
    Indices rows_;
    std::vector<char> held_;
};

// What is known of the score of a left-out example.
struct Certificate {
    bool done = false;
    bool exhausted = false;  // a better solution would not make it more certain: what is left is rounding
    double score = 0, accuracy = 0;

    // From the change of the score at v', the slacks there, the length of the rule (R1), and how far it can
    // be from the combination of its alphas (R2).
    template <typename T>
    void update(const LeaveOneOut<T>& problem, const LabelSolution& s, std::int32_t t, double change,
                double rule, double apart, SlacksOfShift& slacks) {
        double sum;
        const double shift = slacks.best(sum), length = problem.lengths[t];
        const double error = problem.error_of(t, rule);
        const auto within = [&](double slack, double distance) {
            const double gap = slack + 0.25 * (distance + apart) * (distance + apart);
            return rounded_up((std::sqrt(gap) + 0.5 * apart) * length) + error;
        };
        score = problem.sign(s.label, t) * (1 + s.excess[t]) + change + 0.5 * problem.options.bias * shift;
        accuracy = within(sum, std::abs(shift));
        if (!std::isfinite(accuracy)) accuracy = std::numeric_limits<double>::infinity();
        done = problem.enough(s.label, t, score, accuracy);
        exhausted = !(accuracy > kExhausted * within(slacks.rounding(), 0.0));
    }

  private:
    static constexpr double kExhausted = 1.1;
};

template <typename T>
class NewtonRetraining {
  public:
    // `alphas`: of the working rows, to begin with.
    NewtonRetraining(const LeaveOneOut<T>& problem, const LabelSolution& solution, std::int32_t t,
                     WorkingRows& working, std::vector<double> alphas)
        : p_(problem),
          s_(solution),
          t_(t),
          bias_(problem.options.bias),
          working_(working),
          rows_(working.rows()),
          alpha_now_(std::move(alphas)),
          w_(problem.d, 0.0) {}

    // Until the certificate is enough; it keeps what is known by then.
    void run(Certificate& found, const StopFlag& stop) {
        const auto add = [&](std::int64_t i, double step) {
            p_.shared.x.row(i).axpy(step, w_.data());
            v_ += step * bias_;
        };
        Random random(p_.options.seed);
        for (std::int64_t round = 0; !stop; ++round) {
            // The change from the alphas, free of what many updates leave behind.
            std::fill(w_.begin(), w_.end(), 0.0);
            v_ = 0;
            for (std::size_t k = 0; k < rows_.size(); ++k) {
                const double step = (alpha_now_[k] - alpha(rows_[k])) * sign(rows_[k]);
                if (step != 0) add(rows_[k], step);
            }
            if (round > 0 && (certify(found) || found.exhausted)) return;
            if (round >= p_.options.max_rounds) return;
            newton_step();
            Indices order(rows_.size());
            std::iota(order.begin(), order.end(), 0);
            // More where Newton steps do not help: more free alphas than dimensions.
            const std::int64_t passes = kPassesAlone << std::min<std::int64_t>(round / 10, 8);
            for (std::int64_t pass = 0; pass < passes && !stop; ++pass) {
                random.shuffle(order);
                for (const std::int32_t place : order) {
                    const std::int32_t i = rows_[place];
                    const double u = upper(i), y = sign(i), dd = p_.diagonal(s_.label, i), q = p_.K(i) + dd;
                    if (i == t_ || u <= 0) continue;
                    double& a = alpha_now_[place];
                    const double g = s_.excess[i] + y * change(i) + dd * a;
                    const double moved = q > 0 ? std::min(std::max(a - g / q, 0.0), u) : u;
                    if (moved != a) add(i, (moved - a) * y);
                    a = moved;
                }
            }
        }
    }

  private:
    static constexpr int kConjugateSteps = 60;
    static constexpr std::int64_t kPassesAlone = 3;
    static constexpr double kNewtonAccuracy = 0.1, kFlat = 1e-10;

    double alpha(std::int64_t i) const { return p_.alpha(s_.label, i); }
    double sign(std::int64_t i) const { return p_.sign(s_.label, i); }
    double cost(std::int64_t i) const { return p_.cost(s_.label, i); }
    double upper(std::int64_t i) const { return p_.upper(s_.label, i); }
    double change(std::int64_t i) const { return p_.shared.x.row(i).dot(w_.data()) + bias_ * v_; }

    // Takes the free alphas to where all their margins would be 1, by conjugate gradients, or as far on the
    // way as the bounds and the dual objective allow.
    void newton_step() {
        Indices free;  // examples
        std::vector<std::size_t> places;
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            if (rows_[k] == t_ || !(alpha_now_[k] > 0 && alpha_now_[k] < upper(rows_[k]))) continue;
            free.push_back(rows_[k]);
            places.push_back(k);
        }
        const std::size_t m = free.size();
        std::vector<double> g(m), r(m), p(m), q(m), weights(p_.d);
        for (std::size_t k = 0; k < m; ++k) {
            const std::int32_t i = free[k];
            const double e = s_.excess[i] + sign(i) * change(i);
            g[k] = e + p_.diagonal(s_.label, i) * alpha_now_[places[k]];
            r[k] = -sign(i) * g[k];
        }
        const auto times = [&](const std::vector<double>& of, std::vector<double>& product) {
            return p_.times_gram(s_.label, free, bias_, of, product, weights);
        };
        const std::vector<double> x = conjugate_gradients(std::move(r), kNewtonAccuracy * kNewtonAccuracy,
                                                          kConjugateSteps, kFlat, times);
        // All that would leave their bounds stop there; if that is too much at once, only the first.
        double first = 1;
        for (std::size_t k = 0; k < m; ++k) {
            const std::int32_t i = free[k];
            const double a = alpha_now_[places[k]], step = x[k] * sign(i);
            if (step > 0) first = std::min(first, (upper(i) - a) / step);
            if (step < 0) first = std::min(first, -a / step);
        }
        for (const double length : {1.0, 0.25, first}) {
            double fall = 0;  // of the dual objective, without its quadratic part
            for (std::size_t k = 0; k < m; ++k) {
                const std::int32_t i = free[k];
                const double a = alpha_now_[places[k]];
                const double moved = std::min(std::max(a + length * x[k] * sign(i), 0.0), upper(i));
                p[k] = (moved - a) * sign(i);
                fall += (moved - a) * g[k];
            }
            if (fall + 0.5 * times(p, q) > 0) continue;
            for (std::size_t k = 0; k < m; ++k) {
                const std::int32_t i = free[k];
                double& a = alpha_now_[places[k]];
                a = std::min(std::max(a + length * x[k] * sign(i), 0.0), upper(i));
                p_.shared.x.row(i).axpy(p[k], w_.data());
                v_ += bias_ * p[k];
            }
            return;
        }
    }

    // The exact gap; rows that turn out to have a slack become working rows.
    bool certify(Certificate& found) {
        double squared = 0, weight = 0;
        for (const double value : w_) squared += value * value;
        for (std::size_t k = 0; k < rows_.size(); ++k)
            weight += std::abs(alpha_now_[k] - alpha(rows_[k])) * p_.lengths[rows_[k]];
        const double length = length_of(squared + v_ * v_, p_.d + 1);
        rule_ = s_.length + length;
        slacks_.clear(bias_, p_.options.squared_loss);
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            const std::int32_t i = rows_[k];
            if (i != t_ && upper(i) > 0) look_at(s_.excess[i] + sign(i) * change(i), i, alpha_now_[k]);
        }
        const double furthest = p_.furthest(s_, length, v_);
        Indices wanted;
        for (std::size_t k = 0; k < s_.nearest.size() && s_.distance[k] <= furthest; ++k) {
            const std::int32_t i = s_.nearest[k];
            if (working_.holds(i) || !(upper(i) > 0)) continue;
            const double e = s_.excess[i] + sign(i) * change(i);
            look_at(e, i, alpha(i));
            if (p_.slack(e, alpha(i), cost(i)) > 0) wanted.push_back(i);
        }
        found.update(p_, s_, t_, change(t_), rule_, s_.apart + p_.apart(rows_.size(), weight), slacks_);
        for (const std::int32_t i : wanted) {
            working_.admit(i);
            alpha_now_.push_back(alpha(i));
        }
        return found.done;
    }

    void look_at(double e, std::int64_t i, double a) {
        p_.add_slack(slacks_, e, i, sign(i), a, cost(i), rule_);
    }

    const LeaveOneOut<T>& p_;
    const LabelSolution& s_;
    const std::int32_t t_;
    const double bias_;
    WorkingRows& working_;
    const Indices& rows_;
    std::vector<double> alpha_now_;
    std::vector<double> w_;  // the change of the rule
    double v_ = 0;           // and of its bias weight
    double rule_ = 0;        // no less than the length of the rule with this change
    SlacksOfShift slacks_;
};

}  // namespace widemargin
