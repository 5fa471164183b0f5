// A part of a task's weights, laid out for learning: the features that a batch uses, with some labels side by
// side.
//
// Online learners store their state as arrays of features x labels, the order in which documents are scored.
// A batch of documents uses few of all features, a document a few dozen. These are copied to a block (rows x
// width, so that the weights of a feature for up to 16 labels are one or two cache lines), updated there, and
// copied back only when every label has finished. So an interrupted or failed call leaves the state
// unchanged, and the cost of a document depends only on its own features.
//
// Every lane computes what it would compute alone, so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "large_array.hpp"
#include "online/active_features.hpp"
#include "parallel.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

// Labels first .. first + count - 1 of n_labels, in lanes 0 .. count - 1.
struct LabelRange {
    std::int64_t first;
    int count;
    std::int64_t n_labels;

    // Rows of a block that begin at multiples of 32 bytes are read as whole vectors.
    int padded() const { return count == 1 ? 1 : (count + 3) / 4 * 4; }
};

// All labels in ranges of at most 16; at least one range per thread, as long as a range has four labels.
inline std::vector<LabelRange> label_ranges(std::int64_t n_labels, int n_threads) {
    if (n_labels == 1) return {{0, 1, 1}};
    const std::int64_t full = (n_labels + kLanes - 1) / kLanes;
    const std::int64_t n_ranges =
        std::max<std::int64_t>(full, std::min<std::int64_t>(n_threads, (n_labels + 3) / 4));
    std::vector<LabelRange> ranges;
    for (std::int64_t k = 0; k < n_ranges; ++k) {
        const std::int64_t first = n_labels * k / n_ranges, last = n_labels * (k + 1) / n_ranges;
        const int count = static_cast<int>(last - first);
        ranges.push_back({first, count, n_labels});
    }
    return ranges;
}

// The memory layout of an array of the state, in Python and in a block. Weights and their parts have the
// labels of a feature side by side, the order in which scoring reads them; cache lines then hold few
// features, and frequent ones stay in the cache. Arrays that few learners need are stored label by label. In
// a block, rows that are scored are padded; in fours: to whole vectors, also those of one label.
enum class Layout { kScored, kInFours, kSideBySide, kLabelByLabel };

// One array of a learner's state as a block: the features of a batch, the labels of a range.
template <typename T>
class Cells {
  public:
    // state: features x labels or labels x features, or null for an array that the learner does not need.
    // in_place: a block that would hold all features is the state itself, since there is nothing to preserve.
    // start: the initial value of a state that is not filled yet.
    template <typename X>
    Cells(Layout layout, const ActiveFeatures<X>& active, const LabelRange& range, T* state, bool in_place,
          const std::optional<T>& start = {})
        : features_(active.features), range_(range), state_(state) {
        if (!state) return;
        const std::int64_t n_features = active.n_columns + (active.size() > active.bias_row);
        const bool side_by_side = layout != Layout::kLabelByLabel;
        const int width = layout == Layout::kScored    ? range.padded()
                          : layout == Layout::kInFours ? (range.count + 3) / 4 * 4
                                                       : range.count;
        state_row_ = side_by_side ? range.n_labels : 1;
        state_lane_ = side_by_side ? 1 : n_features;
        state_ += range.first * state_lane_;
        if (in_place && active.features.is_everything()) {
            data_ = state_;
            row_ = state_row_;
            lane_ = state_lane_;
            if (start) fill(*start);
            return;
        }
        row_ = side_by_side ? width : 1;
        lane_ = side_by_side ? 1 : active.size();
        own_.assign(active.size() * width, start.value_or(T{}));
        data_ = own_.data();
        if (!start) {
            for_each_cell([&](T& cell, T& original) { cell = original; });
        }
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::int64_t row_stride() const { return row_; }
    std::int64_t n_rows() const { return features_.size(); }
    bool is_state() const { return own_.empty(); }
    T& operator()(std::int64_t row, int lane) { return data_[row * row_ + lane * lane_]; }
    const T& operator()(std::int64_t row, int lane) const { return data_[row * row_ + lane * lane_]; }

    // The value of a feature in the state, whether it is in the block or not.
    const T& original(std::int64_t feature, int lane) const {
        return state_[feature * state_row_ + lane * state_lane_];
    }

    void write_back() {
        if (!own_.empty()) for_each_cell([&](T& cell, T& original) { original = cell; });
    }

  private:
    void fill(const T& value) {
        if (lane_ != 1) {
            for_each_cell([&](T& cell, T&) { cell = value; });
        } else if (row_ == range_.count) {
            std::fill_n(data_, features_.size() * row_, value);
        } else {
            for (std::int64_t row = 0; row < features_.size(); ++row)
                std::fill_n(data_ + row * row_, range_.count, value);
        }
    }

    template <class Visit>
    void for_each_cell(Visit&& visit) {
        const std::int64_t rows = features_.size();
        if (state_lane_ == 1) {
            for (std::int64_t row = 0; row < rows; ++row) {
                T *const cells = data_ + row * row_, *const originals = state_ + features_[row] * state_row_;
                for (int lane = 0; lane < range_.count; ++lane) visit(cells[lane], originals[lane]);
            }
        } else {
            for (int lane = 0; lane < range_.count; ++lane)
                for (std::int64_t row = 0; row < rows; ++row) {
                    visit((*this)(row, lane), state_[features_[row] * state_row_ + lane * state_lane_]);
                }
        }
    }

    const FeatureList& features_;
    LabelRange range_;
    T* state_;
    std::int64_t state_row_ = 0, state_lane_ = 0;  // strides
    LargeArray<T> own_;
    T* data_ = nullptr;
    std::int64_t row_ = 0, lane_ = 0;  // strides
};

// One lane of an array: its position and stride.
template <typename T>
class LaneOf {
  public:
    LaneOf(Cells<T>& cells, int lane) : first_(&cells(0, lane)), stride_(cells.row_stride()) {}
    T& operator[](std::int64_t row) const { return first_[row * stride_]; }

  private:
    T* first_;
    std::int64_t stride_;
};

// Signs of the examples by lane: n x count, 0 for documents before the `first_row` of a label.
inline std::vector<std::int8_t> signs_by_lane(const LabelRange& range, const std::int8_t* signs,
                                              std::int64_t n, const std::int64_t* first_row) {
    std::vector<std::int8_t> result(n * range.count, 0);
    for (int lane = 0; lane < range.count; ++lane) {
        const std::int64_t label = range.first + lane;
        for (std::int64_t i = first_row ? first_row[label] : 0; i < n; ++i) {
            result[i * range.count + lane] = signs[label * n + i];
        }
    }
    return result;
}

// w.x in every lane.
template <typename T>
class BlockScores {
  public:
    explicit BlockScores(const LabelRange& range) : count_(range.count) {}

    void operator()(const Row<T>& row, const Cells<double>& w, double* scores, NextRow next = {},
                    bool passing = false) const {
        const std::int64_t stride = w.row_stride(), lanes = w.is_state() ? count_ : stride;
        if (lanes == 1 && stride == 1) {
            scores[0] = loops_.dot(row.indices, row.values, row.size, passing, w.data());
        } else {
            loops_.score_row(row.indices, row.values, row.size, next, w.data(), stride, kNoIntercept, lanes,
                             scores);
        }
    }

  private:
    int count_;
    const LoopsOver<T>& loops_ = vector_loops().over<T>();
};

// For a score or weight that is not finite: throws std::overflow_error with the number of its label, or of
// the first label if none is found.
[[noreturn]] inline void refuse_overflow(const double* values, const LabelRange& range) {
    int lane = 0;
    while (lane + 1 < range.count && std::isfinite(values[lane])) ++lane;
    throw std::overflow_error(std::to_string(range.first + lane));
}

inline void require_finite(const Cells<double>& w, const LabelRange& range) {
    std::vector<double> sums(range.count);  // a product with 0 is 0 unless the weight is infinite or NaN
    const std::int64_t rows = w.n_rows();
    for (std::int64_t row = 0; row < rows; ++row) {
        for (int lane = 0; lane < range.count; ++lane) sums[lane] += w(row, lane) * 0.0;
    }
    for (int lane = 0; lane < range.count; ++lane) {
        if (!std::isfinite(sums[lane])) refuse_overflow(sums.data(), range);
    }
}

// The number of values visited in passes over all rows, counting an empty row as one.
template <typename T>
std::int64_t work_of_passes(const CsrView<T>& x, std::int64_t passes) {
    return saturated_product(x.n_values() + x.n_rows, passes);
}

// Makes, runs and writes back a Block for every range of labels, and returns the blocks in order. `work` is
// the number of values visited per label. Nothing is written back if poll returns true or a block throws.
template <class Block, class Make, class Poll>
std::vector<std::unique_ptr<Block>> run_blocks(std::int64_t n_labels, std::int64_t work, int n_threads,
                                               std::int64_t* labels_done, Make&& make, Poll&& poll) {
    const std::vector<LabelRange> ranges = label_ranges(n_labels, n_threads);
    const auto n_ranges = static_cast<std::int64_t>(ranges.size());
    std::vector<std::unique_ptr<Block>> blocks(ranges.size());
    const auto run = [&](std::int64_t k, const StopFlag& stop) {
        blocks[k] = make(ranges[k]);
        blocks[k]->run(stop);
        count_up(labels_done, ranges[k].count);
    };
    const auto write = [&](std::int64_t k, const StopFlag&) { blocks[k]->write_back(); };
    // Starting a thread takes about 20 microseconds, and its caches are cold. This does not pay off for a few
    // documents, nor for milliseconds of work in a single range.
    constexpr std::int64_t kMuchWork = 4000000;
    const std::int64_t everything = saturated_product(work, n_labels);
    const bool alone = everything < (n_threads == 1 || n_ranges == 1 ? kMuchWork : 200000);
    const auto for_each_range = [&](bool one_by_one, auto&& step, auto&& ask) {
        if (one_by_one) {
            const StopFlag never{false};
            for (std::int64_t k = 0; k < n_ranges; ++k) step(k, never);
            return;
        }
        run_each(n_ranges, n_threads, [&](int, std::int64_t k, const StopFlag& stop) { step(k, stop); }, ask);
    };
    for_each_range(alone, run, poll);
    for_each_range(everything < kMuchWork, write, [] { return false; });
    return blocks;
}

}  // namespace widemargin
