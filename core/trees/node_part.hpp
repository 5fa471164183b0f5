// The examples of a node that is being split: their counts in every column, and their sorted values.
//
// A node is split into a small and a large part. The small part gets counts of its own, from its rows. The
// counts of the large part are those of the node minus those of the small part, and stay where they are. So a
// tree whose splits take few examples away costs little more than its first node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trees/sorted_columns.hpp"
#include "trees/split_gain.hpp"

namespace widemargin {

// What the builder knows of every example: its weight, and where it is. Parts are numbered by level: the
// small part of a node of level L has level L + 1, and at most half of the examples, so that 31 levels are
// enough.
struct Examples {
    static constexpr std::uint8_t kDone = 255;

    std::vector<double> weight;
    std::vector<std::uint8_t> state;  // 2 * level + (1 if positive), or kDone in a leaf

    bool is_in(std::int32_t row, int level) const { return state[row] >> 1 == level; }
    bool is_positive(std::int32_t row) const { return state[row] & 1; }
    Mass mass(std::int32_t row) const { return {weight[row], is_positive(row) ? weight[row] : 0}; }
    void move(std::int32_t row, int level) { state[row] = std::uint8_t(2 * level + (state[row] & 1)); }
};

template <typename T>
class NodePart {
  public:
    std::vector<std::int32_t> rows;        // the examples
    std::vector<std::int32_t> candidates;  // columns that may be split, in order
    std::vector<Mass> counts;              // by column: examples with a value other than zero
    std::vector<std::int32_t>
        distinct;  // by column: number of distinct values other than zero, or -1: unknown

    // All examples of a tree: the sorted values are those of all columns.
    void start_with_all(const SortedColumns<T>& columns, const Examples& examples, bool has_every_row,
                        bool has_unit_weights) {
        const CsrView<T>& x = columns.x;
        prepare(x.n_columns);
        if (has_every_row) {
            distinct = columns.distinct;
        } else {
            std::fill(distinct.begin(), distinct.end(), -1);
        }
        std::fill(counts.begin(), counts.end(), Mass{});
        if (has_every_row && has_unit_weights) {  // only the positive examples are read
            for (std::int32_t j = 0; j < x.n_columns; ++j) counts[j].n = double(columns.size(j));
            for (const std::int32_t row : rows) {
                if (!examples.is_positive(row)) continue;
                each_value(x.row(row), [&](std::int32_t j) { counts[j].positive += 1; });
            }
        } else {
            for (const std::int32_t row : rows) {
                const Mass mass = examples.mass(row);
                each_value(x.row(row), [&](std::int32_t j) { counts[j] = counts[j] + mass; });
            }
        }
        all_ = &columns;
        n_sorted_ = rows.size();
    }

    // Counts of `rows`, all of which are zero before.
    void count(const CsrView<T>& x, const Examples& examples) {
        prepare(x.n_columns);
        touched_.clear();
        for (const std::int32_t row : rows) {
            const Mass mass = examples.mass(row);
            each_value(x.row(row), [&](std::int32_t j) {
                if (counts[j].n == 0) {
                    touched_.push_back(j);
                    distinct[j] = -1;
                }
                counts[j] = counts[j] + mass;
            });
        }
    }

    void forget_counts() {
        for (const std::int32_t j : touched_) counts[j] = {};
    }

    // Takes examples away, which are no longer among `rows`.
    void subtract(const std::vector<std::int32_t>& gone, const CsrView<T>& x, const Examples& examples) {
        for (const std::int32_t row : gone) {
            const Mass mass = examples.mass(row);
            each_value(x.row(row), [&](std::int32_t j) {
                counts[j] = counts[j] - mass;
                distinct[j] = -1;
            });
        }
    }

    // Gathers and sorts the values of the numeric candidates.
    void sort_values(const SortedColumns<T>& columns) {
        all_ = nullptr;
        begin_.resize(columns.x.n_columns);
        end_.resize(columns.x.n_columns);
        sorted_.clear();
        n_sorted_ = rows.size();
        for (const std::int32_t j : touched_) begin_[j] = -1;
        std::vector<std::int64_t>& size = end_;
        bool any = false;
        for (const std::int32_t j : candidates) {
            if (columns.is_binary(j)) continue;
            begin_[j] = size[j] = 0;
            any = true;
        }
        if (!any) return;
        const auto each_numeric = [&](auto&& work) {
            for (const std::int32_t row : rows) {
                const Row<T> values = columns.x.row(row);
                for (std::int64_t k = 0; k < values.size; ++k) {
                    const std::int32_t j = values.indices[k];
                    if (values.values[k] != 0 && begin_[j] >= 0) work(row, j, values.values[k]);
                }
            }
        };
        each_numeric([&](std::int32_t, std::int32_t j, T) { ++size[j]; });
        std::int64_t total = 0;
        for (const std::int32_t j : candidates) {
            if (columns.is_binary(j)) continue;
            begin_[j] = total;
            total += size[j];
            end_[j] = begin_[j];
        }
        sorted_.resize(total);
        each_numeric([&](std::int32_t row, std::int32_t j, T value) { sorted_[end_[j]++] = {value, row}; });
        for (const std::int32_t j : candidates) {
            if (!columns.is_binary(j)) std::sort(sorted_.begin() + begin_[j], sorted_.begin() + end_[j]);
        }
    }

    // Drops the sorted values of examples that have left, once these are more than half.
    void drop_values(const SortedColumns<T>& columns, const Examples& examples, int level) {
        if (2 * rows.size() > n_sorted_) return;
        n_sorted_ = rows.size();
        std::int64_t total = 0;
        const bool from_all = all_ != nullptr;
        if (from_all) {
            begin_.resize(columns.x.n_columns);
            end_.resize(columns.x.n_columns);
            sorted_.clear();
        }
        for (const std::int32_t j : candidates) {
            if (columns.is_binary(j)) continue;
            const std::int64_t first = total;
            each_sorted(j, [&](T value, std::int32_t row) {
                if (!examples.is_in(row, level)) return;
                if (from_all) sorted_.emplace_back();
                sorted_[total++] = {value, row};
            });
            begin_[j] = first;
            end_[j] = total;
        }
        all_ = nullptr;
        sorted_.resize(total);
    }

    // work(value, row) for the values of a numeric candidate in order; some examples may have left.
    template <class Work>
    void each_sorted(std::int32_t column, Work&& work) const {
        if (all_) {
            for (std::int64_t k = all_->begin[column]; k < all_->begin[column + 1]; ++k)
                work(all_->values[k], all_->rows[k]);
        } else {
            const std::int64_t end = end_[column];
            for (std::int64_t k = begin_[column]; k < end; ++k) work(sorted_[k].first, sorted_[k].second);
        }
    }

  private:
    void prepare(std::int64_t n_columns) {
        counts.resize(n_columns);
        distinct.resize(n_columns);
    }

    template <class Work>
    static void each_value(const Row<T>& row, Work&& work) {
        for (std::int64_t k = 0; k < row.size; ++k)
            if (row.values[k] != 0) work(row.indices[k]);
    }

    const SortedColumns<T>* all_ = nullptr;  // the values of all examples, or null: those in sorted_
    std::vector<std::pair<T, std::int32_t>> sorted_;
    std::vector<std::int64_t> begin_, end_;
    std::vector<std::int32_t> touched_;
    std::size_t n_sorted_ = 0;
};

}  // namespace widemargin
