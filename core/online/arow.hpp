// Adaptive regularization of weights (AROW), with a variance for every weight.
//
//   K. Crammer, A. Kulesza, M. Dredze, "Adaptive Regularization of Weight Vectors", NIPS 2009, figure 1, with
//   the diagonal of the inverse covariance.
//
// Weights are normally distributed with means w_j and variances 1 / (1 + s_j): 1 is the prior, s_j >= 0 the
// information from documents. A document x of sign y with margin m = y w.x < 1 minimizes
//
//   KL(new distribution || old one) + (1 / 2r) max(0, 1 - y w.x)^2 + (1 / 2r) sum_j x_j^2 / (1 + s_j):
//
//   v = sum_j x_j^2 / (1 + s_j)          the variance of its score
//   alpha = (1 - m) / (v + r)
//   w_j += alpha y x_j / (1 + s_j)
//   s_j += x_j^2 / r
//
// Forgetting f > 0: before the step, the distribution of every weight of the document becomes the normalized
// product of itself to the power 1 - f and of the prior to the power f (R. Kulhavy, M. B. Zarrop, "On a
// general concept of forgetting", International Journal of Control 58(4), 1993):
//
//   w_j = w_j (1 - f) (1 + s_j) / (1 + (1 - f) s_j),   s_j = (1 - f) s_j.
//
// So the information of a document fades with every later update of the same weights, not with time: weights
// of rare features last.
//
// Classes of which a document has one compete: a wrong class learns from a document only if its score exceeds
// that of the right class less `rivals`. All scores come before all updates, so such classes stand in one
// block, on one thread. Otherwise labels are independent.
//
// Inputs and outputs: ArowTask. All passes are made: a margin approaches 1, and seldom reaches it. State is
// written only when all labels have finished.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "online/state_blocks.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace widemargin {

struct ArowOptions {
    double r;
    double forgetting;
    double rivals;  // infinity: labels are independent
    double bias;    // size of the constant feature, 0 for none
    std::int64_t max_passes;
    bool shuffle;
    std::uint64_t seed;
};

// n documents, L labels, d features (one more with a bias feature).
struct ArowProblem {
    std::int64_t n_labels;
    const std::int8_t* signs;  // L x n
};

struct ArowState {
    double* weights;      // features x labels
    double* information;  // s, features x labels
    std::int64_t* updates;
};

struct ArowResults {
    double* scores;             // n x L before learning, or null
    std::int64_t* labels_done;  // counter
};

struct ArowTask : ArowProblem, ArowState, ArowResults {};

template <typename T>
class ArowBlock {
  public:
    ArowBlock(const ActiveFeatures<T>& active, const ArowTask& task, const ArowOptions& options,
              const LabelRange& range)
        : active_(active),
          task_(task),
          options_(options),
          range_(range),
          w_(Layout::kInFours, active, range, task.weights, false),
          s_(Layout::kInFours, active, range, task.information, false),
          signs_(signs_by_lane(range, task.signs, active.rows.n_rows, nullptr)),
          constants_(w_.row_stride()),
          scores_(w_.row_stride()),
          updates_(range.count) {}

    void run(const StopFlag& stop) {
        const std::int64_t n = active_.rows.n_rows;
        Indices order = all_of(options_.shuffle ? n : 0);
        Random random(options_.seed);
        std::int64_t visits = 0;
        for (std::int64_t pass = 1; pass <= options_.max_passes; ++pass) {
            if (options_.shuffle) random.shuffle(order);
            const auto row_at = [&](std::int64_t at) { return options_.shuffle ? order[at] : at; };
            for (std::int64_t r = 0; r < n; ++r) {
                if ((++visits & 255) == 0 && stop) return;
                if (r + 2 < n) active_.rows.row(row_at(r + 2)).prefetch();
                visit(row_at(r), row_at(std::min(r + 1, n - 1)));
            }
        }
        require_finite(w_, range_);
        require_finite(s_, range_);
    }

    void write_back() {
        w_.write_back();
        s_.write_back();
        for (int lane = 0; lane < range_.count; ++lane) {
            task_.updates[range_.first + lane] += updates_[lane];
        }
    }

  private:
    bool rivals() const { return std::isfinite(options_.rivals); }

    void visit(std::int64_t i, std::int64_t next) {
        const Row<T> row = active_.rows.row(i), following = active_.rows.row(next);
        if (options_.bias > 0) {
            for (int lane = 0; lane < range_.count; ++lane) {
                constants_[lane] = options_.bias * w_(active_.bias_row, lane);
            }
        }
        const std::int64_t stride = w_.row_stride();
        loops_.score_row(row.indices, row.values, row.size, {following.indices, following.size}, w_.data(),
                         stride, constants_.data(), stride, scores_.data());
        double sum = 0;
        for (int lane = 0; lane < range_.count; ++lane) sum += scores_[lane];
        if (!std::isfinite(sum)) refuse_overflow(scores_.data(), range_);
        if (task_.scores) {
            std::copy_n(scores_.data(), range_.count, task_.scores + i * range_.n_labels + range_.first);
        }
        const std::int8_t* const sign = signs_.data() + i * range_.count;
        const double beyond = rivals() ? rivals_from(sign) : -kEverything;
        for (int first = 0; first < range_.count; first += 4) {
            const int count = std::min(4, range_.count - first);
            bool moves = false;
            for (int lane = 0; lane < count; ++lane) {
                moves |= learns(sign[first + lane], scores_[first + lane], beyond);
            }
            if (moves) move(row, first, count, sign + first, beyond);
        }
    }

    // The score above which a wrong class learns. Without a right class, all do.
    double rivals_from(const std::int8_t* sign) const {
        double right = kEverything;
        for (int lane = 0; lane < range_.count; ++lane) {
            if (sign[lane] > 0) right = std::min(right, scores_[lane]);
        }
        return right == kEverything ? -kEverything : right - options_.rivals;
    }

    static bool learns(std::int8_t sign, double score, double beyond) {
        return sign > 0 ? score < 1 : sign < 0 && score > -1 && score > beyond;
    }

    // Updates the lanes first .. first + count - 1 that learn.
    void move(const Row<T>& row, int first, int count, const std::int8_t* sign, double beyond) {
        bool moving[4] = {};
        for (int lane = 0; lane < count; ++lane) {
            moving[lane] = learns(sign[lane], scores_[first + lane], beyond);
        }
        double scores[4] = {}, v[4], moves[4] = {}, gains[4] = {};
        std::copy_n(scores_.data() + first, count, scores);
        double *const w = w_.data() + first, *const s = s_.data() + first;
        const std::int64_t stride = w_.row_stride();
        const auto bias = static_cast<std::int32_t>(active_.bias_row);
        const std::int64_t with_bias = options_.bias > 0;
        if (options_.forgetting > 0) {
            double kept[4] = {1, 1, 1, 1};
            for (int lane = 0; lane < count; ++lane) {
                if (moving[lane]) kept[lane] = 1 - options_.forgetting;
            }
            std::fill(scores, scores + 4, 0.0);
            loops_.forget_and_score(row.indices, row.values, row.size, kept, stride, w, s, scores);
            in_doubles_.forget_and_score(&bias, &options_.bias, with_bias, kept, stride, w, s, scores);
        }
        loops_.score_variances(row.indices, row.values, row.size, s, stride, v);
        for (int lane = 0; lane < count; ++lane) {
            if (!moving[lane]) continue;
            if (with_bias) v[lane] += options_.bias * options_.bias / (1 + s[bias * stride + lane]);
            moves[lane] = (sign[lane] - scores[lane]) / (v[lane] + options_.r);  // y (1 - y w.x) = y - w.x
            gains[lane] = 1 / options_.r;
            ++updates_[first + lane];
        }
        loops_.move_confident(row.indices, row.values, row.size, moves, gains, stride, w, s);
        in_doubles_.move_confident(&bias, &options_.bias, with_bias, moves, gains, stride, w, s);
    }

    static constexpr double kEverything = std::numeric_limits<double>::infinity();

    const ActiveFeatures<T>& active_;
    const ArowTask& task_;
    const ArowOptions& options_;
    const LabelRange range_;
    Cells<double> w_, s_;
    const std::vector<std::int8_t> signs_;
    const LoopsOver<T>& loops_ = vector_loops().over<T>();
    const LoopsOver<double>& in_doubles_ = vector_loops().over_doubles;  // for the bias feature
    std::vector<double> constants_, scores_;  // of a document, padded: bias w_b, and w.x
    std::vector<std::int64_t> updates_;
};

template <typename T, class Poll>
void learn_confident_weights(const CsrView<T>& x, const ArowTask& task, const ArowOptions& options,
                             int n_threads, Poll&& poll) {
    const Features layout = choose_features(x, options.max_passes, false, false);
    const ActiveFeatures<T> active(x, options.bias > 0, layout);
    using Block = ArowBlock<T>;
    const auto make = [&](const LabelRange& range) {
        return std::make_unique<Block>(active, task, options, range);
    };
    const std::int64_t work = work_of_passes(x, options.max_passes);
    if (!std::isfinite(options.rivals)) {
        run_blocks<Block>(task.n_labels, work, n_threads, task.labels_done, make, poll);
        return;
    }
    const auto block = make({0, static_cast<int>(task.n_labels), task.n_labels});
    run_work(
        1, saturated_product(work, task.n_labels), 4000000,
        [&](int, const StopFlag& stop) { block->run(stop); }, poll);
    block->write_back();
    count_up(task.labels_done, task.n_labels);
}

}  // namespace widemargin
