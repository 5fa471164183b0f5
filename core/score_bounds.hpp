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
// Stabilised. The best alphas of the two artificial examples beside the others depend on S = sum_i y_i
// alpha_i only, and are a concave term of D whose slope is -b and whose curvature is at most kappa^2; in P,
// this is a strongly convex penalty on b. So (1) and (2) hold with K_tt + kappa^2 and that b.
//
// Unregularised. Suppose that a best rule has f*(x_t) <= v. Then the constraint f(x_t) <= v costs nothing,
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
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "threshold.hpp"

namespace widemargin {

enum class Hyperplane : int { unbiased, stabilized, biased };

// n examples; what belongs to artificial ones stays outside.
struct DualPoint {
    const double *y, *upper, *alpha, *s;
    std::int64_t n;
};

struct Bounds {
    double low, high;
};

// r_j of (3).
inline double bound_reach(double gap, double squared_distance, double room) {
    if (!(room > 0)) return std::numeric_limits<double>::infinity();
    if (2 * gap <= room * room * squared_distance) return std::sqrt(2 * gap * squared_distance);
    return gap / room + 0.5 * room * squared_distance;
}

// By how much y_j alpha_j can still rise (way = 1) or fall (way = -1).
inline double room_of(const DualPoint& p, std::int64_t j, double way) {
    return p.y[j] * way > 0 ? p.upper[j] - p.alpha[j] : p.alpha[j];
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
        double least = std::numeric_limits<double>::infinity();  // margin of an example without slack
        for (std::int64_t i = 0; i < p.n; ++i) {
            if (p.upper[i] <= 0) continue;
            const double e = p.y[i] * (p.s[i] + b_) - 1;
            if (std::isinf(p.upper[i])) least = std::min(least, 1 + e);
            gap_ += e > 0 ? p.alpha[i] * e : (std::isinf(p.upper[i]) ? 0.0 : (p.alpha[i] - p.upper[i]) * e);
        }
        if (least < 1) {
            longer_ = 1 / least;
            gap_ = least > 0 ? objectives_apart(p) : std::numeric_limits<double>::infinity();
        }
        gap_ = std::max(gap_, 0.0);
    }

    double b() const { return b_; }
    double gap() const { return gap_; }
    const Threshold& threshold() const { return threshold_; }

    // (1), for an example with this K_tt.
    double doubt(double squared_norm) const {
        return std::sqrt((longer_ > 1 ? 2 : 1) * gap_ * (squared_norm + kappa2_));
    }

    // Whether no support vector is unbounded and all conditions hold: then alpha is optimal as it is.
    bool is_corner() const { return !threshold_.stable && threshold_.lowest <= threshold_.highest; }

    // Of the score of t by the exact solution without t, from this one with t. `row`: K(x_t, x_j).
    Bounds without(const DualPoint& p, std::int64_t t, const double* diagonal, const double* row) const {
        const double y = p.y[t], alpha = p.alpha[t], m = y * (p.s[t] + b_);
        Bounds margin{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        if (hyperplane_ != Hyperplane::biased) {
            const double q = diagonal[t] + kappa2_, doubt_of_t = doubt(diagonal[t]);
            margin = {m - doubt_of_t, m + doubt_of_t};
            if (alpha > 0 && q > 0) {
                const double c = alpha * (1 - m) + 0.5 * alpha * alpha * q + gap_;
                const double a = std::min(std::sqrt(2 * std::max(c, 0.0) / q), p.upper[t]);
                margin.low = a > 0 ? std::min(1 - 0.5 * a * q - c / a, margin.high) : 1.0;
            }
        } else {
            const double xi = std::isinf(p.upper[t]) ? 0.0 : std::max(0.0, 1 - longer_ * m);
            const double without_loss = gap_ - (xi > 0 ? p.upper[t] * xi : 0.0);
            for (std::int64_t j = 0; j < p.n; ++j) {
                if (j == t) continue;
                const double q = y * (p.s[t] + p.y[j] - p.s[j]);
                const double d2 = std::max(diagonal[t] + diagonal[j] - 2 * row[j], 0.0);
                const double rising = room_of(p, j, y) - alpha, falling = room_of(p, j, -y);
                if (rising > 0) {
                    const double c = std::max(without_loss + alpha * (1 - q) + 0.5 * alpha * alpha * d2, 0.0);
                    margin.low = std::max(margin.low, q - alpha * d2 - bound_reach(c, d2, rising));
                }
                if (falling > 0) margin.high = std::min(margin.high, q + bound_reach(gap_, d2, falling));
            }
        }
        return y > 0 ? margin : Bounds{-margin.high, -margin.low};
    }

    // Of the score of an example that takes no part.
    Bounds outside(const DualPoint& p, std::int64_t t, const double* diagonal, const double* row) const {
        if (hyperplane_ != Hyperplane::biased) {
            const double score = p.s[t] + b_, doubt_of_t = doubt(diagonal[t]);
            return {score - doubt_of_t, score + doubt_of_t};
        }
        Bounds score{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        for (std::int64_t j = 0; j < p.n; ++j) {
            const double value = p.s[t] + p.y[j] - p.s[j];
            const double d2 = std::max(diagonal[t] + diagonal[j] - 2 * row[j], 0.0);
            score.low = std::max(score.low, value - bound_reach(gap_, d2, room_of(p, j, 1)));
            score.high = std::min(score.high, value + bound_reach(gap_, d2, room_of(p, j, -1)));
        }
        return score;
    }

  private:
    // P of the rule that is `longer_` times as long, minus D.
    double objectives_apart(const DualPoint& p) const {
        double ww = 0, loss = 0, sum = 0;
        for (std::int64_t i = 0; i < p.n; ++i) {
            if (p.upper[i] <= 0) continue;
            ww += p.alpha[i] * p.y[i] * p.s[i];
            sum += p.alpha[i];
            const double xi = std::max(0.0, 1 - longer_ * p.y[i] * (p.s[i] + b_));
            if (!std::isinf(p.upper[i])) loss += p.upper[i] * xi;
        }
        double primal = 0.5 * longer_ * longer_ * ww + loss, dual = sum - 0.5 * ww;
        if (kappa2_ > 0) {
            const double above = std::max(0.0, 1 - longer_ * b_), below = std::max(0.0, 1 + longer_ * b_);
            primal += 0.5 * (above * above + below * below) / kappa2_;
            dual += plus_ + minus_ - 0.5 * kappa2_ * (plus_ * plus_ + minus_ * minus_);
        }
        return primal - dual;
    }

    Hyperplane hyperplane_;
    Threshold threshold_{0.0, 0.0, 0.0, true};
    double kappa2_ = 0, plus_ = 0, minus_ = 0;
    double b_ = 0, gap_ = 0, longer_ = 1;
};

// (3) for all examples of alpha_t = 0 at one time, without their kernel rows: nobody is farther than twice
// the longest from anybody. Two on each side, since t itself may be the best.
class SharedBounds {
  public:
    SharedBounds(const DualPoint& p, const Rule& rule, double squared_distance) {
        for (std::int64_t j = 0; j < p.n; ++j) {
            const double b = p.y[j] - p.s[j];
            offer(low_, b - bound_reach(rule.gap(), squared_distance, room_of(p, j, 1)), j);
            offer(high_, -b - bound_reach(rule.gap(), squared_distance, room_of(p, j, -1)), j);
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
