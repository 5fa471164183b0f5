// Large-margin duals, solved by updating one variable at a time: the SVM, and Winnow with and without
// normalization.
//
// T. Zhang, "Large Margin Winnow Methods for Text Categorization", section 2. For each label, with y_i = +1
// or -1, costs C_i and rows x_i (with a constant bias feature of size B), over 0 <= alpha_i <= C_i:
//
//   SVM       max  sum_i alpha_i - 1/2 w.w            w = v,         v = sum_i alpha_i y_i x_i
//   LM-UWin   max  sum_i alpha_i - Z                  w = 2 mu sinh(v), Z = sum_j 2 mu cosh(v_j)
//   LM-NWin   max  sum_i alpha_i - W ln Z             w = 2 mu sinh(v) W / Z
//
// (balanced; online/log_weights.hpp has the positive form). An example is visited with
//
//   alpha_i <- clip(alpha_i + eta (1 - y_i w.x_i), 0, C_i)
//
// with a fixed eta, which may overshoot and decrease the dual, or with the Newton step for this variable, 1 /
// -D'':
//   SVM  1 / x.x    LM-UWin  1 / sum_j s_j x_j^2    LM-NWin  1 / (W/Z sum_j s_j x_j^2 - (w.x)^2 / W),
// s_j = 2 mu cosh(v_j). For the SVM it is the exact maximum; the others are halved until the dual does not
// decrease.
//
// C = infinity is the hard margin (online/hard_margin.hpp).
//
// Stopping: after a pass that changes nothing; if the duality gap, which for all three is sum_i C_i max(0, 1
// - y_i w.x_i) - alpha_i (1 - y_i w.x_i), is at most tol times the primal objective (the relative entropy, or
// 1/2 w.w, plus the slacks, all counted from the start); or after max_passes.
//
// Inputs and outputs: DualTask (online/dual_task.hpp). State is written only when all labels have finished.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "aligned.hpp"
#include "online/dual_task.hpp"
#include "online/hard_margin.hpp"
#include "online/log_weights.hpp"
#include "online/state_blocks.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace widemargin {

template <typename T>
class DualBlock {
  public:
    DualBlock(const ActiveFeatures<T>& active, const RowSizes& sizes, const DualTask& task,
              const DualOptions& options, const LabelRange& range)
        : active_(active),
          squared_norms_(sizes.squared_norms),
          limits_(sizes.limits),
          task_(task),
          options_(options),
          range_(range),
          n_(active.rows.n_rows),
          w_(Layout::kScored, active, range, task.weights, task.from_start && range.n_labels == 1),
          v_(Layout::kSideBySide, active, range, task.logs, task.from_start && range.n_labels == 1),
          alpha_(std::size_t(n_) * range.count),
          signs_(signs_by_lane(range, task.signs, n_, task.first_row)),
          score_(range) {
        if (!options.additive) {
            winnow_ = std::make_unique<LogWeights>(options, range, active.features,
                                                   active.n_columns + (options.bias > 0), task, v_, w_);
            for (int lane = 0; lane < range.count; ++lane) {
                start_normalizer_[lane] = winnow_->normalizer(lane);
            }
        }
        for (int lane = 0; lane < range_.count; ++lane)
            hard_[lane] = has_hard_margin(task, range_.first + lane);
    }

    void run(const StopFlag& stop) {
        Indices order = all_of(n_);
        Random random(options_.seed);
        std::int64_t visits = 0;
        for (std::int64_t pass = 1; pass <= options_.max_passes; ++pass) {
            if (options_.shuffle) random.shuffle(order);
            std::fill(moves_, moves_ + kLanes, 0);
            std::fill(slack_, slack_ + kLanes, 0.0);
            std::fill(margin_, margin_ + kLanes, 1.0);
            for (const std::int32_t i : order) {
                if ((++visits & 255) == 0 && stop) return;
                visit(i);
            }
            if (task_.from_start && !options_.additive && pass % 16 == 0) refresh_normalizers();
            bool again = false;
            for (int lane = 0; lane < range_.count; ++lane) {
                if (finished_[lane] || impossible_[lane]) continue;
                passes_[lane] = pass;
                finished_[lane] = moves_[lane] == 0;
            }
            if (options_.tol > 0 && worth_a_test()) test_gaps();
            for (int lane = 0; lane < range_.count; ++lane) {
                if (hard_[lane] && !finished_[lane]) impossible_[lane] = exceeds_every_entropy(lane);
                const bool ends = finished_[lane] || impossible_[lane];
                if (ends) retire(lane);
                again |= !ends;
            }
            if (!again) break;
        }
        require_finite(w_, range_);
        if (task_.from_start) measure();
    }

    void write_back() {
        w_.write_back();
        v_.write_back();
        if (winnow_) winnow_->write_back(task_);
        for (int lane = 0; lane < range_.count; ++lane) {
            const std::int64_t label = range_.first + lane;
            for (std::int64_t i = 0; i < n_; ++i)
                task_.alpha[label * n_ + i] = alpha_[i * range_.count + lane];
            task_.objective[label] = objective_[lane];
            task_.gap[label] = gap_[lane];
            task_.margin[label] = margin_[lane];
            task_.passes[label] = passes_[lane];
            task_.converged[label] = finished_[lane];
            task_.overshoots[label] = overshoots_[lane];
        }
    }

  private:
    double scale(int lane) const { return winnow_ ? winnow_->scale(lane) : 1.0; }

    double cost(std::int64_t i, int lane, bool positive) const {
        const double c = (positive ? task_.cost_positive : task_.cost_negative)[range_.first + lane];
        if (!task_.sample_weights) return c;
        // Without weight an example takes no part, even where errors cost infinitely much.
        return task_.sample_weights[i] > 0 ? c * task_.sample_weights[i] : 0.0;
    }

    void score(std::int64_t i, double* scores) const {
        score_(active_.rows.row(i), w_, scores);
        if (options_.bias > 0) {
            for (int lane = 0; lane < range_.count; ++lane) {
                scores[lane] += options_.bias * w_(active_.bias_row, lane);
            }
        }
    }

    void visit(std::int64_t i) {
        double scores[kLanes];
        score(i, scores);
        if (task_.scores) {
            double* const out = task_.scores + i * range_.n_labels + range_.first;
            for (int lane = 0; lane < range_.count; ++lane) out[lane] = scores[lane] * scale(lane);
        }
        const std::int8_t* const sign = signs_.data() + i * range_.count;
        for (int lane = 0; lane < range_.count; ++lane) {
            if (sign[lane] == 0) continue;
            const double y = sign[lane];
            const double g = 1 - y * scores[lane] * scale(lane);
            double& alpha = alpha_[i * range_.count + lane];
            if (g <= 0 && alpha <= 0) continue;
            const double cost = this->cost(i, lane, y > 0), C = std::isinf(cost) ? limits_[i] : cost;
            if (cost > 0) margin_[lane] = std::min(margin_[lane], 1 - g);
            if (g >= 0 && alpha >= C) continue;
            slack_[lane] += share_of_gap(g, alpha, cost);
            const double wanted = options_.eta > 0 ? options_.eta * g : newton_step(i, lane, g);
            double change = std::clamp(alpha + wanted, 0.0, C) - alpha;
            if (options_.eta <= 0 && winnow_) change = capped(i, lane, y, change);
            if (change == 0) continue;
            // The dual changes by change * g - change^2 x.x / 2.
            if (options_.additive && std::fabs(change) * squared_norms_[i] > 2 * std::fabs(g)) {
                ++overshoots_[lane];
            }
            ++moves_[lane];
            alpha += change;
            add(i, lane, y * change);
        }
    }

    // v += change * x_i
    void add(std::int64_t i, int lane, double change) {
        const Row<T> row = active_.rows.row(i);
        if (winnow_) {
            winnow_->add(row, lane, change);
            if (options_.bias > 0) winnow_->add(active_.bias_row, lane, LogStep(change * options_.bias));
        } else {
            for (std::int64_t k = 0; k < row.size; ++k) {
                w_(row.indices[k], lane) += change * double(row.values[k]);
            }
            if (options_.bias > 0) {
                w_(active_.bias_row, lane) += change * options_.bias;
            }
        }
    }

    template <class Visit>
    void for_each_value(std::int64_t i, Visit&& visit_value) const {
        const Row<T> row = active_.rows.row(i);
        for (std::int64_t k = 0; k < row.size; ++k) {
            visit_value(row.indices[k], double(row.values[k]));
        }
        if (options_.bias > 0) visit_value(active_.bias_row, options_.bias);
    }

    double newton_step(std::int64_t i, int lane, double g) const {
        double curvature = squared_norms_.empty() ? 0.0 : squared_norms_[i];
        if (winnow_) {
            for_each_value(i, [&](std::int64_t at_row, double x) {
                curvature += winnow_->size(at_row, w_(at_row, lane), lane) * x * x;
            });
            curvature *= scale(lane);
            if (options_.normalized) curvature -= (1 - g) * (1 - g) / options_.total;
        }
        // Without curvature (an empty document), the dual is linear in alpha: step to the bound.
        return curvature > 0 ? g / curvature : std::copysign(std::numeric_limits<double>::infinity(), g);
    }

    // The change, halved until it does not decrease the dual.
    double capped(std::int64_t i, int lane, double y, double change) const {
        for (int halvings = 0; halvings < 64 && change != 0; ++halvings, change /= 2) {
            double touched = 0;  // the part of Z that changes
            const double growth = growth_of_sizes(i, lane, y * change, &touched);
            double fall = growth;
            if (options_.normalized) {
                const double relative = growth / winnow_->normalizer(lane);
                if (!(relative > kSmallestShare - 1)) continue;  // only rounding would be left of Z
                fall = options_.total * std::log1p(relative);
            }
            const double noise = 1e-15 * (std::fabs(change) + scale(lane) * touched);
            if (change - fall >= -noise) return change;
        }
        return 0.0;
    }

    // The increase of Z if v increases by change * x_i.
    double growth_of_sizes(std::int64_t i, int lane, double change, double* touched) const {
        double growth = 0;
        double x_before = 0, up = 0, cosh_less_one = 0, sinh = 0;
        for_each_value(i, [&](std::int64_t at_row, double x) {
            const double w = w_(at_row, lane);
            const double s = winnow_->size(at_row, w, lane);
            *touched += s;
            if (!(std::fabs(change * x) < 1)) {  // the formula below would cancel
                growth += winnow_->size_after(at_row, lane, change * x) - s;
                return;
            }
            if (x != x_before) {  // equal values need only one exponential
                up = std::expm1(change * x);
                const double down = -up / (1 + up);  // exp(-change x) - 1
                cosh_less_one = 0.5 * (up + down);
                sinh = 0.5 * (up - down);
                x_before = x;
            }
            growth += options_.balanced ? cosh_less_one * s + sinh * w : up * s;
        });
        return growth;
    }

    // Recomputes Z and the weights from v, which removes the rounding errors of many small changes.
    void refresh_normalizers() {
        for (int lane = 0; lane < range_.count; ++lane) winnow_->renew(lane);
    }

    double sum_of_alphas(int lane) const {
        double sum = 0;
        for (std::int64_t i = 0; i < n_; ++i) sum += alpha_[i * range_.count + lane];
        return sum;
    }

    // The dual objective, and the offset to add to it and to the primal one to count from the start.
    double dual(int lane, double* offset) const {
        const double sum = sum_of_alphas(lane);
        *offset = 0;
        if (!winnow_) {
            double ww = 0;
            for (std::int64_t row = 0; row < active_.size(); ++row) {
                const double w = w_(row, lane);
                ww += w * w;
            }
            return sum - 0.5 * ww;
        }
        const double Z = winnow_->normalizer(lane), W = options_.total;
        if (!options_.normalized) {
            *offset = start_normalizer_[lane];
            return sum - Z;
        }
        *offset = W - W * std::log(W) + W * std::log(start_normalizer_[lane]);
        return sum - W * (std::log(Z) + winnow_->shift(lane)) + W * std::log(W) - W;
    }

    // Whether weights with these slacks and this smallest margin are good enough.
    bool small(double slacks, double margin, int lane) const {
        if (hard_[lane] && margin < 1 - options_.tol) return false;
        double offset;
        const double primal = dual(lane, &offset) + slacks;
        return gap_of(slacks, margin, lane) <= options_.tol * (primal + offset);
    }

    double gap_of(double slacks, double margin, int lane) const {
        return hard_[lane] ? slacks + (1 - margin) * sum_of_alphas(lane) : slacks;
    }

    // Whether the dual of normalized weights shows that none separate the examples.
    bool exceeds_every_entropy(int lane) const {
        if (!options_.normalized || !winnow_) return false;
        double offset;
        const double value = dual(lane, &offset) + offset;
        return value > options_.total * (std::log(start_normalizer_[lane] / options_.least_mu) + 1e-9);
    }

    // Whether the gap of some label, as estimated during the pass, is small enough to be computed exactly.
    bool worth_a_test() const {
        for (int lane = 0; lane < range_.count; ++lane)
            if (!finished_[lane] && small(slack_[lane], margin_[lane], lane)) return true;
        return false;
    }

    void test_gaps() {
        double slacks[kLanes], margins[kLanes];
        exact_slacks(slacks, margins);
        for (int lane = 0; lane < range_.count; ++lane) {
            if (!finished_[lane]) finished_[lane] = small(slacks[lane], margins[lane], lane);
        }
    }

    // The sum of share_of_gap, and the smallest margin of the examples that cost something, at most 1.
    void exact_slacks(double* slacks, double* margins) const {
        std::fill(slacks, slacks + kLanes, 0.0);
        std::fill(margins, margins + kLanes, 1.0);
        double scores[kLanes];
        for (std::int64_t i = 0; i < n_; ++i) {
            score(i, scores);
            for (int lane = 0; lane < range_.count; ++lane) {
                const bool positive = task_.signs[(range_.first + lane) * n_ + i] > 0;
                const double g = 1 - (positive ? 1 : -1) * scores[lane] * scale(lane);
                const double cost = this->cost(i, lane, positive);
                slacks[lane] += share_of_gap(g, alpha_[i * range_.count + lane], cost);
                if (cost > 0) margins[lane] = std::min(margins[lane], 1 - g);
            }
        }
    }

    void measure() {
        if (winnow_) refresh_normalizers();
        double slacks[kLanes];
        exact_slacks(slacks, margin_);
        double offset;
        for (int lane = 0; lane < range_.count; ++lane) {
            if (!hard_[lane]) slacks[lane] = std::max(slacks[lane], 0.0);
            gap_[lane] = std::max(gap_of(slacks[lane], margin_[lane], lane), 0.0);
            objective_[lane] = dual(lane, &offset) + slacks[lane];
            if (hard_[lane] && margin_[lane] <= 0) gap_[lane] = objective_[lane] = kNoMargin;
        }
    }

    void retire(int lane) {
        for (std::int64_t i = 0; i < n_; ++i) signs_[i * range_.count + lane] = 0;
    }

    const ActiveFeatures<T>& active_;
    const std::vector<double>& squared_norms_;
    const std::vector<double>& limits_;
    const DualTask& task_;
    const DualOptions& options_;
    const LabelRange range_;
    const std::int64_t n_;
    Cells<double> w_, v_;
    AlignedBuffer<double> alpha_;
    std::vector<std::int8_t> signs_;
    BlockScores<T> score_;
    std::unique_ptr<LogWeights> winnow_;
    double start_normalizer_[kLanes] = {};
    double slack_[kLanes] = {}, margin_[kLanes] = {}, gap_[kLanes] = {}, objective_[kLanes] = {};
    bool hard_[kLanes] = {}, impossible_[kLanes] = {};
    std::int64_t moves_[kLanes] = {}, overshoots_[kLanes] = {};
    std::int64_t passes_[kLanes] = {};
    bool finished_[kLanes] = {};
};

template <typename T, class Poll>
void learn_by_dual_updates(const CsrView<T>& x, const DualTask& task, const DualOptions& options,
                           int n_threads, Poll&& poll) {
    const ActiveFeatures<T> active(x, options.bias > 0,
                                   choose_features(x, options.max_passes, task.from_start, task.from_start));
    bool hard = false;
    for (std::int64_t label = 0; label < task.n_labels; ++label) hard |= has_hard_margin(task, label);
    const RowSizes sizes = row_sizes(x, options, hard);
    const std::vector<double> old_shift(task.shift, task.shift + (task.shift ? task.n_labels : 0));
    run_blocks<DualBlock<T>>(
        task.n_labels, work_of_passes(x, options.max_passes), n_threads, task.labels_done,
        [&](const LabelRange& range) {
            return std::make_unique<DualBlock<T>>(active, sizes, task, options, range);
        },
        poll);
    if (active.bias_row == x.n_columns || !task.shift) return;
    const std::int64_t n_features = x.n_columns + (options.bias > 0);
    for (std::int64_t label = 0; label < task.n_labels; ++label) {
        if (task.shift[label] == old_shift[label]) continue;
        weigh_label(options, task, label, task.n_labels, n_features, task.logs, task.weights);
    }
}

}  // namespace widemargin
