// Up to 16 labels of a logistic regression: passes that they share, and passes of each label alone. What is
// solved, and how, stands in linear/logistic.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "aligned.hpp"
#include "linear/logistic_dual.hpp"
#include "linear/threshold.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

// Predicts the gap after a pass from what the passes measured on the way: it falls by about the same factor
// in every pass, and a pass measures it in its middle, on average.
class GapForecast {
  public:
    double after(double measured) {
        const double factor = last_ > 0 ? std::min(std::sqrt(measured / last_), 1.0) : 1.0;
        last_ = measured;
        return measured * factor;
    }

  private:
    double last_ = 0;
};

// One label on its own.
struct LogisticLabel {
    std::int64_t label;
    LabelCosts costs;
    std::vector<double> u;  // n
    double v = 0;           // the bias weight, and S: linear/threshold.hpp
    double sum = 0;
    ThresholdRate rate;
    GapForecast forecast;
    double target = 0;  // the forecast of the relative gap at which a deciding pass is worth its time
    double smallest = std::numeric_limits<double>::infinity();  // forecast of the shared passes so far
    std::int64_t smallest_at = 0, passes = 0;
    double decided = std::numeric_limits<double>::infinity();  // the gap of the last deciding pass
    bool needs_more = true;                                    // passes, before a deciding one
    bool done = false, converged = false;

    LogisticLabel(std::int64_t label, const LabelCosts& costs) : label(label), costs(costs) {}
};

template <typename T>
class LogisticBlock {
  public:
    LogisticBlock(const SharedRows<T>& shared, const LogisticTask& task, const LogisticOptions& options,
                  const std::int64_t* labels, int n_labels)
        : shared_(shared), task_(task), options_(options), n_(shared.x.n_rows), d_(shared.x.n_columns) {
        for (int lane = 0; lane < n_labels; ++lane) {
            labels_.emplace_back(labels[lane], LabelCosts(task, labels[lane], n_, false));
            LogisticLabel& s = labels_.back();
            s.target = options.tol;
            const double cost = std::max(task.cost_positive[s.label], task.cost_negative[s.label]);
            s.rate = ThresholdRate(options.bias, shared.mean_squared_norm + kOwnCurvature / cost, n_);
        }
    }

    void solve(const StopFlag& stop) {
        double largest = 0;
        for (LogisticLabel& s : labels_) {
            s.u.assign(n_, kNoAlpha);
            for (std::int64_t i = 0; i < n_; ++i) {
                if (takes_part(s, i) && task_.start)
                    s.u[i] = margin_of_share(task_.start[s.label * n_ + i] / s.costs.cost(i));
                s.sum += options_.bias * s.costs.sign(i) * alpha(s, i);
                largest = std::max(largest, s.costs.cost(i) * (shared_.squared_norms[i] + squared_bias()));
            }
            s.v = s.sum;
        }
        if (task_.n_labels >= kFewestLabels && largest <= kLargestScale) descend_together(stop);
        while (!stop && !all_done()) {
            for (LogisticLabel& s : labels_) {
                if (s.needs_more && !s.done && !stop) descend_alone(s, stop);
            }
            if (!stop) decide(stop);
        }
    }

  private:
    // In a task of fewer labels the lanes are mostly empty, and a label alone is faster.
    static constexpr std::int64_t kFewestLabels = 3;
    // Single precision cannot tell smaller relative gaps; and it may stall before, at large costs.
    static constexpr double kSmallestSingleGap = 1e-5;
    static constexpr std::int64_t kPatience = 5;
    // A label that takes longer than most would keep 16 lanes busy with one; by itself a pass takes a fourth
    // of the time. Its own passes only: results must not depend on its neighbors.
    static constexpr std::int64_t kMostShared = 20;
    // The largest C_i q_i in single precision.
    static constexpr double kLargestScale = 1e6;
    // The threshold may follow the alphas faster where costs are small, since each alpha then depends less on
    // it. On Reuters, with C from 1 to 100, this takes fewer passes than any single theta.
    static constexpr double kOwnCurvature = 32;
    // A relative gap as large as what rounding leaves.
    static constexpr double kRounding = 1e-14;

    bool takes_part(const LogisticLabel& s, std::int64_t i) const {
        return s.costs.sign(i) != 0 && s.costs.cost(i) > 0;
    }
    double squared_bias() const { return options_.bias * options_.bias; }
    double alpha(const LogisticLabel& s, std::int64_t i) const {
        return takes_part(s, i) ? s.costs.cost(i) * sigmoid_of_negative(s.u[i]) : 0.0;
    }
    bool all_done() const {
        return std::all_of(labels_.begin(), labels_.end(), [](const LogisticLabel& s) { return s.done; });
    }

    // w = sum_i alpha_i y_i x_i of the labels in some lanes, free of what single precision or many updates
    // have left behind; (d + 1) x 16, S last.
    AlignedBuffer<double> gathered_weights(const std::vector<int>& lanes) const {
        AlignedBuffer<double> w((d_ + 1) * kLanes);
        double steps[kLanes] = {};
        for (std::int64_t i = 0; i < n_; ++i) {
            const Row<T> row = shared_.x.row(i);
            for (std::size_t k = 0; k < lanes.size(); ++k) {
                const LogisticLabel& s = labels_[lanes[k]];
                steps[k] = alpha(s, i) * s.costs.sign(i);
            }
            loops_.over<T>().add_lanes(row.indices, row.values, row.size, steps, w.data());
            for (int k = 0; k < kLanes; ++k) w[d_ * kLanes + k] += steps[k] * options_.bias;
        }
        return w;
    }

    void descend_together(const StopFlag& stop) {
        const int n_labels = static_cast<int>(labels_.size());
        AlignedBuffer<float> w((d_ + 1) * kLanes), u(n_ * kLanes);
        std::vector<std::int8_t> signs(n_ * kLanes, 0);
        for (int lane = 0; lane < n_labels; ++lane) {
            const LogisticLabel& s = labels_[lane];
            for (std::int64_t i = 0; i < n_; ++i) {
                signs[i * kLanes + lane] = takes_part(s, i) ? task_.signs[s.label * n_ + i] : 0;
                u[i * kLanes + lane] = static_cast<float>(s.u[i]);
            }
        }
        if (task_.start) {
            std::vector<int> lanes(n_labels);
            std::iota(lanes.begin(), lanes.end(), 0);
            const AlignedBuffer<double> exact = gathered_weights(lanes);  // here S is the bias weight
            for (std::int64_t j = 0; j < (d_ + 1) * kLanes; ++j) w[j] = static_cast<float>(exact[j]);
        }
        std::vector<std::int32_t> order = all_of(n_);
        LogisticPass pass{};
        pass.indptr = shared_.x.indptr;
        pass.indices = shared_.x.indices;
        pass.values = shared_.values32;
        pass.squared_norms = shared_.single_norms.data();
        pass.sample_weights = shared_.single_weights.empty() ? nullptr : shared_.single_weights.data();
        pass.bias_row = d_;
        pass.bias = static_cast<float>(options_.bias);
        pass.w = w.data();
        pass.u = u.data();
        pass.sign = signs.data();
        pass.rows = order.data();
        pass.n_rows = n_;
        for (int lane = 0; lane < n_labels; ++lane) {
            pass.theta[lane] = static_cast<float>(labels_[lane].rate.theta());
            pass.sum[lane] = static_cast<float>(labels_[lane].sum);
            pass.cost_positive[lane] = static_cast<float>(task_.cost_positive[labels_[lane].label]);
            pass.cost_negative[lane] = static_cast<float>(task_.cost_negative[labels_[lane].label]);
        }
        Random random(options_.seed);
        std::vector<bool> settled(n_labels, false);
        for (std::int64_t number = 1; number <= options_.max_passes && !stop; ++number) {
            // All rows in the same order, whatever the other labels of the block.
            random.shuffle(order);
            loops_.logistic_pass(pass);
            for (int lane = 0; lane < n_labels; ++lane) {
                if (settled[lane]) continue;
                labels_[lane].passes = number;
                if (!is_settled(pass, lane)) continue;
                settled[lane] = true;
                for (std::int64_t i = 0; i < n_; ++i) signs[i * kLanes + lane] = 0;
            }
            if (std::all_of(settled.begin(), settled.end(), [](bool b) { return b; })) break;
        }
        for (int lane = 0; lane < n_labels; ++lane) {
            for (std::int64_t i = 0; i < n_; ++i) labels_[lane].u[i] = u[i * kLanes + lane];
            labels_[lane].v = w[d_ * kLanes + lane];
        }
    }

    // After a shared pass: whether the label is finished with them. If not, sets its bias weight for the
    // next.
    bool is_settled(const LogisticPass& pass, int lane) {
        LogisticLabel& s = labels_[lane];
        const double v = pass.w[d_ * kLanes + lane], apart = pass.sum[lane] - v;
        const double primal = 0.5 * pass.squared_weights[lane] + pass.loss[lane];
        const double gap = pass.gap[lane] + 0.5 * apart * apart;
        const double value = s.forecast.after(gap / primal);
        if (value < s.smallest) {
            s.smallest = value;
            s.smallest_at = s.passes;
        }
        s.needs_more = value > s.target;
        if (!(value > std::max(s.target, kSmallestSingleGap)) || s.passes >= kMostShared ||
            s.passes - s.smallest_at >= kPatience)
            return true;
        pass.w[d_ * kLanes + lane] = static_cast<float>(s.rate.next(v, pass.sum[lane], gap));
        return false;
    }

    void descend_alone(LogisticLabel& s, const StopFlag& stop) {
        const double bias = options_.bias, theta = s.rate.theta();
        std::vector<double> w(d_, 0.0);
        std::vector<std::int32_t> active;
        s.sum = 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            if (!takes_part(s, i)) continue;
            active.push_back(static_cast<std::int32_t>(i));
            const double step = alpha(s, i) * s.costs.sign(i);
            shared_.x.row(i).axpy(step, w.data());
            s.sum += step * bias;
        }
        double squared_weights = std::inner_product(w.begin(), w.end(), w.begin(), 0.0);
        Random random(options_.seed + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(s.passes + 1));
        while (s.passes < options_.max_passes && !stop) {
            ++s.passes;
            random.shuffle(active);
            double slacks = 0, losses = 0;
            for (std::size_t k = 0; k < active.size(); ++k) {
                const std::int32_t i = active[k];
                if (k + 1 < active.size()) shared_.x.row(active[k + 1]).prefetch();
                const Row<T> row = shared_.x.row(i);
                const double y = s.costs.sign(i), cost = s.costs.cost(i), norm = shared_.squared_norms[i];
                const double own = y * row.dot(w.data()), m = own + y * bias * s.v;
                const double p = sigmoid_of_negative(s.u[i]);
                slacks += 0.5 * cost * (p - sigmoid_of_negative(m)) * (m - s.u[i]);
                losses += cost * logistic_loss(m);
                s.u[i] = logistic_step(m, s.u[i], p, cost * (norm + theta * squared_bias()));
                const double change = cost * (sigmoid_of_negative(s.u[i]) - p);
                squared_weights += change * (2 * own + norm * change);
                row.axpy(change * y, w.data());
                s.sum += change * y * bias;
                s.v += theta * change * y * bias;
            }
            const double apart = s.sum - s.v, gap = slacks + 0.5 * apart * apart;
            const double primal = 0.5 * (squared_weights + s.v * s.v) + losses;
            if (!(s.forecast.after(primal > 0 ? gap / primal : 0.0) > s.target)) return;
            s.v = s.rate.next(s.v, s.sum, gap);
        }
    }

    // The exact gaps of all unfinished labels: their weights are gathered again, and all examples scored.
    void decide(const StopFlag& stop) {
        std::vector<int> open;
        for (std::size_t lane = 0; lane < labels_.size(); ++lane) {
            if (!labels_[lane].done) open.push_back(static_cast<int>(lane));
        }
        const AlignedBuffer<double> w = gathered_weights(open);
        double slacks[kLanes] = {}, objectives[kLanes] = {}, scores[kLanes];
        for (std::int64_t j = 0; j < d_; ++j) {
            for (int k = 0; k < kLanes; ++k) objectives[k] += 0.5 * w[j * kLanes + k] * w[j * kLanes + k];
        }
        for (std::size_t k = 0; k < open.size(); ++k) {
            const double v = labels_[open[k]].v, apart = w[d_ * kLanes + k] - v;
            objectives[k] += 0.5 * v * v;
            slacks[k] = 0.5 * apart * apart;
        }
        for (std::int64_t i = 0; i < n_; ++i) {
            if ((i & 255) == 0 && stop) return;
            const Row<T> row = shared_.x.row(i), next = shared_.x.row(std::min(i + 1, n_ - 1));
            loops_.over<T>().score_row(row.indices, row.values, row.size, {next.indices, next.size}, w.data(),
                                       kLanes, kNoIntercept, kLanes, scores);
            for (std::size_t k = 0; k < open.size(); ++k) {
                const LogisticLabel& s = labels_[open[k]];
                if (!takes_part(s, i)) continue;
                const double m = s.costs.sign(i) * (scores[k] + options_.bias * s.v);
                const double loss = logistic_loss(m);
                objectives[k] += s.costs.cost(i) * loss;
                slacks[k] += s.costs.cost(i) * logistic_slack(m, loss, s.u[i]);
                task_.xi[s.label * n_ + i] = std::max(0.0, 1 - m);
            }
        }
        std::vector<int> finished;
        for (std::size_t k = 0; k < open.size(); ++k) {
            LogisticLabel& s = labels_[open[k]];
            s.converged = slacks[k] <= options_.tol * objectives[k];
            // Passes that do not halve the gap any more only move rounding errors.
            const bool exhausted = !(slacks[k] < 0.5 * s.decided);
            if (exhausted && slacks[k] <= kRounding * objectives[k]) s.converged = true;
            s.decided = slacks[k];
            s.done = s.converged || s.passes >= options_.max_passes || !std::isfinite(slacks[k]);
            s.needs_more = !s.done;
            if (s.done) {
                finished.push_back(static_cast<int>(k));
                finish(s, objectives[k], slacks[k]);
            } else {
                s.target *= 0.5;  // the forecast was too hopeful
            }
        }
        for (std::int64_t j = 0; j < d_; ++j) {
            const double* const from = w.data() + shared_.column_of[j] * kLanes;
            for (const int k : finished) task_.coef[j * task_.n_labels + labels_[open[k]].label] = from[k];
        }
    }

    void finish(LogisticLabel& s, double objective, double gap) {
        const std::int64_t l = s.label;
        task_.intercept[l] = options_.bias * s.v;
        for (std::int64_t i = 0; i < n_; ++i) task_.alpha[l * n_ + i] = alpha(s, i);
        task_.objective[l] = objective;
        task_.gap[l] = gap;
        task_.passes[l] = s.passes;
        task_.converged[l] = s.converged;
        s.u = {};
        count_up(task_.labels_done, 1);
    }

    const SharedRows<T>& shared_;
    const LogisticTask& task_;
    const LogisticOptions& options_;
    const std::int64_t n_, d_;
    const Loops& loops_ = vector_loops();
    std::vector<LogisticLabel> labels_;
};

}  // namespace widemargin
