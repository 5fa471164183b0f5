// Linear support vector machines on a collection that does not fit in memory: one label, or all labels of a
// one-vs-rest task. The problem, the letters and the steps are those of linear/dual_cd.hpp.
//
// The rows are stored in many small blocks. The caller reads some of them at a time, in another random order
// in every pass, and visits their rows together, in random order: the block minimization of Yu, Hsieh, Chang,
// Lin, "Large linear classification when data cannot fit in memory", KDD 2010, with one inner pass, and with
// blocks that are put together anew in every pass. (Rows that always stay together slow descent down, since
// all of them follow what they have in common: with fixed blocks of 16,000 rows it takes several times as
// many passes.) A pass:
//
//   begin_pass()                    the order of the blocks
//   for every few blocks in that order:
//     mark_needed(block, needed)    the rows that some label needs; often few
//     visit(batch, ...)             one step for each of these rows
//   end_pass()                      what each label does next
//
// until is_open() is false. In each pass a label descends together with others in single precision, descends
// alone in double precision, adds up its weights from its alphas, or measures its duality gap over all rows;
// see Phase. It ends when that gap is at most tol times the objective. All labels share the reading of the
// rows. What a label does depends on itself alone: not on the labels beside it, not on threads, not on
// memory.
//
// Between visits an alpha takes two bits, and eight bytes if it is between its bounds (coded_alphas.hpp).
// Slacks are not kept: they follow from the weights.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "linear/by_blocks/label_state.hpp"
#include "linear/by_blocks/lane_group.hpp"
#include "linear/by_blocks/lane_visit.hpp"
#include "linear/by_blocks/row_batch.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace widemargin {

// What the core reads. All arrays belong to the caller and are copied.
struct BlockTask {
    std::int64_t n_labels;
    const double* cost_positive;  // of each label
    const double* cost_negative;
    const std::int32_t* columns;      // of each label, in the label lists of the rows
    const std::int64_t* block_sizes;  // rows of each block
    std::int64_t n_blocks;
    std::int64_t n_columns;     // of the rows
    double mean_squared_norm;   // of the rows, about
    std::int64_t n_all_labels;  // of the whole task, of which these may be some
};

class BlockDescent {
  public:
    // least_groups: labels are divided into at least so many groups, for so many threads
    BlockDescent(const BlockTask& task, const LinearSvmOptions& options, int least_groups)
        : options_(options), block_sizes_(task.block_sizes, task.block_sizes + task.n_blocks) {
        const std::int64_t n = std::accumulate(block_sizes_.begin(), block_sizes_.end(), std::int64_t(0));
        std::int64_t n_groups = (task.n_labels + kLanes - 1) / kLanes;
        n_groups = std::min((n_groups + least_groups - 1) / least_groups * least_groups, task.n_labels);
        for (std::int64_t group = 0; group < n_groups; ++group) {
            const std::int64_t first = group * task.n_labels / n_groups;
            const std::int64_t last = (group + 1) * task.n_labels / n_groups;
            std::vector<LabelByBlocks> labels;
            for (std::int64_t l = first; l < last; ++l) {
                const int lane = static_cast<int>(l - first);
                labels.emplace_back(lane, task.cost_positive[l], task.cost_negative[l], options);
                LabelByBlocks& label = labels.back();
                const double curvature = task.mean_squared_norm + label.smallest_diagonal();
                label.rate = ThresholdRate(options.bias, curvature, n);
                if (task.n_all_labels < kFewestLabels) {
                    label.phase = Phase::alone;
                    label.w.assign(task.n_columns + 1, 0.0);
                }
                const auto column = static_cast<std::size_t>(task.columns[l]);
                if (place_.size() <= column) place_.resize(column + 1, {-1, 0});
                place_[column] = {static_cast<int>(group), lane};
                of_label_.push_back({static_cast<int>(group), lane});
            }
            groups_.emplace_back(std::move(labels), block_sizes_, task.n_columns, options);
            groups_.back().may_share = task.n_all_labels >= kFewestLabels;
        }
    }

    std::int64_t n_labels() const { return static_cast<std::int64_t>(of_label_.size()); }
    std::int64_t n_blocks() const { return static_cast<std::int64_t>(block_sizes_.size()); }
    std::int64_t block_size(std::int64_t block) const { return block_sizes_[block]; }

    bool is_open() const {
        return std::any_of(groups_.begin(), groups_.end(), [](auto& group) { return group.is_open(); });
    }
    std::int64_t n_done() const {
        std::int64_t count = 0;
        for (const auto& [group, lane] : of_label_) count += groups_[group].labels[lane].phase == Phase::done;
        return count;
    }
    const LabelByBlocks& label(std::int64_t l) const {
        return groups_[of_label_[l].first].labels[of_label_[l].second];
    }

    // Of a label that is done.
    void forget_weights(std::int64_t l) {
        std::vector<double>().swap(groups_[of_label_[l].first].labels[of_label_[l].second].w);
    }

    // Fills the order of the blocks.
    void begin_pass(std::int32_t* order) {
        for (LaneGroup& group : groups_) group.begin_pass();
        Random random(options_.seed + 0x94d049bb133111ebULL * static_cast<std::uint64_t>(++pass_));
        std::vector<std::int32_t> blocks(block_sizes_.size());
        std::iota(blocks.begin(), blocks.end(), 0);
        random.shuffle(blocks);
        std::copy(blocks.begin(), blocks.end(), order);
    }

    void mark_needed(std::int64_t block, std::uint8_t* needed) const {
        for (const LaneGroup& group : groups_) group.mark_needed(block, needed);
    }

    // number: of the visit in its pass. Blocks without rows that are needed belong to the batch, too: the
    // order of rows must not depend on them.
    template <typename T, class Poll>
    void visit(std::int64_t number, const RowBatch<T>& rows, int n_threads, Poll&& poll) {
        const std::int64_t n = rows.size();
        positive_.resize(groups_.size());
        for (auto& of_group : positive_) of_group.assign(n, 0);
        for (std::int64_t k = 0; k < n; ++k) {
            for (std::int64_t l = rows.first_label[k]; l < rows.first_label[k + 1]; ++l) {
                const auto column = static_cast<std::size_t>(rows.label_columns[l]);
                if (column >= place_.size() || place_[column].first < 0) continue;
                positive_[place_[column].first][k] |= std::uint16_t(1u << place_[column].second);
            }
        }
        put_in_order(number, rows);
        std::vector<LaneVisit<T>> visits;
        visits.reserve(groups_.size());
        std::vector<std::pair<std::size_t, std::int64_t>> tasks;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const VisitedRows<T> seen{&rows, positive_[g].data(), number};
            visits.emplace_back(groups_[g], seen, order_);
            for (std::int64_t t = 0; t < visits[g].n_tasks(); ++t) tasks.push_back({g, t});
        }
        const auto n_groups = static_cast<std::int64_t>(visits.size());
        const auto each = [&](std::int64_t count, auto&& work) {
            run_each(count, n_threads, [&](int, std::int64_t k, const StopFlag&) { work(k); }, poll);
        };
        each(n_groups, [&](std::int64_t g) { visits[g].begin(); });
        each(static_cast<std::int64_t>(tasks.size()),
             [&](std::int64_t t) { visits[tasks[t].first].run(tasks[t].second); });
        each(n_groups, [&](std::int64_t g) { visits[g].end(); });
    }

    void end_pass() {
        for (LaneGroup& group : groups_) group.end_pass();
    }

    // The alphas of a label, two bits each, and the values between: see LabelAlphas in Python.
    void export_alphas(std::int64_t l, std::uint8_t* codes, std::vector<double>& between) const {
        const auto [group, lane] = of_label_[l];
        std::int64_t i = 0;
        for (const CodedAlphas& block : groups_[group].alphas) {
            block.each(lane, [&](std::size_t, std::uint32_t code, double value) {
                codes[i >> 2] |= static_cast<std::uint8_t>(code << (2 * (i & 3)));
                if (code == kBetween) between.push_back(value);
                ++i;
            });
        }
    }

    // Starts from the alphas of a label. `start` begins with all that were given.
    void import_alphas(std::int64_t l, const std::uint8_t* codes, const double* between) {
        const auto [group, lane] = of_label_[l];
        std::int64_t i = 0;
        for (CodedAlphas& block : groups_[group].alphas) {
            block.replace(lane, [&](std::size_t, double* value) {
                const auto code = static_cast<AlphaCode>(codes[i >> 2] >> (2 * (i & 3)) & 3);
                ++i;
                if (code == kBetween) *value = *between++;
                return code;
            });
        }
    }
    void start() {
        for (LaneGroup& group : groups_) group.start_warm();
    }

  private:
    // Sets the order to positions in the batch, shuffled. All rows of its blocks are shuffled, needed or not:
    // the order must not depend on the labels beside a label.
    template <typename T>
    void put_in_order(std::int64_t number, const RowBatch<T>& rows) {
        positions_.clear();
        for (const auto& piece : rows.blocks) {
            const std::size_t first = positions_.size();
            positions_.resize(first + block_sizes_[piece.block], -1);
            for (std::int64_t k = piece.begin; k < piece.end; ++k) {
                positions_[first + rows.which[k]] = static_cast<std::int32_t>(k);
            }
        }
        Random random(options_.seed + 0xd6e8feb86659fd93ULL * static_cast<std::uint64_t>(pass_) +
                      0xbf58476d1ce4e5b9ULL * static_cast<std::uint64_t>(number + 1));
        random.shuffle(positions_);
        order_.clear();
        for (const std::int32_t k : positions_) {
            if (k >= 0) order_.push_back(k);
        }
    }

    LinearSvmOptions options_;
    std::vector<std::int64_t> block_sizes_;
    std::vector<LaneGroup> groups_;
    std::vector<std::pair<int, int>> place_;     // group and lane of a label column
    std::vector<std::pair<int, int>> of_label_;  // of a label
    std::int64_t pass_ = 0;
    // Of the present visit; the memory is used again.
    std::vector<std::vector<std::uint16_t>> positive_;  // by group and row: lanes
    std::vector<std::int32_t> positions_, order_;
};

}  // namespace widemargin
