// Learning again without an example, 16 examples of a label side by side: left_out/leave_one_out.hpp, from
// (3) on.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "left_out/linear_bounds.hpp"
#include "left_out/newton_retraining.hpp"
#include "linear/bias_shift.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "rounding.hpp"
#include "simd/loops.hpp"
#include "sparse/shared_rows.hpp"

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
          working_(n_),
          single_((d_ + 1) * kLanes),
          double_((d_ + 1) * kLanes),
          alpha_(n_ * kLanes),
          signs_(n_ * kLanes, 0) {}

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
        clear(single_.data(), working_.rows());
        working_.clear();
    }

  private:
    struct Lane : Certificate {
        std::int32_t t;

        explicit Lane(std::int32_t t) : t(t) {}
    };
    using Scores = std::array<double, kLanes>;

    // Rows within this part of the first step's reach take part from the beginning.
    static constexpr double kNear = 0.05;

    double alpha(std::int64_t i) const { return p_.alpha(s_->label, i); }
    double sign(std::int64_t i) const { return p_.sign(s_->label, i); }
    double cost(std::int64_t i) const { return p_.cost(s_->label, i); }
    double upper(std::int64_t i) const { return p_.upper(s_->label, i); }

    void begin(const LabelSolution& s, const std::int32_t* examples, std::size_t count) {
        s_ = &s;
        lanes_.clear();
        double reach = 0;
        for (std::size_t k = 0; k < count; ++k) {
            lanes_.emplace_back(examples[k]);
            reach = std::max(reach, p_.reach(s.label, examples[k]));
        }
        for (std::size_t k = 0; k < s.nearest.size() && s.distance[k] <= kNear * reach; ++k)
            admit(s.nearest[k]);
        for (const Lane& lane : lanes_) admit(lane.t);
        for (std::size_t l = 0; l < count; ++l) alpha_[std::int64_t(examples[l]) * kLanes + l] = 0;
    }
    // Takes row i into the working rows of all lanes.
    void admit(std::int32_t i) {
        if (working_.admit(i)) begin_row(i);
    }
    void begin_row(std::int32_t i) {
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
        LanePass pass = pass_over(p_.shared, bias_, p_.options.squared_loss);
        pass.excess = s_->single_excess.data();
        pass.w = single_.data();
        pass.alpha = alpha_.data();
        pass.sign = signs_.data();
        for (int l = 0; l < kLanes; ++l) {
            pass.cost_positive[l] = static_cast<float>(p_.task.cost_positive[s_->label]);
            pass.cost_negative[l] = static_cast<float>(p_.task.cost_negative[s_->label]);
        }
        for (const std::int32_t i : working_.rows()) {
            const std::int8_t y = upper(i) > 0 ? static_cast<std::int8_t>(sign(i)) : 0;
            for (std::size_t l = 0; l < kLanes; ++l)
                signs_[std::int64_t(i) * kLanes + l] =
                    l < lanes_.size() && !lanes_[l].done && lanes_[l].t != i ? y : 0;
        }
        Random random(p_.options.seed);
        Indices order(working_.rows()), visited;
        const auto is_active = [&](std::int32_t i) { return is_in_a_lane(signs_.data(), i); };
        for (std::int64_t done = 0; done < passes && !stop; ++done) {
            random.shuffle(order);
            visited.clear();
            std::copy_if(order.begin(), order.end(), std::back_inserter(visited), is_active);
            pass.rows = visited.data();
            pass.n_rows = static_cast<std::int64_t>(visited.size());
            loops_.pass(pass);
            for (std::size_t l = 0; l < lanes_.size(); ++l) shrink_lane(pass, static_cast<int>(l));
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
        loops_.over<T>().score_row(row.indices, row.values, row.size, {}, double_.data(), kLanes,
                                   kNoIntercept, kLanes, scores.data());
        for (int l = 0; l < kLanes; ++l) scores[l] += bias_ * double_[d_ * kLanes + l];
    }

    // Whether single precision is enough to see that row i, which is at rest, stays so in all lanes.
    // `length`: of the longest change, with that of the bias weight; `rule`: of the longest rule.
    bool rests(std::int64_t i, double length, double rule) const {
        const Row<T> row = p_.shared.x.row(i);
        float scores[kLanes];
        loops_.score_roughly(row.indices, p_.shared.values32 + p_.shared.x.indptr[i], row.size,
                             single_.data(), scores);
        const float y = static_cast<float>(sign(i)), b = static_cast<float>(bias_);
        float lowest = std::numeric_limits<float>::infinity(), highest = -lowest;
        for (std::size_t l = 0; l < lanes_.size(); ++l) {
            const float change = y * (scores[l] + b * single_[d_ * kLanes + l]);
            if (!std::isfinite(change)) return false;
            lowest = std::min(lowest, change);
            highest = std::max(highest, change);
        }
        const double e = s_->excess[i];
        const double far = SlacksOfShift::kFurthest + 2 * p_.error_of(i, rule) +
                           single_product_error(row.size + 1, length, p_.lengths[i]);
        return alpha(i) <= 0 ? e + lowest > far : e + highest < -far;
    }

    // Exact gaps of all lanes, from the alphas and v.
    void certify() {
        const std::size_t n_lanes = lanes_.size();
        double* const v = double_.data() + d_ * kLanes;
        Indices changed;
        Scores weights{};  // of the changes: the sum of |step| |(x_i, B)|
        std::vector<Scores> steps, alphas(working_.rows().size());
        for (std::size_t k = 0; k < working_.rows().size(); ++k) {
            const std::int32_t i = working_.rows()[k];
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
            for (std::size_t l = 0; l < n_lanes; ++l) weights[l] += std::abs(step[l]) * p_.lengths[i];
            const Row<T> row = p_.shared.x.row(i);
            loops_.over<T>().add_lanes(row.indices, row.values, row.size, step.data(), double_.data());
            for (int l = 0; l < kLanes; ++l) v[l] += step[l] * bias_;
        }
        // Of all working rows: what moved and came back has left its rounding in single precision.
        for_features(working_.rows(), [&](std::int64_t a, std::int64_t b) {
            std::copy(double_.data() + a, double_.data() + b, single_.data() + a);
        });
        Scores squared{}, scores, rules{};
        for (std::size_t l = 0; l < n_lanes; ++l) rules[l] = s_->length + weights[l];
        for (SlacksOfShift& slacks : slacks_) slacks.clear(bias_, p_.options.squared_loss);
        for (std::size_t k = 0, next = 0; k < working_.rows().size(); ++k) {
            const std::int32_t i = working_.rows()[k];
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
                    p_.add_slack(slacks_[l], s_->excess[i] + y * scores[l], i, y, alphas[k][l], c, rules[l]);
            }
        }
        Indices wanted;
        double furthest = 0, longest = 0, rule = 0;  // of the changes of scores and of rules, and rules
        for (std::size_t l = 0; l < n_lanes; ++l) {
            // The sum of step times score is off by less than 4 of all its roundings.
            const double lost = 4 * weights[l] * p_.apart(changed.size() + p_.most_values, weights[l]);
            const double length = length_of(std::max(squared[l], 0.0) + lost, 1);
            longest = std::max(longest, rounded_up(std::hypot(length, v[l])));
            rule = std::max(rule, rules[l]);
            if (!lanes_[l].done) furthest = std::max(furthest, p_.furthest(*s_, length, v[l]));
        }
        for (std::size_t k = 0; k < s_->nearest.size() && s_->distance[k] <= furthest; ++k) {
            const std::int32_t i = s_->nearest[k];
            if (working_.holds(i) || !(upper(i) > 0) || rests(i, longest, rule)) continue;
            changes(i, scores);
            const double c = cost(i), y = sign(i), e = s_->excess[i], a = alpha(i);
            double lowest = e + y * scores[0], highest = lowest;
            for (std::size_t l = 1; l < n_lanes; ++l) {
                lowest = std::min(lowest, e + y * scores[l]);
                highest = std::max(highest, e + y * scores[l]);
            }
            const double far = SlacksOfShift::kFurthest + 2 * p_.error_of(i, rule);
            if (a <= 0 ? lowest >= far : highest <= -far) continue;
            for (std::size_t l = 0; l < n_lanes; ++l) {
                if (!lanes_[l].done) p_.add_slack(slacks_[l], e + y * scores[l], i, y, a, c, rules[l]);
            }
            if (a <= 0 ? lowest < 0 : highest > 0) wanted.push_back(i);
        }
        for (std::size_t l = 0; l < n_lanes; ++l) {
            Lane& lane = lanes_[l];
            if (lane.done) continue;
            changes(lane.t, scores);
            lane.update(p_, *s_, lane.t, scores[l], rules[l],
                        s_->apart + p_.apart(changed.size(), weights[l]), slacks_[l]);
        }
        clear(double_.data(), changed);
        for (const std::int32_t i : wanted) admit(i);
    }

    // What many lanes at once do not settle; rows that it adds to the working ones stay for the lanes after
    // it.
    void finish_alone(std::size_t l, const StopFlag& stop) {
        const Indices& rows = working_.rows();
        const std::size_t before = rows.size();
        std::vector<double> alphas(before);
        for (std::size_t k = 0; k < before; ++k) alphas[k] = lane_alpha(rows[k], l);
        Lane& lane = lanes_[l];
        NewtonRetraining<T>(p_, *s_, lane.t, working_, std::move(alphas)).run(lane, stop);
        for (std::size_t k = before; k < rows.size(); ++k) begin_row(rows[k]);
    }

    const LeaveOneOut<T>& p_;
    const std::int64_t n_, d_;
    const double bias_;
    const Loops& loops_ = vector_loops();
    const LabelSolution* s_ = nullptr;
    std::vector<Lane> lanes_;
    WorkingRows working_;
    // delta, then v: features x 16
    AlignedBuffer<float> single_;
    AlignedBuffer<double> double_;
    AlignedBuffer<float> alpha_;
    std::vector<std::int8_t> signs_;
    std::array<SlacksOfShift, kLanes> slacks_;
    SolutionPath path_;
    std::vector<float> without_;
};

}  // namespace widemargin
