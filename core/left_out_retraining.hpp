// Learning again without an example, and the certificate that stops it: leave_one_out.hpp, from (3) on.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "aligned.hpp"
#include "bias_shift.hpp"
#include "label_lanes.hpp"
#include "left_out_bounds.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace widemargin {

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

    // Up to 16 examples, in rounds of so many passes; without a round only along their paths. Those for which
    // that is too little are left `open`, or, without a place for them, finished one by one.
    void run(const LabelSolution& s, const std::int32_t* examples, std::size_t count, std::int64_t passes,
             int rounds, Indices* open, const StopFlag& stop) {
        if (rounds == 0 && s.tableau.empty()) {
            open->assign(examples, examples + count);
            return;
        }
        begin(s, examples, count);
        if (s.tableau.empty()) {
            step_out();
        } else {
            follow_paths();
            certify();
        }
        for (int round = 0; round < rounds && !stop; ++round) {
            if (std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.done; })) break;
            descend(passes, stop);
            certify();
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
        clear(single_.data(), rows_);
        for (const std::int32_t i : rows_) place_[i] = -1;
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

    // Calls `action(first, last)` for the lanes of all features of some rows: one by one, or all at a time if
    // that is less.
    template <class Action>
    void for_features(const Indices& rows, Action&& action) const {
        std::int64_t count = 0;
        for (const std::int32_t i : rows) count += p_.shared.x.row(i).size;
        if (count >= d_) {
            action(0, (d_ + 1) * kLanes);
            return;
        }
        for (const std::int32_t i : rows) {
            const Row<T> row = p_.shared.x.row(i);
            for (std::int64_t k = 0; k < row.size; ++k) {
                const std::int64_t first = std::int64_t(row.indices[k]) * kLanes;
                action(first, first + kLanes);
            }
        }
        action(d_ * kLanes, (d_ + 1) * kLanes);
    }
    template <typename Real>
    void clear(Real* lanes, const Indices& rows) const {
        for_features(rows, [&](std::int64_t a, std::int64_t b) { std::fill(lanes + a, lanes + b, Real(0)); });
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

    // Every lane begins where the way of its example ends.
    void follow_paths() {
        for (std::size_t l = 0; l < lanes_.size(); ++l) {
            const std::int64_t place = s_->place_in_tableau[lanes_[l].t];
            if (place < 0 || !path_.leave(s_->tableau, place, without_)) continue;
            for (std::size_t k = 0; k < without_.size(); ++k) {
                const std::int32_t i = s_->in_tableau[k];
                if (without_[k] == s_->tableau.alpha(static_cast<std::int64_t>(k))) continue;
                admit(i);
                alpha_[std::int64_t(i) * kLanes + l] = without_[k];
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
        for_features(changed, [&](std::int64_t a, std::int64_t b) {
            std::copy(double_.data() + a, double_.data() + b, single_.data() + a);
        });
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
        clear(double_.data(), changed);
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
    SolutionPath path_;
    std::vector<float> without_;
    std::vector<std::int32_t> place_;  // of a row in rows_, or -1
};

}  // namespace widemargin
