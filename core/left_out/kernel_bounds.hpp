// How far the score of an example can be from the score by the exact solution, from an inexact one.
//
// alpha is feasible for the dual, w its combination, s_i = w.x_i, K_tt = |x_t|^2 with the bias feature in it;
// f = s + b. With e_i = y_i f(x_i) - 1 the duality gap at (w, b) is
//   g = P(w, b) - D(alpha) = sum_i  alpha_i e_i where e_i > 0,  (alpha_i - U_i) e_i elsewhere.
// An infinite U_i allows no negative e_i: (w, b) is then made longer until there is none, and g is the
// difference of the two objectives.
//
// No threshold (b = 0). P is strongly convex in w and -D in the w of its alphas, so |w - w*|^2 <= g, and
//   |f(x_t) - f*(x_t)| <= sqrt(g K_tt)                                                                  (1)
// (2 g where w had to be made longer.) Moving a of weight to t in the exact solution without t cannot beat
// the best dual value with t; with m = y_t f(x_t), m_t the margin by the exact solution without t:
//   m_t >= 1 - a K_tt / 2 - c / a,  c = alpha_t (1 - m) + alpha_t^2 K_tt / 2 + g,  for any 0 <= a <= U_t (2)
// while m_t <= y_t f*(x_t) (thesis, Lemma 8).
//
// Stabilized. The best alphas of the two artificial examples beside the others depend on S = sum_i y_i
// alpha_i only, and are a concave term of D whose slope is -b and whose curvature is at most kappa^2; in P,
// this is a strongly convex penalty on b. So (1) and (2) hold with K_tt + kappa^2 and that b.
//
// Unregularized. Suppose that a best rule has f*(x_t) <= v. Then the constraint f(x_t) <= v costs nothing,
// and no value of the dual with that constraint exceeds P(w, b). Its multiplier mu >= 0 enters w as
// -mu x_t and the equality constraint as -mu, which any one example j may balance whose y_j alpha_j can rise
// by mu. The dual then changes by
//   mu (s_t + y_j - s_j - v) - mu^2 / 2 d_j^2,   d_j = |x_t - x_j|,   0 <= mu <= room_j.
// If that is more than g for some j and mu, no best rule has f*(x_t) <= v. Solved for v, and likewise for
// f*(x_t) >= v with an example that can fall:
//   max over rising j of s_t + y_j - s_j - r_j  <=  f*(x_t)  <=  min over falling j of s_t + y_j - s_j + r_j
//   r_j = d_j sqrt(2 g) if sqrt(2 g) <= room_j d_j,  otherwise g / room_j + room_j d_j^2 / 2            (3)
// This holds for every threshold that is optimal, so where there is an interval of them, it holds that
// interval. The same with the solution on all examples, whose alpha_t > 0 has to go to j as well:
//   m_t >= q_j - alpha_t d_j^2 - r_j,   q_j = y_t (s_t + y_j - s_j),
//   r_j as in (3) with c_j = g - U_t xi_t + alpha_t (1 - q_j) + alpha_t^2 d_j^2 / 2 for g and room_j -
//   alpha_t (4)
//
// Rounding (rounding.hpp). s_i is known up to error_i, and every bound is taken at the worse end. A slack is
// convex in e_i, so that its largest value is at an end. Where sum_i y_i alpha_i should be 0 it is off by no
// more than `imbalance`: a point that is exactly feasible has one alpha moved by that much, any alpha with
// the room for it, which moves s_i by at most imbalance r_j r_i, the gap by imbalance |e_j|, and takes as
// much of a room. A precomputed matrix K is known to be positive semi-definite when ridge K_ii is added to
// its diagonal; the bounds are those of that matrix, whose s_i differ by ridge K_ii alpha_i.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernel/room.hpp"
#include "kernel/threshold.hpp"
#include "rounding.hpp"

namespace widemargin {

enum class Hyperplane : int { unbiased, stabilized, biased };

// n examples; what belongs to artificial ones stays outside.
struct DualPoint {
    const double *y, *upper, *alpha, *s;
    std::int64_t n;
    // Rounding: r_i, the largest of them, W, and the errors of s_i (times r_i), of the diagonal and of kernel
    // values.
    const double* lengths = nullptr;
    double longest = 0, weight = 0, rounding = 0, ridge = 0, values = 0;

    double error(std::int64_t i) const {
        return rounded_up((rounding + ridge * lengths[i] * alpha[i]) * lengths[i]) +
               8 * kUnit * (1 + std::abs(s[i]));
    }
    // No less than the squared distance of two examples, from their kernel values.
    double squared_distance(std::int64_t i, std::int64_t j, double ii, double jj, double ij) const {
        const double both = lengths[i] + lengths[j];
        return std::max(ii + jj - 2 * ij, 0.0) + rounded_up((values + ridge + 8 * kUnit) * both * both);
    }
};

using Bounds = ScoreInterval;

// r_j of (3).
inline double bound_reach(double gap, double squared_distance, double room) {
    if (!(room > 0)) return std::numeric_limits<double>::infinity();
    if (2 * gap <= room * room * squared_distance) return rounded_up(std::sqrt(2 * gap * squared_distance));
    return rounded_up(gap / room + 0.5 * room * squared_distance);
}

// By how much y_j alpha_j can still rise (way = 1) or fall (way = -1).
inline double room_of(const DualPoint& p, std::int64_t j, double way) {
    return room_of(p.y[j], p.alpha[j], p.upper[j], way);
}

// Threshold and duality gap of a dual point.
class Rule {
  public:
    Rule(const DualPoint& p, Hyperplane hyperplane, double kappa) : hyperplane_(hyperplane) {
        if (hyperplane == Hyperplane::biased) {
            threshold_ = threshold_of(p.y, p.upper, p.alpha, p.s, p.n);
            b_ = threshold_.value;
        } else if (hyperplane == Hyperplane::stabilized) {
            kappa2_ = kappa * kappa;
            double sum = 0;
            for (std::int64_t i = 0; i < p.n; ++i) sum += p.y[i] * p.alpha[i];
            const double total = std::max(2 / kappa2_, std::abs(sum));
            plus_ = 0.5 * (total - sum);
            minus_ = 0.5 * (total + sum);
            b_ = plus_ > 0 ? 1 - kappa2_ * plus_ : kappa2_ * minus_ - 1;
        }
        if (hyperplane == Hyperplane::biased) {
            balance(p);
        } else if (hyperplane == Hyperplane::stabilized) {
            double sum = 0;
            for (std::int64_t i = 0; i < p.n; ++i) sum += p.alpha[i];
            const double lost = rounding_of(static_cast<double>(p.n) + 8);
            b_error_ = rounded_up(lost * kappa2_ * sum) + 8 * kUnit * (2 + std::abs(b_));
        }
        double least = std::numeric_limits<double>::infinity();  // margin of an example without slack
        double furthest = 0;                                     // |e_i|
        for (std::int64_t i = 0; i < p.n; ++i) {
            if (p.upper[i] <= 0) continue;
            const double e = excess(p, i), off = error(p, i), alpha = p.alpha[i], upper = p.upper[i];
            largest_error_ = std::max(largest_error_, off);
            furthest = std::max(furthest, std::abs(e) + off);
            if (std::isinf(upper)) {
                least = std::min(least, 1 + e - off);
                gap_ += alpha * std::max(e + off, 0.0);
            } else {
                const double low = e - off, high = e + off;
                gap_ += std::max(high > 0 ? alpha * high : (alpha - upper) * high,
                                 low > 0 ? alpha * low : (alpha - upper) * low);
            }
        }
        if (least < 1) {
            longer_ = (1 + 4 * kUnit) / least;
            gap_ = least > 0 ? objectives_apart(p) : std::numeric_limits<double>::infinity();
        }
        gap_ = rounded_up(std::max(gap_, 0.0) * (1 + rounding_of(static_cast<double>(p.n)))) +
               rounded_up(imbalance_ * (furthest * longer_ + (longer_ * longer_ - 1) * p.weight * p.longest));
        if (kappa2_ > 0) gap_ += rounded_up(2 * b_error_ * b_error_ / kappa2_);
        if (!(gap_ >= 0)) gap_ = std::numeric_limits<double>::infinity();  // not a number
        // Alphas that count as being at their bounds (kernel/threshold.hpp) may be as far from them.
        largest_error_ += rounded_up(kAtBound * p.weight * p.longest);
    }

    double b() const { return b_; }
    double gap() const { return gap_; }
    const Threshold& threshold() const { return threshold_; }

    // (1), for an example of this length: how far the exact score can be from s_t + b, with exact s_t.
    double doubt(double length) const {
        return rounded_up(std::sqrt((longer_ > 1 ? 2 : 1) * gap_ * (length * length + kappa2_)) + b_error_);
    }
    // The same with the error of s_t.
    double doubt_of(const DualPoint& p, std::int64_t t) const { return doubt(p.lengths[t]) + error(p, t); }

    // Whether no support vector is unbounded and all conditions are sure to hold: then alpha is optimal as it
    // is.
    bool is_corner() const {
        return !threshold_.stable && threshold_.lowest + 2 * largest_error_ <= threshold_.highest;
    }
    // How far the ends of its interval of thresholds can be off, and scores with the middle of it.
    double threshold_error() const { return largest_error_; }
    double corner_error(const DualPoint& p, std::int64_t t) const { return error(p, t) + 2 * largest_error_; }

    // Of the score of t by the exact solution without t, from this one with t. `row`: K(x_t, x_j).
    Bounds without(const DualPoint& p, std::int64_t t, const double* diagonal, const double* row) const {
        const double y = p.y[t], alpha = p.alpha[t], m = y * (p.s[t] + b_), off = error(p, t);
        Bounds margin{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        if (hyperplane_ != Hyperplane::biased) {
            const double q = rounded_up(p.lengths[t] * p.lengths[t] * (1 + p.ridge) + kappa2_);
            const double doubt_of_t = doubt_of(p, t);
            margin = {m - doubt_of_t, m + doubt_of_t};
            if (alpha > 0 && q > 0) {
                const double size = alpha * (std::abs(1 - m) + off + b_error_) + alpha * alpha * q + gap_;
                const double c =
                    alpha * (1 - m + off + b_error_) + 0.5 * alpha * alpha * q + gap_ + 16 * kUnit * size;
                const double a = std::min(std::sqrt(2 * std::max(c, 0.0) / q), p.upper[t]);
                const double low = a > 0 ? 1 - 0.5 * a * q - c / a : 1.0;
                margin.low = std::min(low - 8 * kUnit * (1 + a * q + (a > 0 ? c / a : 0.0)), margin.high);
            }
        } else {
            const double xi =
                std::isinf(p.upper[t]) ? 0.0 : std::max(0.0, 1 - longer_ * (m + off) - 8 * kUnit);
            const double without_loss = gap_ - (xi > 0 ? p.upper[t] * xi : 0.0);
            const double size = gap_ + (xi > 0 ? p.upper[t] * xi : 0.0);
            for (std::int64_t j = 0; j < p.n; ++j) {
                if (j == t) continue;
                const double q = y * (p.s[t] + p.y[j] - p.s[j]), either = off + error(p, j);
                const double d2 = p.squared_distance(t, j, diagonal[t], diagonal[j], row[j]);
                const double rising = room(p, j, y) - alpha, falling = room(p, j, -y);
                if (rising > 0) {
                    const double lost = 16 * kUnit * (size + alpha * (std::abs(1 - q) + alpha * d2));
                    const double c = std::max(
                        without_loss + alpha * (1 - q + either) + 0.5 * alpha * alpha * d2 + lost, 0.0);
                    const double moved = rounded_up(alpha * d2) + bound_reach(c, d2, rising);
                    margin.low = std::max(margin.low, q - either - rounded_up(moved));
                }
                if (falling > 0)
                    margin.high = std::min(margin.high, q + either + bound_reach(gap_, d2, falling));
            }
        }
        return y > 0 ? margin : Bounds{-margin.high, -margin.low};
    }

    // Of the score of an example that takes no part.
    Bounds outside(const DualPoint& p, std::int64_t t, const double* diagonal, const double* row) const {
        if (hyperplane_ != Hyperplane::biased) {
            const double score = p.s[t] + b_, doubt_of_t = doubt_of(p, t);
            return {score - doubt_of_t, score + doubt_of_t};
        }
        Bounds score{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        for (std::int64_t j = 0; j < p.n; ++j) {
            const double value = p.s[t] + p.y[j] - p.s[j], either = error(p, t) + error(p, j);
            const double d2 = p.squared_distance(t, j, diagonal[t], diagonal[j], row[j]);
            score.low = std::max(score.low, value - either - bound_reach(gap_, d2, room(p, j, 1)));
            score.high = std::min(score.high, value + either + bound_reach(gap_, d2, room(p, j, -1)));
        }
        return score;
    }

    // How far s_i of the feasible point can be from the one that is kept, and the room of its alphas.
    double error(const DualPoint& p, std::int64_t i) const {
        return p.error(i) + rounded_up(imbalance_ * p.longest * p.lengths[i]);
    }
    double room(const DualPoint& p, std::int64_t j, double way) const {
        return room_of(p, j, way) * (1 - 4 * kUnit) - imbalance_;
    }

  private:
    double excess(const DualPoint& p, std::int64_t i) const { return p.y[i] * (p.s[i] + b_) - 1; }

    // By how much sum_i y_i alpha_i can differ from 0; infinite if nobody can make up for it.
    void balance(const DualPoint& p) {
        double sum = 0, lost = 0, size = 0;  // the sum is sum + lost, but for roundings of roundings
        for (std::int64_t i = 0; i < p.n; ++i) {
            const double term = p.y[i] * p.alpha[i], next = sum + term, back = next - sum;
            lost += (sum - (next - back)) + (term - back);
            sum = next;
            size += p.alpha[i];
        }
        const double n = static_cast<double>(p.n) + 4;
        const double off = rounded_up(std::abs(sum + lost) + 4 * (n * kUnit) * (n * kUnit) * size);
        if (off == 0) return;
        bool rises = false, falls = false;
        for (std::int64_t j = 0; j < p.n; ++j) {
            rises = rises || room_of(p, j, 1) > 2 * off;
            falls = falls || room_of(p, j, -1) > 2 * off;
        }
        imbalance_ = rises && falls ? off : std::numeric_limits<double>::infinity();
    }

    // P of the rule that is `longer_` times as long, minus D, at most: with L = longer_ and e_i at the rule
    // itself, (L^2 - 1) / 2 w.w + sum_i (alpha_i e_i + U_i xi_i(L)), and what the artificial examples add.
    double objectives_apart(const DualPoint& p) const {
        double ww = 0, apart = 0, loss = 0, lost = 0, size = 0, balance = 0, sum = 0;
        for (std::int64_t i = 0; i < p.n; ++i) {
            if (p.upper[i] <= 0) continue;
            const double alpha = p.alpha[i], e = excess(p, i), off = error(p, i);
            ww += alpha * (p.y[i] * p.s[i] + off);
            apart += alpha * (e + off);
            size += alpha * (std::abs(e) + std::abs(p.s[i]) + off);
            balance += p.y[i] * alpha;
            sum += alpha;
            const double xi = std::max(0.0, 1 - longer_ * (1 + e - off) + 8 * kUnit);
            if (!std::isinf(p.upper[i])) loss += p.upper[i] * xi;
        }
        if (kappa2_ > 0) {
            const double above = std::max(0.0, 1 - longer_ * b_), below = std::max(0.0, 1 + longer_ * b_);
            const double penalty = 0.5 * (above * above + below * below) / kappa2_;
            const double lengths = 0.5 * kappa2_ * (plus_ * plus_ + minus_ * minus_);
            apart += penalty + lengths - plus_ - minus_ - b_ * balance;
            size += penalty + lengths + plus_ + minus_ + std::abs(b_) * sum;
        }
        lost = rounding_of(static_cast<double>(p.n) + 16) * (size + loss);
        return std::max(0.5 * (longer_ * longer_ - 1) * (1 + 8 * kUnit) * (std::max(ww, 0.0) + lost) + apart,
                        0.0) +
               loss + lost;
    }

    static constexpr double kAtBound = 1e-12;

    Hyperplane hyperplane_;
    Threshold threshold_{0.0, 0.0, 0.0, true};
    double kappa2_ = 0, plus_ = 0, minus_ = 0;
    double b_ = 0, gap_ = 0, longer_ = 1;
    double imbalance_ = 0, b_error_ = 0, largest_error_ = 0;
};

// (3) for all examples of alpha_t = 0 at one time, without their kernel rows: nobody is farther than twice
// the longest from anybody. Two on each side, since t itself may be the best.
class SharedBounds {
  public:
    SharedBounds(const DualPoint& p, const Rule& rule, double squared_distance) {
        for (std::int64_t j = 0; j < p.n; ++j) {
            const double b = p.y[j] - p.s[j], off = rule.error(p, j);
            offer(low_, b - off - bound_reach(rule.gap(), squared_distance, rule.room(p, j, 1)), j);
            offer(high_, -b - off - bound_reach(rule.gap(), squared_distance, rule.room(p, j, -1)), j);
        }
    }
    // Of the threshold without t.
    Bounds without(std::int64_t t) const {
        return {low_[0].example == t ? low_[1].value : low_[0].value,
                -(high_[0].example == t ? high_[1].value : high_[0].value)};
    }

  private:
    struct Best {
        double value = -std::numeric_limits<double>::infinity();
        std::int64_t example = -1;
    };
    static void offer(Best* best, double value, std::int64_t example) {
        if (value > best[0].value) {
            best[1] = best[0];
            best[0] = {value, example};
        } else if (value > best[1].value) {
            best[1] = {value, example};
        }
    }
    Best low_[2], high_[2];
};

}  // namespace widemargin
