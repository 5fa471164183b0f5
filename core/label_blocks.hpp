// Part of a task's weights laid out for learning: the features that a batch uses, for some labels side by
// side.
//
// Online learners keep their state as arrays of features x labels, the order in which documents are scored.
// A batch of documents touches few of the features, one document a few dozen: those are copied together
// (rows x width, so that the weights of a feature for up to 16 labels are one or two cache lines), learned
// on, and copied back only when every label has finished. An interrupted or failed call therefore leaves the
// state as it was, and a document costs what its own features cost, however many there are.
//
// Every lane computes what it would compute alone, so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "aligned.hpp"
#include "label_lanes.hpp"
#include "parallel.hpp"
#include "sparse.hpp"

namespace widemargin {

// The features with a value in some row of x (or all of them: when asked for, and where most have one), in
// order, and for every value the place of its feature there. With a bias feature, feature n_columns comes
// last.
template <typename T>
class ActiveFeatures {
  public:
    ActiveFeatures(const CsrView<T>& x, bool with_bias, bool all) : n_columns(x.n_columns) {
        const std::int64_t n_values = x.n_values();
        if (all || n_values >= x.n_columns / 4) {
            features.resize(x.n_columns);
            std::iota(features.begin(), features.end(), 0);
            rows = x;
        } else {
            features.assign(x.indices, x.indices + n_values);
            std::sort(features.begin(), features.end());
            features.erase(std::unique(features.begin(), features.end()), features.end());
            places_.resize(n_values);
            for (std::int64_t k = 0; k < n_values; ++k) {
                places_[k] = static_cast<std::int32_t>(
                    std::lower_bound(features.begin(), features.end(), x.indices[k]) - features.begin());
            }
            rows = {x.indptr, places_.data(), x.values, x.n_rows, std::int64_t(features.size())};
        }
        bias_row = static_cast<std::int64_t>(features.size());
        if (with_bias) features.push_back(static_cast<std::int32_t>(x.n_columns));
    }
    ActiveFeatures(const ActiveFeatures&) = delete;  // `rows` points into it

    std::int64_t size() const { return static_cast<std::int64_t>(features.size()); }

    std::vector<std::int32_t> features;
    std::int64_t n_columns;  // of x
    CsrView<T> rows;         // x with places instead of feature numbers
    std::int64_t bias_row;   // where the bias feature stands

  private:
    std::vector<std::int32_t> places_;
};

// Labels first .. first + count - 1 of n_labels, in lanes 0 .. count - 1 of width.
struct LabelRange {
    std::int64_t first;
    int count;
    int width;  // 1, 4 or 16
    std::int64_t n_labels;
};

// All labels in ranges of at most 16, at least one for each thread while a range keeps four labels.
inline std::vector<LabelRange> label_ranges(std::int64_t n_labels, int n_threads) {
    if (n_labels == 1) return {{0, 1, 1, 1}};
    const std::int64_t full = (n_labels + kLanes - 1) / kLanes;
    const std::int64_t n_ranges =
        std::max<std::int64_t>(full, std::min<std::int64_t>(n_threads, (n_labels + 3) / 4));
    std::vector<LabelRange> ranges;
    for (std::int64_t k = 0; k < n_ranges; ++k) {
        const std::int64_t first = n_labels * k / n_ranges, last = n_labels * (k + 1) / n_ranges;
        ranges.push_back({first, int(last - first), last - first > 4 ? kLanes : 4, n_labels});
    }
    return ranges;
}

template <typename T>
using Buffer = AlignedBuffer<T>;

// state: features x labels. Padding lanes are zero.
template <typename T>
void gather(const std::vector<std::int32_t>& features, const LabelRange& range, const T* state, T* block) {
    for (std::size_t row = 0; row < features.size(); ++row) {
        const T* const from = state + std::int64_t(features[row]) * range.n_labels + range.first;
        std::copy(from, from + range.count, block + row * range.width);
    }
}

template <typename T>
void scatter(const std::vector<std::int32_t>& features, const LabelRange& range, const T* block, T* state) {
    for (std::size_t row = 0; row < features.size(); ++row) {
        const T* const from = block + row * range.width;
        std::copy(from, from + range.count,
                  state + std::int64_t(features[row]) * range.n_labels + range.first);
    }
}

// Signs of the examples by lane: n x width, 0 in padding lanes and where `first_row` says that a label was
// not known yet.
inline std::vector<std::int8_t> signs_by_lane(const LabelRange& range, const std::int8_t* signs,
                                              std::int64_t n, const std::int64_t* first_row) {
    std::vector<std::int8_t> result(n * range.width, 0);
    for (int lane = 0; lane < range.count; ++lane) {
        const std::int64_t label = range.first + lane;
        for (std::int64_t i = first_row ? first_row[label] : 0; i < n; ++i) {
            result[i * range.width + lane] = signs[label * n + i];
        }
    }
    return result;
}

// w.x in every lane.
template <typename T>
class BlockScores {
  public:
    explicit BlockScores(int width) : width_(width), kernels_(lane_kernels()) {}

    void operator()(const Row<T>& row, const double* w, double* scores) const {
        if (width_ == 1) {
            scores[0] = row.dot(w);
        } else if constexpr (sizeof(T) == sizeof(float)) {
            kernels_.score_single(row.indices, row.values, row.size, w, width_, scores);
        } else {
            kernels_.score_double(row.indices, row.values, row.size, w, width_, scores);
        }
    }

  private:
    int width_;
    LaneKernels kernels_;
};

// Makes, runs and writes back a Block for every range of labels; `work` is that of one label, in values
// visited. Nothing is written back when poll asks to stop, or when a block throws.
template <class Block, class Make, class Poll>
void run_blocks(std::int64_t n_labels, std::int64_t work, int n_threads, std::int64_t* labels_done,
                Make&& make, Poll&& poll) {
    const std::vector<LabelRange> ranges = label_ranges(n_labels, n_threads);
    std::vector<std::unique_ptr<Block>> blocks(ranges.size());
    const auto run = [&](std::int64_t k, const StopFlag& stop) {
        blocks[k] = make(ranges[k]);
        blocks[k]->run(stop);
        __atomic_fetch_add(labels_done, ranges[k].count, __ATOMIC_RELAXED);
    };
    // A thread costs some 20 microseconds to start: not worth it for a few documents.
    if (work * n_labels < 200000) {
        const StopFlag never{false};
        for (std::size_t k = 0; k < ranges.size(); ++k) run(std::int64_t(k), never);
    } else {
        Pieces pieces(std::int64_t(ranges.size()), 1);
        run_parallel(
            std::min<int>(n_threads, int(ranges.size())),
            [&](int, const StopFlag& stop) {
                std::int64_t begin, end;
                while (!stop && pieces.next(begin, end)) run(begin, stop);
            },
            poll);
    }
    for (auto& block : blocks) block->write_back();
}

}  // namespace widemargin
