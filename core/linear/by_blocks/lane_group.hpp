// Up to 16 labels of a task that is solved by blocks of rows: their weights side by side and their
// alphas. See linear/by_blocks/block_descent.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "aligned.hpp"
#include "linear/by_blocks/coded_alphas.hpp"
#include "linear/by_blocks/label_state.hpp"
#include "linear/by_blocks/row_batch.hpp"
#include "linear/linear_svm_dual.hpp"
#include "parallel.hpp"
#include "simd/loops.hpp"

namespace widemargin {

template <typename T>
class LaneVisit;

// What a visit needs beside the rows. It is used again by every visit, since a system may take large pieces
// of memory back at once, and clear them before they are given out again.
struct VisitSpace {
    std::vector<double> alpha;  // rows x 16
    std::vector<std::uint16_t> active, decided;
    std::vector<std::int8_t> signs;  // rows x 16
    std::vector<std::int32_t> visited;

    // Rows x 16.
    float* single_alpha(std::int64_t n_rows) {
        if (!single_ || single_size_ < n_rows) {
            single_ = std::make_unique<AlignedBuffer<float>>(n_rows * kLanes);
            single_size_ = n_rows;
        }
        return single_->data();
    }

  private:
    std::unique_ptr<AlignedBuffer<float>> single_;
    std::int64_t single_size_ = 0;
};

// The weights of up to eight labels that decide, side by side: those of a column share a cache line. The
// labels have none of their own meanwhile, but for the bias weight.
constexpr std::size_t kTile = 8;
struct WeightTile {
    std::vector<LabelByBlocks*> labels;
    std::int64_t width = 0;  // only as wide as there are labels: a lane's sum is the same in any width
    std::unique_ptr<AlignedBuffer<double>> w;  // columns x width

    void take(std::int64_t n_columns) {
        width = (static_cast<std::int64_t>(labels.size()) + 3) / 4 * 4;
        w = std::make_unique<AlignedBuffer<double>>(n_columns * width);
        for (std::size_t k = 0; k < labels.size(); ++k) {
            std::vector<double>& own = labels[k]->w;
            for (std::int64_t j = 0; j < n_columns; ++j) (*w)[j * width + k] = own[j];
            std::vector<double>(1, own.back()).swap(own);
        }
    }
    void give_back(std::int64_t n_columns) {
        for (std::size_t k = 0; k < labels.size(); ++k) {
            std::vector<double>& own = labels[k]->w;
            std::vector<double> all(n_columns + 1, own.back());
            for (std::int64_t j = 0; j < n_columns; ++j) all[j] = (*w)[j * width + k];
            own.swap(all);
        }
        w.reset();
    }
};

class LaneGroup {
  public:
    std::vector<LabelByBlocks> labels;               // by lane
    std::vector<CodedAlphas> alphas;                 // by block
    std::vector<std::vector<std::uint16_t>> active;  // by block and row: one bit per lane
    bool may_share = true;                           // whether labels may share passes

    LaneGroup(std::vector<LabelByBlocks> given, const std::vector<std::int64_t>& block_sizes,
              std::int64_t n_columns, const LinearSvmOptions& options)
        : labels(std::move(given)), n_columns_(n_columns), options_(options) {
        const auto used = static_cast<std::uint16_t>((1u << labels.size()) - 1);
        for (const std::int64_t size : block_sizes) {
            alphas.emplace_back(size);
            active.emplace_back(size, used);
            n_rows_ += size;
        }
    }

    std::uint16_t lanes_in(Phase phase) const {
        std::uint16_t lanes = 0;
        for (const LabelByBlocks& label : labels)
            lanes |= std::uint16_t((label.phase == phase) << label.lane);
        return lanes;
    }

    void begin_pass() {
        std::vector<std::int64_t> n_free;
        for (LabelByBlocks& label : labels) {
            n_free.clear();
            for (std::size_t block = 0; label.phase == Phase::gathering && block < alphas.size(); ++block) {
                n_free.push_back(alphas[block].count_between_of(label.lane));
            }
            label.begin_pass(n_columns_, n_free);
        }
        const std::uint16_t together = lanes_in(Phase::together);
        if (together && !shared_) {
            shared_ = std::make_unique<AlignedBuffer<float>>((n_columns_ + 1) * kLanes);
            for (const LabelByBlocks& label : labels) {
                for (std::size_t j = 0; j < label.w.size(); ++j) {
                    (*shared_)[j * kLanes + label.lane] = static_cast<float>(label.w[j]);
                }
            }
        }
        for (LabelByBlocks& label : labels) {
            if (label.phase == Phase::together) std::vector<double>().swap(label.w);  // among the shared ones
        }
        for (LabelByBlocks& label : labels) {
            if (label.phase != Phase::deciding) continue;
            if (exact_.empty() || exact_.back().labels.size() == kTile) exact_.emplace_back();
            exact_.back().labels.push_back(&label);
        }
        for (WeightTile& tile : exact_) tile.take(n_columns_);
        std::fill(gap_, gap_ + kLanes, 0.0);
        std::fill(loss_, loss_ + kLanes, 0.0);
    }

    // Marks the rows of a block that this pass needs.
    void mark_needed(std::int64_t block, std::uint8_t* needed) const {
        const auto n = static_cast<std::int64_t>(active[block].size());
        const std::uint16_t moving = lanes_in(Phase::together) | lanes_in(Phase::alone);
        std::uint32_t gathering = 0;
        for (const LabelByBlocks& label : labels) {
            if (label.phase == Phase::gathering) gathering |= std::uint32_t(3) << (2 * label.lane);
        }
        const bool all = lanes_in(Phase::deciding) != 0;
        for (std::int64_t row = 0; row < n; ++row) {
            if (all || (active[block][row] & moving) || (alphas[block].codes(row) & gathering))
                needed[row] = 1;
        }
    }

    // Ends a pass over all rows: every label learns what it does in the next one.
    void end_pass() {
        LaneSums sums{};
        if (lanes_in(Phase::together)) {
            LanePass pass = shared_pass();
            sums = vector_loops().sum(pass, 0);
        }
        for (WeightTile& tile : exact_) tile.give_back(n_columns_);
        exact_.clear();
        for (LabelByBlocks& label : labels) {
            if (label.phase == Phase::together) {
                end_together(label, sums.squared_weights[label.lane]);
            } else if (label.phase == Phase::alone) {
                if (label.end_alone()) to_gathering(label, Phase::deciding, label.w.back());
            } else if (label.phase == Phase::gathering) {
                label.end_gathering(bias_weight_[label.lane]);
                if (label.after_gathering == Phase::deciding) balance(label);
                label.phase = label.after_gathering;
            } else if (label.phase == Phase::deciding) {
                end_deciding(label);
            }
        }
        if (!lanes_in(Phase::together)) shared_.reset();
    }

    // Begins with the alphas that are set.
    void start_warm() {
        for (LabelByBlocks& label : labels) {
            label.is_warm = true;
            to_gathering(label, Phase::deciding, std::numeric_limits<double>::quiet_NaN());
        }
    }

    bool is_open() const {
        return std::any_of(labels.begin(), labels.end(), [](auto& s) { return s.phase != Phase::done; });
    }

  private:
    template <typename T>
    friend class LaneVisit;

    template <typename T>
    double upper(const VisitedRows<T>& seen, std::int64_t k, int lane) const {
        return lane < static_cast<int>(labels.size()) ? labels[lane].upper(seen, k) : 0.0;
    }

    LanePass shared_pass() {
        LanePass pass{};
        pass.bias_row = n_columns_;
        pass.bias = static_cast<float>(options_.bias);
        pass.squared_loss = options_.squared_loss;
        pass.w = shared_->data();
        for (int lane = 0; lane < kLanes; ++lane) {
            const bool used = lane < static_cast<int>(labels.size());
            pass.theta[lane] = used ? static_cast<float>(labels[lane].rate.theta()) : 1.0f;
            pass.cost_positive[lane] = used ? static_cast<float>(labels[lane].cost_of(true)) : 1.0f;
            pass.cost_negative[lane] = used ? static_cast<float>(labels[lane].cost_of(false)) : 1.0f;
            pass.shrink_above[lane] =
                used ? static_cast<float>(labels[lane].shrink_above) : std::numeric_limits<float>::infinity();
            pass.shrink_below[lane] = used ? static_cast<float>(labels[lane].shrink_below)
                                           : -std::numeric_limits<float>::infinity();
        }
        return pass;
    }

    // After a shared pass: sets the bias weight for the next one, or ends the shared passes of the label,
    // since its gap is small or because it has few active examples.
    void end_together(LabelByBlocks& label, double squared_weights) {
        const int lane = label.lane;
        ++label.passes;
        float& bias_weight = (*shared_)[n_columns_ * kLanes + lane];
        const double half = 0.5 * squared_weights, v = bias_weight, apart = label.sum - v;
        const double gap = gap_[lane] + 0.5 * apart * apart;
        const double primal =
            options_.squared_loss ? half + loss_[lane] : alpha_sums_[lane] - half - v * apart + gap_[lane];
        label.shrink_above = label.pg_max > 0 ? label.pg_max : std::numeric_limits<double>::infinity();
        label.shrink_below = label.pg_min < 0 ? label.pg_min : -std::numeric_limits<double>::infinity();
        const double next = label.rate.next(v, label.sum, gap), value = gap / primal;
        bias_weight = static_cast<float>(next);
        if (value < label.smallest) {
            label.smallest = value;
            label.smallest_at = label.passes;
        }
        const bool last = label.passes >= options_.max_passes;
        if (!(value > std::max(label.target, kSmallestSingleGap)) ||
            label.passes - label.smallest_at >= kPatience || last) {
            to_gathering(label, Phase::deciding, bias_weight);
        } else if (static_cast<double>(label.visited_active) < kAloneShare * static_cast<double>(n_rows_)) {
            to_gathering(label, Phase::alone, bias_weight);
        }
    }

    void to_gathering(LabelByBlocks& label, Phase next, double bias_weight) {
        label.phase = Phase::gathering;
        label.after_gathering = next;
        bias_weight_[label.lane] = bias_weight;
    }

    void end_deciding(LabelByBlocks& label) {
        if (label.end_deciding()) {
            label.phase = Phase::done;
            return;
        }
        const bool many =
            static_cast<double>(label.visited_active) >= kAloneShare * static_cast<double>(n_rows_);
        const bool shares = label.is_warm && many && may_share && gap_is_large(label);
        label.is_warm = false;
        label.phase = shares ? Phase::together : Phase::alone;
        if (!shares) return;
        alpha_sums_[label.lane] = label.alpha_sum;
        if (!shared_) return;
        for (std::size_t j = 0; j < label.w.size(); ++j) {
            (*shared_)[j * kLanes + label.lane] = static_cast<float>(label.w[j]);
        }
    }

    bool gap_is_large(const LabelByBlocks& label) const {
        return label.gap > kSmallestSingleGap * label.objective;
    }

    // A dual-feasible step after which S = v (linear/threshold.hpp), on the free rows that were kept.
    void balance(LabelByBlocks& label) {
        if (label.sum == label.w.back()) return;
        double missing = (label.w.back() - label.sum) / options_.bias, moved_by = 0;
        const std::size_t count = label.free_rows.size();
        for (std::size_t f = 0; f < count; ++f) {
            FreeRow& row = label.free_rows[f];
            const double step = missing / static_cast<double>(count - f);
            const double after = std::min(std::max(row.alpha + row.sign * step, 0.0), row.upper);
            const double change = row.sign * (after - row.alpha);
            if (change == 0) continue;
            for (std::size_t k = 0; k < row.indices.size(); ++k) {
                label.w[row.indices[k]] += change * row.values[k];
            }
            alphas[row.block].set(row.row, label.lane, code_of(after, row.upper), after);
            missing -= change;
            moved_by += change;
        }
        label.sum += options_.bias * moved_by;
        label.w.back() = label.sum;
        label.free_rows.clear();
    }

    std::int64_t n_columns_, n_rows_ = 0;
    LinearSvmOptions options_;
    std::unique_ptr<AlignedBuffer<float>> shared_;  // columns x 16, then the bias weights: shared passes
    std::vector<WeightTile> exact_;                 // deciding passes
    VisitSpace space_;
    double gap_[kLanes] = {}, loss_[kLanes] = {}, alpha_sums_[kLanes] = {}, bias_weight_[kLanes] = {};
};

}  // namespace widemargin
