// Exact leave-one-out of linear support vector machines, unbiased or with a bias feature.
//
// For every example t and label: the score f_t(x_t) of the rule learned without t, with a proven accuracy,
// from one solution alpha on all examples. Letters as in dual_cd.hpp; K_t = x_t.x_t + B^2, d_t the diagonal
// of the squared hinge, g the duality gap of alpha, m = y_t f(x_t) the margin of t, m_t the one by the rule
// without t.
//
// What needs no retraining. Between the exact solutions the margin of t can only fall (thesis, Lemma 8), so
//   m_t <= m + sqrt(g K_t)                                                                              (1)
// Moving a of alpha_t's weight into the solution without t cannot beat the best dual objective by more than
// g, for any 0 <= a <= U_t:
//   m_t >= 1 - a q / 2 - c / a,   q = K_t + d_t,   c = alpha_t (1 - m + alpha_t K_t) - alpha_t^2 q / 2 + g
//   (2)
// With g = 0 and the best a this is the xi-alpha bound m_t >= 1 - xi_t - alpha_t K_t. An example with
// alpha_t = 0 may leave without a change: |m_t - m| <= sqrt(g K_t).
//
// Retraining of the others is dual coordinate descent on the change of the rule, delta = w_t - w
// (label_lanes.hpp, 16 left-out examples of a label side by side). It starts at the solution with alpha_t =
// 0; the weight of the bias feature, on which all margins depend, is kept by a small step of all free alphas.
// An example with y_i f(x_i) - 1 = e_i whose alpha is at a bound stays there without any slack while
//   |delta| |x_i| + B |v| < |e_i|                                                                       (3)
// with v the change of the bias weight, so only the rows for which this fails are looked at.
//
// Certificate: for any alpha feasible without t, with its delta and v' = B sum_i y_i (change of alpha_i), and
// any v, the duality gap is the sum of the examples' slacks at (delta, v), plus (v - v')^2 / 2. P is strongly
// convex in the weights and -D in those of the alphas, so with the bias weight half-way between v and v' the
// rule is within sqrt(gap - (v - v')^2 / 4) of the exact one, and its score of x_t within sqrt(K_t) times
// that. The best v is found exactly: at v' the smallest error of the bias weight would cost a slack of every
// example. Retraining stops when this proves the sign of the score and the accuracy that was asked for.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "dual_cd.hpp"
#include "label_lanes.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace widemargin {

using Indices = std::vector<std::int32_t>;

struct LeaveOneOutOptions {
    double bias;              // size B of the bias feature, 0 for none
    bool squared_loss;        // squared hinge instead of hinge
    double accuracy;          // of every score; infinity: only the signs have to be certain
    std::int64_t max_rounds;  // Newton steps for one left-out example
    std::uint64_t seed;
};

// All arrays belong to the caller; n examples, L labels.
struct LeaveOneOutTask {
    std::int64_t n_labels;
    const std::int8_t* signs;      // L x n
    const double* cost_positive;   // L
    const double* cost_negative;   // L
    const double* sample_weights;  // n, or null
    const double* alpha;           // L x n: the solution
    // Results.
    double* scores;           // L x n
    double* accuracy;         // L x n
    std::int64_t* retrained;  // L
    std::int64_t* progress;   // one element, read by another thread: examples done, of L x n
};

// The solution of one label, and which of its examples have to be retrained without.
struct LabelSolution {
    std::int64_t label = 0;
    double gap = 0;
    Indices free;                // whose alphas are between their bounds, or belong there
    std::vector<double> shift;   // steps of their y alpha that would lower all their scores by one
    double shift_of_bias = 0;    // what these steps add to the score through the bias feature
    std::vector<double> excess;  // e_i
    std::vector<float> single_excess;
    Indices nearest;               // examples by |e_i|, those with an alpha between its bounds first
    std::vector<double> distance;  // of nearest[k]: 0 or |e_i|
    Indices left_out;              // those to retrain without, by how far the solution may move
};

// What a label's examples are and cost, and the solution that is given.
template <typename T>
class LeaveOneOut {
  public:
    LeaveOneOut(const SharedRows<T>& shared, const LeaveOneOutTask& task, const LeaveOneOutOptions& options)
        : shared(shared), task(task), options(options), n(shared.x.n_rows), d(shared.x.n_columns) {
        for (std::int64_t i = 0; i < n; ++i)
            longest = std::max(longest, std::sqrt(std::max(K(i) - options.bias * options.bias, 0.0)));
    }

    double sign(std::int64_t label, std::int64_t i) const { return task.signs[label * n + i]; }
    double cost(std::int64_t label, std::int64_t i) const {
        const double c = sign(label, i) > 0 ? task.cost_positive[label] : task.cost_negative[label];
        return task.sample_weights ? c * task.sample_weights[i] : c;
    }
    double upper(std::int64_t label, std::int64_t i) const {
        const double c = cost(label, i);
        return options.squared_loss && c > 0 ? std::numeric_limits<double>::infinity() : c;
    }
    double diagonal(std::int64_t label, std::int64_t i) const {
        return options.squared_loss ? 0.5 / cost(label, i) : 0.0;
    }
    double alpha(std::int64_t label, std::int64_t i) const { return task.alpha[label * n + i]; }
    double K(std::int64_t i) const { return shared.squared_norms[i]; }

    // An example's share of the duality gap (dual_cd.hpp), from e = y_i f(x_i) - 1.
    double slack(double e, double alpha, double cost) const {
        if (options.squared_loss) {
            const double xi = std::max(-e, 0.0);
            return cost * xi * xi + alpha * alpha / (4 * cost) + alpha * e;
        }
        return e > 0 ? alpha * e : (alpha - cost) * e;
    }

    bool enough(double score, double accuracy) const {
        return accuracy <= options.accuracy && (accuracy < std::abs(score) || accuracy < kSmallest);
    }

    // Scores of all examples by the given solution, its gap, and what (1) and (2) decide.
    LabelSolution examine(std::int64_t label) const {
        LabelSolution s;
        s.label = label;
        std::vector<double> w(d + 1, 0.0);
        for (std::int64_t i = 0; i < n; ++i) {
            if (alpha(label, i) == 0) continue;
            const double step = alpha(label, i) * sign(label, i);
            shared.x.row(i).axpy(step, w.data());
            w[d] += step * options.bias;
        }
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
            s.gap += slack(e, a, cost(label, i));
            if ((a <= 0 && e > 0) || (a >= u && e < 0)) {
                distance[i] = std::abs(e);
            } else {
                s.free.push_back(static_cast<std::int32_t>(i));
            }
        }
        s.gap = std::max(s.gap, 0.0);
        s.shift = response(label, s.free);
        s.shift_of_bias = options.bias * options.bias * std::accumulate(s.shift.begin(), s.shift.end(), 0.0);
        s.nearest.resize(n);
        std::iota(s.nearest.begin(), s.nearest.end(), 0);
        std::stable_sort(s.nearest.begin(), s.nearest.end(),
                         [&](std::int32_t a, std::int32_t b) { return distance[a] < distance[b]; });
        s.distance.resize(n);
        for (std::int64_t k = 0; k < n; ++k) s.distance[k] = distance[s.nearest[k]];
        for (std::int64_t t = 0; t < n; ++t) {
            const auto [low, high] = margins_without(s, t);
            const double middle = 0.5 * (low + high), half = 0.5 * (high - low);
            task.scores[label * n + t] = sign(label, t) * middle;
            task.accuracy[label * n + t] = half;
            if (!enough(middle, half)) s.left_out.push_back(static_cast<std::int32_t>(t));
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
    double longest = 0;  // |x_i|

  private:
    // Nobody can tell such scores from 0.
    static constexpr double kSmallest = 1e-7;
    static constexpr int kConjugateSteps = 8;

    // The interval of m_t from (1) and (2).
    std::pair<double, double> margins_without(const LabelSolution& s, std::int64_t t) const {
        const double m = 1 + s.excess[t], a_t = alpha(s.label, t), u = upper(s.label, t);
        const double doubt = std::sqrt(s.gap * K(t));
        // A document that is empty has the same score with and without it.
        if (a_t <= 0 || u <= 0 || K(t) <= 0) return {m - doubt, m + doubt};
        const double q = K(t) + diagonal(s.label, t);
        const double c = std::max(a_t * (1 - m + a_t * K(t)) - 0.5 * a_t * a_t * q + s.gap,
                                  std::numeric_limits<double>::min());
        const double a = std::min(std::sqrt(2 * c / q), u);
        const double high = m + doubt;
        return {std::min(1 - 0.5 * a * q - c / a, high), high};
    }

    // (X X' + diagonal)^-1 1 over the free examples, by a few steps of conjugate gradients.
    std::vector<double> response(std::int64_t label, const Indices& free) const {
        const std::size_t m = free.size();
        if (m == 0 || options.bias == 0) return std::vector<double>(m, 0.0);
        std::vector<double> z(m, 0.0), r(m, 1.0), p(m, 1.0), q(m), w(d, 0.0);
        double rr = static_cast<double>(m);
        for (int step = 0; step < kConjugateSteps && rr > 1e-6 * static_cast<double>(m); ++step) {
            std::fill(w.begin(), w.end(), 0.0);
            for (std::size_t k = 0; k < m; ++k) shared.x.row(free[k]).axpy(p[k], w.data());
            double pq = 0;
            for (std::size_t k = 0; k < m; ++k) {
                q[k] = shared.x.row(free[k]).dot(w.data()) + diagonal(label, free[k]) * p[k];
                pq += p[k] * q[k];
            }
            if (!(pq > 0)) break;
            const double length = rr / pq;
            double next = 0;
            for (std::size_t k = 0; k < m; ++k) {
                z[k] += length * p[k];
                r[k] -= length * q[k];
                next += r[k] * r[k];
            }
            for (std::size_t k = 0; k < m; ++k) p[k] = r[k] + next / rr * p[k];
            rr = next;
        }
        return z;
    }
};

// The sum of slacks as a function of a shift of the bias weight: convex, with a kink where an example has
// margin
// 1. Examples that no shift up to kFurthest takes to the other side of their margin need not be added.
class SlacksOfShift {
  public:
    static constexpr double kFurthest = 0.02;  // of the scores

    void clear(double bias, bool squared_loss) {
        bias_ = squared_loss ? 0 : bias;  // the kinks are those of the hinge
        sum_ = slope_ = 0;
        kinks_.clear();
    }
    // An example with e = y f(x) - 1 and this slack.
    void add(double slack, double e, double y, double alpha, double cost) {
        sum_ += slack;
        if (bias_ == 0) return;
        slope_ += y * bias_ * (e < 0 ? alpha - cost : alpha);
        // At a kink the slope is that of e > 0, so that the kink lies on the other side.
        if (e == 0) e = std::numeric_limits<double>::min();
        if (std::abs(e) <= kFurthest) kinks_.push_back({-e * y / bias_, bias_ * cost});
    }
    // The shift with the smallest sum plus shift^2 / 2; `sum` becomes the sum there.
    double best(double& sum) {
        sum = sum_;
        if (bias_ == 0 || slope_ == 0) return 0;
        const double way = slope_ < 0 ? 1 : -1, last = kFurthest / bias_;
        std::vector<Kink> ahead;
        for (const Kink& kink : kinks_) {
            if (kink.at * way > 0) ahead.push_back({kink.at * way, kink.rise});
        }
        const auto further = [](const Kink& a, const Kink& b) { return a.at > b.at; };
        std::make_heap(ahead.begin(), ahead.end(), further);
        double slope = -std::abs(slope_), at = 0;
        while (true) {
            const double end = ahead.empty() ? last : std::min(ahead.front().at, last);
            if (slope + end >= 0 || end >= last) {
                const double stop = std::max(std::min(-slope, end), at);
                sum += slope * (stop - at);
                return way * stop;
            }
            sum += slope * (end - at);
            at = end;
            slope += ahead.front().rise;
            if (slope + at >= 0) return way * at;
            std::pop_heap(ahead.begin(), ahead.end(), further);
            ahead.pop_back();
        }
    }

  private:
    struct Kink {
        double at, rise;
    };
    double bias_ = 0, sum_ = 0, slope_ = 0;
    std::vector<Kink> kinks_;
};

// Retraining without some examples of one label. One for each thread: it keeps its memory.
template <typename T>
class Retraining {
  public:
    explicit Retraining(const LeaveOneOut<T>& problem)
        : p_(problem),
          n_(problem.n),
          d_(problem.d),
          bias_(problem.options.bias),
          single_((d_ + 1) * kLanes),
          double_((d_ + 1) * kLanes),
          alpha_(n_ * kLanes),
          signs_(n_ * kLanes, 0),
          place_(n_, -1) {}

    // Up to 16 examples. Those for which `passes` are too few are left `open`, or, without a place for them,
    // finished one by one.
    void run(const LabelSolution& s, const std::int32_t* examples, std::size_t count, std::int64_t passes,
             int rounds, Indices* open, const StopFlag& stop) {
        begin(s, examples, count);
        step_out();
        for (int round = 0; round < rounds && !stop; ++round) {
            descend(passes, stop);
            certify();
            if (std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.done; })) break;
        }
        for (std::size_t l = 0; l < count && !stop; ++l) {
            if (lanes_[l].done) continue;
            if (open) {
                open->push_back(lanes_[l].t);
            } else {
                finish_alone(l, stop);
            }
        }
        for (const Lane& lane : lanes_) {
            p_.task.scores[s.label * n_ + lane.t] = lane.score;
            p_.task.accuracy[s.label * n_ + lane.t] = lane.accuracy;
        }
        for (const std::int32_t i : rows_) {
            clear(single_.data(), i);
            place_[i] = -1;
        }
    }

  private:
    struct Lane {
        std::int32_t t;
        bool done = false;
        double score = 0, accuracy = 0;
    };
    using Scores = std::array<double, kLanes>;

    // Rows within this part of the first step's reach take part from the beginning.
    static constexpr double kNear = 0.05;
    static constexpr int kConjugateSteps = 60;
    static constexpr double kRough = 1e-3;  // much more than single precision can be wrong by
    static constexpr std::int64_t kPassesAlone = 3;
    static constexpr double kNewtonAccuracy = 0.1, kFlat = 1e-10;

    double alpha(std::int64_t i) const { return p_.alpha(s_->label, i); }
    double sign(std::int64_t i) const { return p_.sign(s_->label, i); }
    double cost(std::int64_t i) const { return p_.cost(s_->label, i); }
    double upper(std::int64_t i) const { return p_.upper(s_->label, i); }
    double score_before(std::int32_t t) const { return sign(t) * (1 + s_->excess[t]); }

    void begin(const LabelSolution& s, const std::int32_t* examples, std::size_t count) {
        s_ = &s;
        lanes_.clear();
        rows_.clear();
        double reach = 0;
        for (std::size_t k = 0; k < count; ++k) {
            lanes_.push_back({examples[k]});
            reach = std::max(reach, p_.reach(s.label, examples[k]));
        }
        for (std::size_t k = 0; k < s.nearest.size() && s.distance[k] <= kNear * reach; ++k)
            admit(s.nearest[k]);
        for (const Lane& lane : lanes_) admit(lane.t);
        for (std::size_t l = 0; l < count; ++l) alpha_[std::int64_t(examples[l]) * kLanes + l] = 0;
    }
    // Takes row i into the working rows of all lanes.
    void admit(std::int32_t i) {
        if (place_[i] >= 0) return;
        place_[i] = static_cast<std::int32_t>(rows_.size());
        rows_.push_back(i);
        std::fill_n(alpha_.data() + std::int64_t(i) * kLanes, kLanes, static_cast<float>(alpha(i)));
    }

    template <typename Real>
    void clear(Real* lanes, std::int64_t i) const {
        const Row<T> row = p_.shared.x.row(i);
        for (std::int64_t k = 0; k < row.size; ++k)
            std::fill_n(lanes + std::int64_t(row.indices[k]) * kLanes, kLanes, Real(0));
        std::fill_n(lanes + d_ * kLanes, kLanes, Real(0));
    }

    // Passes in single precision.
    void descend(std::int64_t passes, const StopFlag& stop) {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        LanePass pass{};
        pass.indptr = p_.shared.x.indptr;
        pass.indices = p_.shared.x.indices;
        pass.values = p_.shared.values32;
        pass.squared_norms = p_.shared.single_norms.data();
        pass.sample_weights = p_.shared.single_weights.empty() ? nullptr : p_.shared.single_weights.data();
        pass.excess = s_->single_excess.data();
        pass.bias_row = d_;
        pass.bias = static_cast<float>(bias_);
        pass.squared_loss = p_.options.squared_loss;
        pass.w = single_.data();
        pass.alpha = alpha_.data();
        pass.sign = signs_.data();
        for (int l = 0; l < kLanes; ++l) {
            pass.cost_positive[l] = static_cast<float>(p_.task.cost_positive[s_->label]);
            pass.cost_negative[l] = static_cast<float>(p_.task.cost_negative[s_->label]);
            pass.shrink_above[l] = infinity;
            pass.shrink_below[l] = -infinity;
        }
        for (const std::int32_t i : rows_) {
            const std::int8_t y = upper(i) > 0 ? static_cast<std::int8_t>(sign(i)) : 0;
            for (std::size_t l = 0; l < kLanes; ++l)
                signs_[std::int64_t(i) * kLanes + l] =
                    l < lanes_.size() && !lanes_[l].done && lanes_[l].t != i ? y : 0;
        }
        Random random(p_.options.seed);
        Indices order(rows_), visited;
        const auto is_active = [&](std::int32_t i) {
            std::uint64_t words[2];
            std::memcpy(words, signs_.data() + std::int64_t(i) * kLanes, sizeof words);
            return (words[0] | words[1]) != 0;
        };
        for (std::int64_t done = 0; done < passes && !stop; ++done) {
            random.shuffle(order);
            visited.clear();
            std::copy_if(order.begin(), order.end(), std::back_inserter(visited), is_active);
            pass.rows = visited.data();
            pass.n_rows = static_cast<std::int64_t>(visited.size());
            kernels_.pass(pass);
            for (std::size_t l = 0; l < lanes_.size(); ++l) {
                pass.shrink_above[l] = pass.pg_max[l] > 0 ? pass.pg_max[l] : infinity;
                pass.shrink_below[l] = pass.pg_min[l] < 0 ? pass.pg_min[l] : -infinity;
            }
        }
    }

    // t leaves every lane, and the free alphas move so that the bias weight stays about where it was.
    void step_out() {
        std::array<float, kLanes> steps{};
        const auto add = [&](std::int64_t i) {
            const Row<T> row = p_.shared.x.row(i);
            for (std::int64_t k = 0; k < row.size; ++k) {
                float* const u = single_.data() + std::int64_t(row.indices[k]) * kLanes;
                const float x = static_cast<float>(row.values[k]);
                for (int l = 0; l < kLanes; ++l) u[l] += steps[l] * x;
            }
            float* const u = single_.data() + d_ * kLanes;
            for (int l = 0; l < kLanes; ++l) u[l] += steps[l] * static_cast<float>(bias_);
        };
        std::array<float, kLanes> part{};
        for (std::size_t l = 0; l < lanes_.size(); ++l) {
            const std::int32_t t = lanes_[l].t;
            const double out = alpha(t) * sign(t);
            part[l] = static_cast<float>(bias_ * bias_ * out / (1 + s_->shift_of_bias));
            steps.fill(0);
            steps[l] = static_cast<float>(-out);
            add(t);
        }
        for (std::size_t k = 0; k < s_->free.size(); ++k) {
            const std::int32_t i = s_->free[k];
            const float y = static_cast<float>(sign(i)), u = static_cast<float>(upper(i));
            const float toward = static_cast<float>(s_->shift[k]) * y;
            float* const a = alpha_.data() + std::int64_t(i) * kLanes;
            for (std::size_t l = 0; l < kLanes; ++l) {
                if (l < lanes_.size() && lanes_[l].t == i) {
                    steps[l] = 0;
                    continue;
                }
                const float moved = std::min(std::max(a[l] + part[l] * toward, 0.0f), u);
                steps[l] = (moved - a[l]) * y;
                a[l] = moved;
            }
            add(i);
        }
    }

    // alpha_i of a lane in double precision: what single precision did not change is exactly what it was.
    double lane_alpha(std::int64_t i, std::size_t l) const { return lane_alpha(i, l, alpha(i), upper(i)); }
    double lane_alpha(std::int64_t i, std::size_t l, double given, double u) const {
        const float now = alpha_[i * kLanes + l];
        if (lanes_[l].t == i || now <= 0) return 0.0;
        if (now >= static_cast<float>(u)) return u;
        return std::min(std::max(given + (double(now) - double(static_cast<float>(given))), 0.0), u);
    }

    // What the change of each lane adds to the score of row i.
    void changes(std::int64_t i, Scores& scores) const {
        const Row<T> row = p_.shared.x.row(i);
        if constexpr (sizeof(T) == sizeof(float)) {
            kernels_.score_single(row.indices, row.values, row.size, double_.data(), kLanes, scores.data());
        } else {
            kernels_.score_double(row.indices, row.values, row.size, double_.data(), kLanes, scores.data());
        }
        for (int l = 0; l < kLanes; ++l) scores[l] += bias_ * double_[d_ * kLanes + l];
    }

    // Whether single precision is enough to see that row i, which is at rest, stays so in all lanes.
    bool rests(std::int64_t i) const {
        const Row<T> row = p_.shared.x.row(i);
        float scores[kLanes];
        kernels_.score_roughly(row.indices, p_.shared.values32 + p_.shared.x.indptr[i], row.size,
                               single_.data(), scores);
        const float y = static_cast<float>(sign(i)), b = static_cast<float>(bias_);
        float lowest = std::numeric_limits<float>::infinity(), highest = -lowest;
        for (std::size_t l = 0; l < lanes_.size(); ++l) {
            const float change = y * (scores[l] + b * single_[d_ * kLanes + l]);
            lowest = std::min(lowest, change);
            highest = std::max(highest, change);
        }
        const double e = s_->excess[i], far = SlacksOfShift::kFurthest + kRough;
        return alpha(i) <= 0 ? e + lowest > far : e + highest < -far;
    }

    // Exact gaps of all lanes, from the alphas and v.
    void certify() {
        const std::size_t n_lanes = lanes_.size();
        double* const v = double_.data() + d_ * kLanes;
        Indices changed;
        std::vector<Scores> steps, alphas(rows_.size());
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            const std::int32_t i = rows_[k];
            const double given = alpha(i), u = upper(i), y = sign(i);
            Scores step{};
            bool any = false;
            for (std::size_t l = 0; l < n_lanes; ++l) {
                alphas[k][l] = lane_alpha(i, l, given, u);
                step[l] = (alphas[k][l] - given) * y;
                any = any || step[l] != 0;
            }
            if (!any) continue;
            changed.push_back(i);
            steps.push_back(step);
            const Row<T> row = p_.shared.x.row(i);
            if constexpr (sizeof(T) == sizeof(float)) {
                kernels_.add_single(row.indices, row.values, row.size, step.data(), double_.data());
            } else {
                kernels_.add_double(row.indices, row.values, row.size, step.data(), double_.data());
            }
            for (int l = 0; l < kLanes; ++l) v[l] += step[l] * bias_;
        }
        Scores squared{}, scores;
        for (SlacksOfShift& slacks : slacks_) slacks.clear(bias_, p_.options.squared_loss);
        for (std::size_t k = 0, next = 0; k < rows_.size(); ++k) {
            const std::int32_t i = rows_[k];
            changes(i, scores);
            if (next < changed.size() && changed[next] == i) {
                for (std::size_t l = 0; l < n_lanes; ++l)
                    squared[l] += steps[next][l] * (scores[l] - bias_ * v[l]);
                ++next;
            }
            if (upper(i) <= 0) continue;
            const double c = cost(i), y = sign(i);
            for (std::size_t l = 0; l < n_lanes; ++l) {
                if (lanes_[l].t != i && !lanes_[l].done)
                    look_at(l, s_->excess[i] + y * scores[l], y, alphas[k][l], c);
            }
        }
        Indices wanted;
        double furthest = 0;  // by how much a score can change
        for (std::size_t l = 0; l < n_lanes; ++l) {
            if (lanes_[l].done) continue;
            const double length = std::sqrt(std::max(squared[l], 0.0));
            furthest = std::max(furthest, length * p_.longest + bias_ * std::abs(v[l]));
        }
        furthest += SlacksOfShift::kFurthest;
        for (std::size_t k = 0; k < s_->nearest.size() && s_->distance[k] <= furthest; ++k) {
            const std::int32_t i = s_->nearest[k];
            if (place_[i] >= 0) continue;
            if (rests(i)) continue;
            changes(i, scores);
            const double c = cost(i), y = sign(i), e = s_->excess[i], a = alpha(i);
            double lowest = e + y * scores[0], highest = lowest;
            for (std::size_t l = 1; l < n_lanes; ++l) {
                lowest = std::min(lowest, e + y * scores[l]);
                highest = std::max(highest, e + y * scores[l]);
            }
            if (a <= 0 ? lowest >= SlacksOfShift::kFurthest : highest <= -SlacksOfShift::kFurthest) continue;
            for (std::size_t l = 0; l < n_lanes; ++l) {
                if (!lanes_[l].done) look_at(l, e + y * scores[l], y, a, c);
            }
            if (a <= 0 ? lowest < 0 : highest > 0) wanted.push_back(i);
        }
        for (std::size_t l = 0; l < n_lanes; ++l) {
            Lane& lane = lanes_[l];
            if (lane.done) continue;
            changes(lane.t, scores);
            finish(lane, scores[l], slacks_[l]);
        }
        for (const std::int32_t i : changed) clear(double_.data(), i);
        for (const std::int32_t i : wanted) admit(i);
    }

    void look_at(std::size_t l, double e, double y, double alpha, double cost) {
        slacks_[l].add(p_.slack(e, alpha, cost), e, y, alpha, cost);
    }

    // The certificate, from the change of the score at v' and the slacks there.
    void finish(Lane& lane, double change, SlacksOfShift& slacks) const {
        double sum;
        const double shift = slacks.best(sum);
        lane.score = score_before(lane.t) + change + 0.5 * bias_ * shift;
        lane.accuracy = std::sqrt((std::max(sum, 0.0) + 0.25 * shift * shift) * p_.K(lane.t));
        lane.done = p_.enough(lane.score, lane.accuracy);
    }

    // One left-out example in double precision: Newton steps over the free alphas, and a few passes of
    // coordinate descent after each, which decide who is free.
    void finish_alone(std::size_t l, const StopFlag& stop) {
        Lane& lane = lanes_[l];
        std::vector<double> w(d_, 0.0), alpha_now(rows_.size());
        double v = 0;
        const auto change = [&](std::int64_t i) { return p_.shared.x.row(i).dot(w.data()) + bias_ * v; };
        const auto add = [&](std::int64_t i, double step) {
            p_.shared.x.row(i).axpy(step, w.data());
            v += step * bias_;
        };
        Random random(p_.options.seed);
        for (std::size_t k = 0; k < rows_.size(); ++k) alpha_now[k] = lane_alpha(rows_[k], l);
        for (std::int64_t round = 0; !stop; ++round) {
            // The change from the alphas, free of what many updates leave behind.
            std::fill(w.begin(), w.end(), 0.0);
            v = 0;
            for (std::size_t k = 0; k < rows_.size(); ++k) {
                const double step = (alpha_now[k] - alpha(rows_[k])) * sign(rows_[k]);
                if (step != 0) add(rows_[k], step);
            }
            if (round > 0 && certify_alone(l, w, v, alpha_now)) return;
            if (round >= p_.options.max_rounds) return;
            newton_step(lane.t, alpha_now, w, v);
            Indices order(rows_.size());
            std::iota(order.begin(), order.end(), 0);
            // More where Newton steps do not help: more free alphas than dimensions.
            const std::int64_t passes = kPassesAlone << std::min<std::int64_t>(round / 10, 8);
            for (std::int64_t pass = 0; pass < passes && !stop; ++pass) {
                random.shuffle(order);
                for (const std::int32_t place : order) {
                    const std::int32_t i = rows_[place];
                    const double u = upper(i), y = sign(i), dd = p_.diagonal(s_->label, i), q = p_.K(i) + dd;
                    if (i == lane.t || u <= 0) continue;
                    double& a = alpha_now[place];
                    const double g = s_->excess[i] + y * change(i) + dd * a;
                    const double moved = q > 0 ? std::min(std::max(a - g / q, 0.0), u) : u;
                    if (moved != a) add(i, (moved - a) * y);
                    a = moved;
                }
            }
        }
    }

    // Takes the free alphas to where all their margins would be 1, by conjugate gradients, or as far on the
    // way as the bounds and the dual objective allow.
    void newton_step(std::int32_t t, std::vector<double>& alpha_now, std::vector<double>& w, double& v) {
        std::vector<std::size_t> free;
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            if (rows_[k] != t && alpha_now[k] > 0 && alpha_now[k] < upper(rows_[k])) free.push_back(k);
        }
        const std::size_t m = free.size();
        std::vector<double> g(m), x(m, 0.0), r(m), q(m), weights(d_);
        double rr = 0;
        for (std::size_t k = 0; k < m; ++k) {
            const std::int32_t i = rows_[free[k]];
            const double e = s_->excess[i] + sign(i) * (p_.shared.x.row(i).dot(w.data()) + bias_ * v);
            g[k] = e + p_.diagonal(s_->label, i) * alpha_now[free[k]];
            r[k] = -sign(i) * g[k];
            rr += r[k] * r[k];
        }
        const double enough = rr * kNewtonAccuracy * kNewtonAccuracy;
        const auto times = [&](const std::vector<double>& p) {  // q = K p over the free examples; returns p.q
            std::fill(weights.begin(), weights.end(), 0.0);
            double sum = 0, pq = 0;
            for (std::size_t k = 0; k < m; ++k) {
                if (p[k] != 0) p_.shared.x.row(rows_[free[k]]).axpy(p[k], weights.data());
                sum += p[k];
            }
            for (std::size_t k = 0; k < m; ++k) {
                const std::int32_t i = rows_[free[k]];
                q[k] = p_.shared.x.row(i).dot(weights.data()) + bias_ * bias_ * sum +
                       p_.diagonal(s_->label, i) * p[k];
                pq += p[k] * q[k];
            }
            return pq;
        };
        std::vector<double> p(r);
        for (int step = 0; step < kConjugateSteps && rr > enough; ++step) {
            const double pq = times(p), pp = std::inner_product(p.begin(), p.end(), p.begin(), 0.0);
            if (!(pq > kFlat * pp)) {
                // No curvature: the objective rises this way until a bound is met.
                for (std::size_t k = 0; k < m; ++k) x[k] += rr / (kFlat * pp) * p[k];
                break;
            }
            double next = 0;
            for (std::size_t k = 0; k < m; ++k) {
                x[k] += rr / pq * p[k];
                r[k] -= rr / pq * q[k];
                next += r[k] * r[k];
            }
            for (std::size_t k = 0; k < m; ++k) p[k] = r[k] + next / rr * p[k];
            rr = next;
        }
        // All that would leave their bounds stop there; if that is too much at once, only the first.
        double first = 1;
        for (std::size_t k = 0; k < m; ++k) {
            const std::int32_t i = rows_[free[k]];
            const double a = alpha_now[free[k]], step = x[k] * sign(i);
            if (step > 0) first = std::min(first, (upper(i) - a) / step);
            if (step < 0) first = std::min(first, -a / step);
        }
        for (const double length : {1.0, 0.25, first}) {
            double fall = 0;  // of the dual objective, without its quadratic part
            for (std::size_t k = 0; k < m; ++k) {
                const std::int32_t i = rows_[free[k]];
                const double a = alpha_now[free[k]];
                const double moved = std::min(std::max(a + length * x[k] * sign(i), 0.0), upper(i));
                p[k] = (moved - a) * sign(i);
                fall += (moved - a) * g[k];
            }
            if (fall + 0.5 * times(p) > 0) continue;
            for (std::size_t k = 0; k < m; ++k) {
                const std::int32_t i = rows_[free[k]];
                double& a = alpha_now[free[k]];
                a = std::min(std::max(a + length * x[k] * sign(i), 0.0), upper(i));
                p_.shared.x.row(i).axpy(p[k], w.data());
                v += bias_ * p[k];
            }
            return;
        }
    }

    // The exact gap; rows that turn out to have a slack become working rows.
    bool certify_alone(std::size_t l, const std::vector<double>& w, double v,
                       std::vector<double>& alpha_now) {
        Lane& lane = lanes_[l];
        const auto change = [&](std::int64_t i) { return p_.shared.x.row(i).dot(w.data()) + bias_ * v; };
        double squared = 0;
        for (const double value : w) squared += value * value;
        slacks_[l].clear(bias_, p_.options.squared_loss);
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            const std::int32_t i = rows_[k];
            if (i != lane.t && upper(i) > 0)
                look_at(l, s_->excess[i] + sign(i) * change(i), sign(i), alpha_now[k], cost(i));
        }
        const double furthest =
            std::sqrt(squared) * p_.longest + bias_ * std::abs(v) + SlacksOfShift::kFurthest;
        Indices wanted;
        for (std::size_t k = 0; k < s_->nearest.size() && s_->distance[k] <= furthest; ++k) {
            const std::int32_t i = s_->nearest[k];
            if (place_[i] >= 0) continue;
            const double e = s_->excess[i] + sign(i) * change(i);
            look_at(l, e, sign(i), alpha(i), cost(i));
            if (p_.slack(e, alpha(i), cost(i)) > 0) wanted.push_back(i);
        }
        finish(lane, change(lane.t), slacks_[l]);
        for (const std::int32_t i : wanted) {
            admit(i);
            alpha_now.push_back(alpha(i));
        }
        return lane.done;
    }

    const LeaveOneOut<T>& p_;
    const std::int64_t n_, d_;
    const double bias_;
    const LaneKernels kernels_ = lane_kernels();
    const LabelSolution* s_ = nullptr;
    std::vector<Lane> lanes_;
    Indices rows_;  // the working rows
    // delta, then v: features x 16
    AlignedBuffer<float> single_;
    AlignedBuffer<double> double_;
    AlignedBuffer<float> alpha_;
    std::vector<std::int8_t> signs_;
    std::array<SlacksOfShift, kLanes> slacks_;
    std::vector<std::int32_t> place_;  // of a row in rows_, or -1
};

// All labels, some at a time: their solutions are examined side by side, and then all their examples
// retrained. What a few passes do not settle waits for others like it: 16 lanes with one at work would cost
// as much as 16.
template <typename T, class Poll>
void leave_one_out(const CsrView<T>& x, const LeaveOneOutTask& task, const LeaveOneOutOptions& options,
                   int n_threads, Poll&& poll) {
    constexpr std::int64_t kLabelsAtOnce = 16;
    struct Effort {
        std::int64_t passes;
        int rounds;
    };
    constexpr Effort kEfforts[] = {{12, 1}, {24, 2}, {72, 2}};
    const SharedRows<T> shared(x, options.bias, task.sample_weights);
    const LeaveOneOut<T> problem(shared, task, options);
    const auto each = [&](std::size_t count, auto&& work) {
        Pieces pieces(static_cast<std::int64_t>(count), 1);
        run_parallel(
            static_cast<int>(std::min<std::size_t>(n_threads, count)),
            [&](int thread, const StopFlag& stop) {
                std::int64_t k, end;
                while (!stop && pieces.next(k, end)) work(thread, static_cast<std::size_t>(k), stop);
            },
            poll);
    };
    std::vector<std::unique_ptr<Retraining<T>>> retraining(n_threads);
    const auto of = [&](int thread) -> Retraining<T>& {
        if (!retraining[thread]) retraining[thread] = std::make_unique<Retraining<T>>(problem);
        return *retraining[thread];
    };
    for (std::int64_t first = 0; first < task.n_labels; first += kLabelsAtOnce) {
        std::vector<LabelSolution> solutions(std::min(kLabelsAtOnce, task.n_labels - first));
        each(solutions.size(), [&](int, std::size_t k, const StopFlag&) {
            solutions[k] = problem.examine(first + static_cast<std::int64_t>(k));
            const auto left = static_cast<std::int64_t>(solutions[k].left_out.size());
            __atomic_fetch_add(task.progress, x.n_rows - left, __ATOMIC_RELAXED);
        });
        for (const Effort& effort : kEfforts) {
            struct Batch {
                std::size_t solution, begin, end;
                Indices open;
            };
            const bool last = &effort == std::end(kEfforts) - 1;
            std::vector<Batch> batches;
            for (std::size_t k = 0; k < solutions.size(); ++k) {
                const std::size_t count = solutions[k].left_out.size();
                for (std::size_t b = 0; b < count; b += kLanes)
                    batches.push_back({k, b, std::min(b + kLanes, count), {}});
            }
            each(batches.size(), [&](int thread, std::size_t b, const StopFlag& stop) {
                Batch& batch = batches[b];
                const LabelSolution& s = solutions[batch.solution];
                const std::size_t count = batch.end - batch.begin;
                of(thread).run(s, s.left_out.data() + batch.begin, count, effort.passes, effort.rounds,
                               last ? nullptr : &batch.open, stop);
                const auto settled = static_cast<std::int64_t>(count - batch.open.size());
                __atomic_fetch_add(task.progress, settled, __ATOMIC_RELAXED);
            });
            for (LabelSolution& s : solutions) s.left_out.clear();
            for (const Batch& batch : batches) {
                Indices& rest = solutions[batch.solution].left_out;
                rest.insert(rest.end(), batch.open.begin(), batch.open.end());
            }
        }
    }
}

}  // namespace widemargin
