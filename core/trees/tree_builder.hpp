// Decision trees of C4.5 (Quinlan, C4.5: Programs for Machine Learning, 1993) on sparse data.
//
// Problem: a binary tree of tests x[column] <= threshold that separates positive from negative examples.
// Inputs: the sorted columns of the examples, a sign for each example (0: not used) and a weight (0: not
// used). Output: a Tree, and the leaf of every example.
//
// A node is split by the column of greatest gain ratio among those that gain at least the average of all that
// gain anything (split_gain.hpp); ties go to the lowest column, then to the lowest threshold. A threshold is
// a value of the training data: the greatest one up to the middle between the two values beside the cut. A
// node is a leaf if it is pure, if no split leaves enough on both sides and gains anything, or at
// `max_depth`. Enough is `min_objects`, for numeric columns sometimes more (least_of_cut).
//
// Weights are rounded to multiples of 2^-48 of the greatest power of two in their sum. Sums and differences
// of such numbers are exact, so a tree does not depend on the order in which examples are counted, and whole
// numbers are repetitions.
//
// A builder is the memory of one thread. Use:
//
//   const SortedColumns<T> columns = sort_columns(x, n_threads, poll);   // once
//   TreeBuilder<T> builder(columns);                                     // once per thread
//   builder.grow({signs, weights}, options, stop);                       // once per tree
//   builder.tree(); builder.leaves();                                    // what it made
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "trees/node_part.hpp"
#include "trees/sorted_columns.hpp"
#include "trees/split_gain.hpp"
#include "trees/tree.hpp"

namespace widemargin {

struct TreeOptions {
    double min_objects;      // the least weight of a branch
    std::int64_t max_depth;  // number of tests on a path
    bool gain_ratio;         // or by gain alone
    bool penalty;            // of numeric columns with many values
};

struct TreeExamples {
    const std::int8_t* signs;
    const double* weights;  // null: 1 each
};

template <typename T>
class TreeBuilder {
  public:
    explicit TreeBuilder(const SortedColumns<T>& columns)
        : columns_(columns), parts_(33), marked_(columns.x.n_rows, 0) {}

    // Throws Interrupted on `stop`.
    void grow(const TreeExamples& given, const TreeOptions& options, const StopFlag& stop) {
        options_ = options;
        stop_ = &stop;
        tree_ = {};
        const Mass all = read(given);
        leaves_.assign(columns_.x.n_rows, -1);
        NodePart<T>& part = parts_[0];
        const std::int32_t root = tree_.add(all);
        if (!may_split(all, 0)) return close(part.rows, root);
        part.start_with_all(columns_, examples_, std::int64_t(part.rows.size()) == columns_.x.n_rows,
                            given.weights == nullptr);
        part.candidates.clear();
        for (std::int32_t j = 0; j < columns_.x.n_columns; ++j)
            if (part.counts[j].n >= options_.min_objects) part.candidates.push_back(j);
        grow_from(0, root, 0);
    }

    const Tree& tree() const { return tree_; }
    Tree& tree() { return tree_; }
    // The leaf of every example; -1 for those that are not used.
    const std::vector<std::int32_t>& leaves() const { return leaves_; }
    // The weights after rounding.
    const std::vector<double>& weights() const { return examples_.weight; }

  private:
    struct Split {
        std::int32_t column = -1;
        double threshold = 0;
    };

    Mass read(const TreeExamples& given) {
        const std::int64_t n = columns_.x.n_rows;
        double total = 0;
        for (std::int64_t i = 0; i < n && given.weights; ++i) total += given.signs[i] ? given.weights[i] : 0;
        const double unit =
            total > 0 ? std::max(std::ldexp(1.0, std::ilogb(total) - 48), std::numeric_limits<double>::min())
                      : 1;
        bool whole = true;
        examples_.weight.resize(n);
        examples_.state.resize(n);
        std::vector<std::int32_t>& rows = parts_[0].rows;
        rows.clear();
        Mass all;
        for (std::int64_t i = 0; i < n; ++i) {
            const double weight = given.weights ? std::nearbyint(given.weights[i] / unit) * unit : 1;
            const bool used = given.signs[i] != 0 && weight > 0;
            examples_.weight[i] = weight;
            examples_.state[i] = used ? given.signs[i] > 0 : Examples::kDone;
            if (!used) continue;
            rows.push_back(std::int32_t(i));
            all = all + examples_.mass(std::int32_t(i));
            whole &= weight == std::floor(weight);
        }
        if (!whole) {
            f_ = XLog2X();
            n_tabled_ = -1;
        } else if (all.n != n_tabled_) {
            f_ = XLog2X(all.n);
            n_tabled_ = all.n;
        }
        return all;
    }

    bool may_split(const Mass& mass, std::int64_t depth) const {
        return !mass.is_pure() && mass.n >= 2 * options_.min_objects && depth < options_.max_depth;
    }

    // Splits a node and its large part, that of the large part, and so on. The small parts are split in
    // between, on the next level, so the depth of the recursion is the logarithm of the number of examples.
    void grow_from(int level, std::int32_t node, std::int64_t depth) {
        NodePart<T>&part = parts_[level], &small = parts_[level + 1];
        for (;; ++depth) {
            if (*stop_) throw Interrupted();
            const Split split = best_split(part, level, tree_.mass[node]);
            if (split.column < 0) return close(part.rows, node);
            const bool left_is_small = divide(part, level, split, small.rows);
            Mass mass_of_small;
            for (const std::int32_t row : small.rows) mass_of_small = mass_of_small + examples_.mass(row);
            const Mass mass_of_large = tree_.mass[node] - mass_of_small;
            const std::int32_t left = tree_.add(left_is_small ? mass_of_small : mass_of_large);
            const std::int32_t right = tree_.add(left_is_small ? mass_of_large : mass_of_small);
            tree_.column[node] = split.column;
            tree_.threshold[node] = split.threshold;
            tree_.left[node] = left;
            tree_.right[node] = right;
            const std::int32_t small_node = left_is_small ? left : right;
            const bool large_grows = may_split(mass_of_large, depth + 1);
            if (large_grows) part.subtract(small.rows, columns_.x, examples_);
            if (may_split(mass_of_small, depth + 1)) {
                small.count(columns_.x, examples_);
                small.candidates.clear();
                for (const std::int32_t j : part.candidates)
                    if (small.counts[j].n >= options_.min_objects) small.candidates.push_back(j);
                small.sort_values(columns_);
                for (const std::int32_t row : small.rows) examples_.move(row, level + 1);
                grow_from(level + 1, small_node, depth + 1);
                small.forget_counts();
            } else {
                close(small.rows, small_node);
            }
            node = left_is_small ? right : left;
            if (!large_grows) return close(part.rows, node);
            part.drop_values(columns_, examples_, level);
        }
    }

    // Ends with a leaf.
    void close(const std::vector<std::int32_t>& rows, std::int32_t leaf) {
        for (const std::int32_t row : rows) {
            leaves_[row] = leaf;
            examples_.state[row] = Examples::kDone;
        }
    }

    // Moves the smaller side of a split from part.rows to `small`; returns whether that is the left one.
    bool divide(NodePart<T>& part, int level, const Split& split, std::vector<std::int32_t>& small) {
        // Zeros are on one side, so the other one has only values that are stored.
        const bool zero_is_left = split.threshold >= 0;
        apart_.clear();
        for (std::int64_t k = columns_.begin[split.column]; k < columns_.begin[split.column + 1]; ++k) {
            const std::int32_t row = columns_.rows[k];
            const bool is_left = double(columns_.values[k]) <= split.threshold;
            if (is_left == zero_is_left || !examples_.is_in(row, level)) continue;
            apart_.push_back(row);
            marked_[row] = 1;
        }
        const bool apart_is_small = 2 * apart_.size() <= part.rows.size();
        small.clear();
        std::size_t kept = 0;
        for (const std::int32_t row : part.rows) {
            if (bool(marked_[row]) == apart_is_small) {
                small.push_back(row);
            } else {
                part.rows[kept++] = row;
            }
        }
        part.rows.resize(kept);
        for (const std::int32_t row : apart_) marked_[row] = 0;
        return apart_is_small != zero_is_left;
    }

    // The column and the threshold of a node; column -1 if no split gains anything. Columns that no later
    // split of these examples can use are dropped from the candidates.
    Split best_split(NodePart<T>& part, int level, const Mass& all) {
        const SplitGain gain(all, f_);
        cuts_.clear();
        std::size_t kept = 0;
        double total = 0;
        std::int64_t n_possible = 0;
        for (const std::int32_t j : part.candidates) {
            const double present = part.counts[j].n, absent = all.n - present;
            const bool is_binary = columns_.is_binary(j);
            if (present < options_.min_objects || (is_binary && absent < options_.min_objects)) continue;
            part.candidates[kept++] = j;
            const Cut cut = is_binary ? presence(gain, part.counts[j]) : best_cut(part, level, j, gain);
            if (cut.gain <= kLeastGain) continue;
            cuts_.push_back({j, cut.gain, cut.low});
            total += cut.gain;
            ++n_possible;
        }
        part.candidates.resize(kept);
        const double average = n_possible ? total / double(n_possible) : 0;
        Split best;
        double greatest = 0;
        for (const ColumnCut& cut : cuts_) {
            if (options_.gain_ratio && cut.gain < average - kSameGain) continue;
            const double worth = options_.gain_ratio ? cut.gain / gain.of_split(cut.low) : cut.gain;
            if (worth <= greatest + kSameGain) continue;
            greatest = worth;
            best.column = cut.column;
        }
        if (best.column >= 0) best.threshold = threshold(part, level, best.column, gain);
        return best;
    }

    static Cut presence(const SplitGain& gain, const Mass& present) {
        return {gain.gain(present), present.n, 0, 0};
    }

    Cut best_cut(NodePart<T>& part, int level, std::int32_t j, const SplitGain& gain) {
        const Mass present = part.counts[j];
        const double absent = gain.all().n - present.n,
                     least = least_of_cut(gain.all().n, options_.min_objects);
        if (present.n < least) return {};  // a side without zeros is too small
        // If all present values belong to one class, the best cut is that beside zero.
        if (present.is_pure() && absent >= least && columns_.has_one_sign(j)) {
            Cut cut = presence(gain, present);
            if (options_.penalty) cut.gain -= gain.penalty(distinct_values(part, level, j));
            return cut;
        }
        return search(part, level, j, gain);
    }

    Cut search(const NodePart<T>& part, int level, std::int32_t j, const SplitGain& gain) const {
        const double least = least_of_cut(gain.all().n, options_.min_objects);
        return search_cut(gain, gain.all() - part.counts[j], least, options_.penalty, [&](auto&& take) {
            part.each_sorted(j, [&](T value, std::int32_t row) {
                if (examples_.is_in(row, level))
                    take(double(value), examples_.weight[row], examples_.is_positive(row));
            });
        });
    }

    // The number of distinct values of a column among the examples of a node, without zero.
    std::int64_t distinct_values(NodePart<T>& part, int level, std::int32_t j) const {
        if (part.distinct[j] < 0) {
            std::int32_t distinct = 0;
            T last = 0;
            part.each_sorted(j, [&](T value, std::int32_t row) {
                if (!examples_.is_in(row, level) || value == last) return;
                last = value;
                ++distinct;
            });
            part.distinct[j] = distinct;
        }
        return part.distinct[j];
    }

    double threshold(const NodePart<T>& part, int level, std::int32_t j, const SplitGain& gain) const {
        if (columns_.is_binary(j)) return std::min(0.0, double(columns_.values[columns_.begin[j]]));
        const Cut cut = search(part, level, j, gain);
        const double middle = cut.below + (cut.above - cut.below) / 2;
        return columns_.greatest_up_to(j, middle < cut.above ? middle : cut.below);
    }

    struct ColumnCut {
        std::int32_t column;
        double gain, low;
    };

    const SortedColumns<T>& columns_;
    std::vector<NodePart<T>> parts_;  // by level
    Examples examples_;
    XLog2X f_;
    double n_tabled_ = -1;
    TreeOptions options_{};
    const StopFlag* stop_ = nullptr;
    Tree tree_;
    std::vector<std::int32_t> leaves_, apart_;
    std::vector<std::uint8_t> marked_;
    std::vector<ColumnCut> cuts_;
};

}  // namespace widemargin
