// Up to 16 labels trained together: passes that they share, and passes of each label alone. What is solved,
// and how, stands in linear/dual_cd.hpp. `Rows` says how a label sees the rows: linear/label_rows.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "aligned.hpp"
#include "linear/descent_limits.hpp"
#include "linear/label_rows.hpp"
#include "linear/linear_svm_dual.hpp"
#include "linear/threshold.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

// One label on its own, in double precision.
template <class Rows>
struct LabelState {
    std::int64_t label;
    LinearSvmDual problem;
    Rows rows;
    std::vector<double> w;      // renumbered columns, then the bias weight
    std::vector<double> alpha;  // n
    double sum = 0;             // S of linear/threshold.hpp
    ThresholdRate rate;
    std::vector<std::int32_t> active;
    double shrink_above = std::numeric_limits<double>::infinity();
    double shrink_below = -std::numeric_limits<double>::infinity();
    double target = 0;  // the estimate of the relative gap at which a deciding pass is worth its time
    double smallest = std::numeric_limits<double>::infinity();  // gap or spread of the shared passes so far
    std::int64_t smallest_at = 0, passes = 0;
    bool done = false, converged = false;

    LabelState(std::int64_t label, const LinearSvmDual& problem, Rows rows)
        : label(label), problem(problem), rows(std::move(rows)) {}
};

template <class Rows>
class LabelBlock {
    using T = typename Rows::Value;
    using State = LabelState<Rows>;

  public:
    // rows: as each of the labels sees them
    LabelBlock(const SharedRows<T>& shared, const LinearSvmTask& task, const LinearSvmOptions& options,
               const std::int64_t* labels, std::vector<Rows> rows)
        : shared_(shared), task_(task), options_(options), n_(shared.x.n_rows), d_(shared.x.n_columns) {
        for (std::size_t lane = 0; lane < rows.size(); ++lane) {
            states_.emplace_back(labels[lane], LinearSvmDual(task, options.squared_loss, n_, labels[lane]),
                                 std::move(rows[lane]));
            State& state = states_.back();
            state.target = kEstimateExcess * options.tol;
            if (!options.stop_on_gap || state.problem.hard()) continue;
            const double curvature = state.rows.mean_squared_norm() + state.problem.smallest_diagonal();
            state.rate = ThresholdRate(options.bias, curvature, n_);
        }
    }

    void solve(const StopFlag& stop) {
        for (State& state : states_) {
            state.alpha.assign(n_, 0.0);
            if (!task_.start) continue;
            for (std::int64_t i = 0; i < n_; ++i) {
                const double given = task_.start[state.label * n_ + i];
                state.alpha[i] = std::min(std::max(given, 0.0), state.problem.upper(i));
            }
        }
        if (task_.n_labels >= kFewestLabels && !states_[0].problem.hard()) {
            descend_together(stop);
        } else {
            for (State& state : states_) gather_weights(state);
        }
        do {
            for (State& state : states_) {
                if (!state.active.empty() && !stop) descend_alone(state, stop);
            }
            if (!stop) decide(stop);
        } while (!stop && std::any_of(states_.begin(), states_.end(), [](auto& s) { return !s.done; }));
        if (stop) return;
        for (std::int64_t j = 0; j < d_; ++j) {
            double* const row = task_.coef + j * task_.n_labels;
            const std::int64_t column = shared_.column_of[j];
            for (const State& state : states_) row[state.label] = state.w[column];
        }
    }

  private:
    // The weights of the alphas, free of what single precision or many updates have left behind.
    void gather_weights(State& s) {
        s.w.assign(d_ + 1, 0.0);
        for (std::int64_t i = 0; i < n_; ++i) {
            if (s.alpha[i] == 0) continue;
            s.rows.add(i, s.alpha[i] * s.problem.sign(i), s.w.data());
            s.w[d_] += s.alpha[i] * s.problem.sign(i) * options_.bias;
        }
        s.sum = s.w[d_];
    }

    void descend_together(const StopFlag& stop) {
        const int n_labels = static_cast<int>(states_.size());
        constexpr std::int64_t kStride = Rows::kStride;
        AlignedBuffer<float> w((d_ + 1) * kStride), alpha(n_ * kLanes),
            scales(Rows::kFactors ? n_ * kLanes : 0);
        std::vector<std::int8_t> signs(n_ * kLanes, 0);
        for (int lane = 0; lane < n_labels; ++lane) {
            State& s = states_[lane];
            if (task_.start) gather_weights(s);
            for (std::int64_t i = 0; i < n_; ++i) {
                // An example of cost 0 takes no part: its alpha is and stays 0.
                signs[i * kLanes + lane] = s.problem.upper(i) > 0 ? task_.signs[s.label * n_ + i] : 0;
                alpha[i * kLanes + lane] = static_cast<float>(s.alpha[i]);
            }
            for (std::size_t j = 0; j < s.w.size(); ++j) w[j * kStride + lane] = static_cast<float>(s.w[j]);
            s.rows.fill_lane(lane, w.data(), scales.data());
        }
        // All rows are shuffled, whether visited or not: the order must not depend on the other labels of the
        // block.
        std::vector<std::int32_t> order(n_), rows(n_);
        std::iota(order.begin(), order.end(), 0);

        LanePass pass = pass_over(shared_, options_.bias, options_.squared_loss);
        pass.w = w.data();
        pass.scales = Rows::kFactors ? scales.data() : nullptr;
        pass.alpha = alpha.data();
        pass.sign = signs.data();
        for (int lane = 0; lane < kLanes; ++lane) {
            const bool used = lane < n_labels;
            pass.sum[lane] = used ? static_cast<float>(states_[lane].sum) : 0.0f;
            pass.theta[lane] = used ? static_cast<float>(states_[lane].rate.theta()) : 1.0f;
            pass.cost_positive[lane] =
                used ? static_cast<float>(task_.cost_positive[states_[lane].label]) : 1.0f;
            pass.cost_negative[lane] =
                used ? static_cast<float>(task_.cost_negative[states_[lane].label]) : 1.0f;
        }
        const auto is_active = [&](std::int32_t i) { return is_in_a_lane(signs.data(), i); };
        Random random(options_.seed);
        std::vector<bool> settled(n_labels, false);
        for (std::int64_t pass_number = 1; pass_number <= options_.max_passes && !stop; ++pass_number) {
            random.shuffle(order);
            pass.rows = rows.data();
            pass.n_rows = std::copy_if(order.begin(), order.end(), rows.begin(), is_active) - rows.begin();
            loops_.pass(pass);
            const LaneSums sums = loops_.sum(pass, n_);
            for (int lane = 0; lane < n_labels; ++lane) {
                if (settled[lane]) continue;
                states_[lane].passes = pass_number;
                shrink_lane(pass, lane);
                if (lane_is_settled(pass, sums, lane)) {
                    settled[lane] = true;
                    for (std::int64_t i = 0; i < n_; ++i) signs[i * kLanes + lane] = 0;
                }
            }
            if (std::all_of(settled.begin(), settled.end(), [](bool b) { return b; })) break;
        }
        for (int lane = 0; lane < n_labels; ++lane) {
            State& s = states_[lane];
            for (std::int64_t i = 0; i < n_; ++i) {
                // float(C) may round above C
                s.alpha[i] = std::min<double>(alpha[i * kLanes + lane], s.problem.upper(i));
                if (alpha[i * kLanes + lane] >= pass_upper(pass, s, lane, i)) s.alpha[i] = s.problem.upper(i);
            }
            gather_weights(s);
            if (s.rate.theta() < 1) s.w[d_] = w[d_ * kStride + lane];
            s.shrink_above = pass.shrink_above[lane];
            s.shrink_below = pass.shrink_below[lane];
        }
    }

    // The bound of alpha as single precision saw it: an alpha that reached it belongs at the exact bound.
    float pass_upper(const LanePass& pass, const State& s, int lane, std::int64_t i) const {
        if (options_.squared_loss) return std::numeric_limits<float>::infinity();
        const float c = s.problem.sign(i) > 0 ? pass.cost_positive[lane] : pass.cost_negative[lane];
        return pass.sample_weights ? c * pass.sample_weights[i] : c;
    }

    // After a shared pass: sets the label's bias weight for the next one. Whether the label is finished with
    // shared passes, since its gap is small or because it has few active examples; these are then collected.
    bool lane_is_settled(const LanePass& pass, const LaneSums& sums, int lane) {
        State& s = states_[lane];
        double value = spread(pass.pg_max[lane], pass.pg_min[lane]),
               goal = std::max(options_.tol, kSmallestSingleSpread);
        if (options_.stop_on_gap) {
            // P = D + gap. With the squared loss no example is left out at an upper bound, and P needs no
            // costs.
            float& bias_weight = pass.w[d_ * Rows::kStride + lane];
            const double half = 0.5 * sums.squared_weights[lane], v = bias_weight;
            const double apart = pass.sum[lane] - v, gap = pass.gap[lane] + 0.5 * apart * apart;
            const double primal = options_.squared_loss
                                      ? half + pass.loss[lane]
                                      : sums.alpha[lane] - half - v * apart + pass.gap[lane];
            bias_weight = static_cast<float>(s.rate.next(v, pass.sum[lane], gap));
            value = gap / primal;
            goal = std::max(s.target, kSmallestSingleGap);
        }
        if (value < s.smallest) {
            s.smallest = value;
            s.smallest_at = s.passes;
        }
        if (!(value > goal) || s.passes - s.smallest_at >= kPatience) return true;
        const bool alone = sums.active[lane] < kAloneShare * n_;
        for (std::int64_t i = 0; alone && i < n_; ++i) {
            if (pass.sign[i * kLanes + lane] != 0) s.active.push_back(static_cast<std::int32_t>(i));
        }
        return alone;
    }

    void descend_alone(State& s, const StopFlag& stop) {
        Random random(options_.seed + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(s.passes + 1));
        // w.w and D without the bias feature
        double squared_weights = s.rows.squared_weights(s.w, d_);
        double d_value = s.problem.objective(s.alpha, squared_weights);
        double* const w = s.w.data();
        const double bias = options_.bias;
        while (s.passes < options_.max_passes && !stop) {
            ++s.passes;
            random.shuffle(s.active);
            double slacks = 0, smallest_margin = std::numeric_limits<double>::infinity();
            double pg_max = -std::numeric_limits<double>::infinity(), pg_min = -pg_max;
            std::size_t kept = 0;
            const double theta = s.rate.theta(), more = theta * bias * bias;
            for (std::size_t k = 0; k < s.active.size(); ++k) {
                const std::int32_t i = s.active[k];
                if (k + 1 < s.active.size()) shared_.x.row(s.active[k + 1]).prefetch();
                const double y = s.problem.sign(i), u = s.problem.upper(i), dd = s.problem.diagonal(i);
                double& a = s.alpha[i];
                const double own = y * s.rows.dot(i, w), margin = own + y * bias * w[d_];
                const double g = margin - 1 + dd * a;
                slacks += slack_of(margin - 1, a, s.problem.cost(i), options_.squared_loss);
                smallest_margin = std::min(smallest_margin, margin);
                double pg = g;
                if (a <= 0) {
                    if (g > s.shrink_above) continue;
                    pg = std::min(g, 0.0);
                } else if (a >= u) {
                    if (g < s.shrink_below) continue;
                    pg = std::max(g, 0.0);
                }
                s.active[kept++] = i;
                pg_max = std::max(pg_max, pg);
                pg_min = std::min(pg_min, pg);
                if (pg == 0) continue;
                const double norm = s.rows.squared_norm(i), q = norm + dd + more;
                const double moved = q > 0 ? std::min(std::max(a - kRelaxation * g / q, 0.0), u) : u;
                const double delta = moved - a;
                if (delta == 0) continue;
                d_value -= delta * (own - 1 + dd * a + 0.5 * (norm + dd) * delta);
                squared_weights += delta * (2 * own + norm * delta);
                a = moved;
                s.rows.add(i, delta * y, w);
                s.sum += delta * y * bias;
                w[d_] += theta * delta * y * bias;
            }
            s.active.resize(kept);
            const double apart = s.sum - w[d_], bias_weight = w[d_];
            slacks += 0.5 * apart * apart;
            w[d_] = s.rate.next(bias_weight, s.sum, slacks);
            if (kept == 0) return;
            s.shrink_above = pg_max > 0 ? pg_max : std::numeric_limits<double>::infinity();
            s.shrink_below = pg_min < 0 ? pg_min : -std::numeric_limits<double>::infinity();
            double primal, gap;
            const double relative =
                s.problem.relative_gap(slacks, smallest_margin, d_value - 0.5 * s.sum * s.sum,
                                       squared_weights + bias_weight * bias_weight, &primal, &gap);
            if ((options_.stop_on_gap ? relative : spread(pg_max, pg_min)) <= s.target) return;
        }
    }

    // One pass over all examples for all unfinished labels: exact gaps, slacks, and the new active sets.
    void decide(const StopFlag& stop) {
        const int n_labels = static_cast<int>(states_.size());
        std::vector<int> open;
        for (int lane = 0; lane < n_labels; ++lane) {
            if (!states_[lane].done) open.push_back(lane);
        }
        for (const int lane : open) {
            State& s = states_[lane];
            s.sum = balance_threshold(s.rows, n_, s.problem, options_.bias, s.sum, s.alpha, s.w);
            s.active.clear();
        }
        // Fewer lanes for the last few labels: a lane's sum is the same in any width.
        const int width = open.size() <= 4 ? 4 : open.size() <= 8 ? 8 : kLanes;
        AlignedBuffer<double> lanes(d_ * width);
        for (std::size_t o = 0; o < open.size(); ++o) {
            const std::vector<double>& w = states_[open[o]].w;
            for (std::int64_t j = 0; j < d_; ++j) lanes[j * width + o] = w[j];
        }
        std::vector<double> slacks(open.size(), 0.0), pg_max(open.size(), -infinity()),
            pg_min(open.size(), infinity()), smallest_margin(open.size(), infinity());
        double scores[kLanes];
        for (std::int64_t i = 0; i < n_; ++i) {
            if ((i & 255) == 0 && stop) return;
            const Row<T> row = shared_.x.row(i);
            const Row<T> next = shared_.x.row(std::min(i + 1, n_ - 1));
            loops_.over<T>().score_row(row.indices, row.values, row.size, {next.indices, next.size},
                                       lanes.data(), width, kNoIntercept, width, scores);
            for (std::size_t o = 0; o < open.size(); ++o) {
                State& s = states_[open[o]];
                const double u = s.problem.upper(i), a = s.alpha[i];
                const double score = s.rows.scaled(i, scores[o]) + options_.bias * s.w[d_];
                const double margin = s.problem.sign(i) * score;
                task_.xi[s.label * n_ + i] = std::max(0.0, 1 - margin);
                if (u <= 0) continue;
                const double g = margin - 1 + s.problem.diagonal(i) * a;
                slacks[o] += slack_of(margin - 1, a, s.problem.cost(i), options_.squared_loss);
                smallest_margin[o] = std::min(smallest_margin[o], margin);
                const double pg = a <= 0 ? std::min(g, 0.0) : (a >= u ? std::max(g, 0.0) : g);
                pg_max[o] = std::max(pg_max[o], pg);
                pg_min[o] = std::min(pg_min[o], pg);
                const bool idle = (a <= 0 && g > s.shrink_above) || (a >= u && g < s.shrink_below);
                if (!idle) s.active.push_back(static_cast<std::int32_t>(i));
            }
        }
        for (std::size_t o = 0; o < open.size(); ++o) {
            State& s = states_[open[o]];
            double primal, gap;
            const double squared_weights = s.rows.squared_weights(s.w, d_ + 1);
            const double d_value = s.problem.objective(s.alpha, squared_weights);
            const double relative = s.problem.relative_gap(slacks[o], smallest_margin[o], d_value,
                                                           squared_weights, &primal, &gap);
            s.converged = options_.stop_on_gap ? relative <= options_.tol
                                               : spread(pg_max[o], pg_min[o]) <= options_.tol;
            s.done = s.converged || s.passes >= options_.max_passes || s.active.empty();
            if (s.done) {
                finish(s, primal, gap);
            } else {
                s.target *= kMoreCareful;  // the estimate was too hopeful
            }
        }
    }

    void finish(State& s, double primal, double gap) {
        const std::int64_t l = s.label;
        task_.intercept[l] = options_.bias * s.w[d_];
        std::copy(s.alpha.begin(), s.alpha.end(), task_.alpha + l * n_);
        task_.objective[l] = primal;
        task_.gap[l] = std::max(gap, 0.0);
        task_.passes[l] = s.passes;
        task_.converged[l] = s.converged;
        s.alpha = {};
        s.active = {};
        count_up(task_.labels_done, 1);
    }

    // Zero belongs to it: at the start all gradients are -1, which is no solution.
    static double spread(double pg_max, double pg_min) {
        return std::max(pg_max, 0.0) - std::min(pg_min, 0.0);
    }
    static constexpr double infinity() { return std::numeric_limits<double>::infinity(); }

    const SharedRows<T>& shared_;
    const LinearSvmTask& task_;
    const LinearSvmOptions& options_;
    const std::int64_t n_, d_;
    const Loops& loops_ = vector_loops();
    std::vector<State> states_;
};

}  // namespace widemargin
