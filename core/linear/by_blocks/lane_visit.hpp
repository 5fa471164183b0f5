// The work of one visit by up to 16 labels of a task that is solved by blocks of rows
// (linear/by_blocks/lane_group.hpp): in tasks that may run side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "linear/by_blocks/coded_alphas.hpp"
#include "linear/by_blocks/label_state.hpp"
#include "linear/by_blocks/lane_group.hpp"
#include "linear/by_blocks/row_batch.hpp"
#include "simd/loops.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

// `begin` reads the alphas, every task runs once, in any order, and `end` keeps the results.
template <typename T>
class LaneVisit {
  public:
    // order: positions of the rows in visiting order
    LaneVisit(LaneGroup& group, const VisitedRows<T>& seen, const std::vector<std::int32_t>& order)
        : group_(group),
          seen_(seen),
          order_(order),
          n_(seen.rows->size()),
          alpha_(group.space_.alpha),
          active_(group.space_.active),
          decided_(group.space_.decided),
          signs_(group.space_.signs),
          shrunk_(group.labels.size()) {
        alpha_.resize(n_ * kLanes);
        active_.resize(n_);
        std::uint16_t together = group.lanes_in(Phase::together);
        if (together) tasks_.push_back(kTogether);
        if (group.lanes_in(Phase::deciding)) tasks_.push_back(kDeciding);
        for (const LabelByBlocks& label : group.labels) {
            const bool own = label.phase == Phase::alone || label.phase == Phase::gathering;
            if (own) tasks_.push_back(label.lane);
        }
    }

    std::int64_t n_tasks() const { return static_cast<std::int64_t>(tasks_.size()); }

    void begin() {
        for_blocks([&](CodedAlphas& alphas, const std::uint16_t* active, const auto& piece, auto&& upper) {
            const std::int32_t* const which = seen_.rows->which.data() + piece.begin;
            const std::int64_t n = piece.end - piece.begin;
            for (std::int64_t k = 0; k < n; ++k) active_[piece.begin + k] = active[which[k]];
            alphas.decode(which, n, upper, alpha_.data() + piece.begin * kLanes);
        });
    }

    void run(std::int64_t number) {
        const int task = tasks_[number];
        if (task == kTogether) {
            descend_together();
        } else if (task == kDeciding) {
            decide();
        } else if (group_.labels[task].phase == Phase::alone) {
            group_.labels[task].descend(seen_, active_.data(), alpha_.data(), shrunk_[task]);
        } else {
            group_.labels[task].gather(seen_, alpha_.data());
        }
    }

    void end() {
        if (tasks_.empty()) return;
        for (std::size_t lane = 0; lane < shrunk_.size(); ++lane) {
            for (const std::int32_t k : shrunk_[lane]) active_[k] &= ~(1u << lane);
        }
        const std::uint16_t together = group_.lanes_in(Phase::together);
        for (std::int64_t k = 0; together && k < n_; ++k) {
            std::uint16_t kept = 0;
            for (const LabelByBlocks& label : group_.labels) {
                kept |= std::uint16_t((signs_[k * kLanes + label.lane] != 0) << label.lane);
            }
            active_[k] = (active_[k] & ~together) | (kept & together);
        }
        const std::uint16_t deciding = group_.lanes_in(Phase::deciding);
        for (std::int64_t k = 0; deciding && k < n_; ++k) {
            active_[k] = (active_[k] & ~deciding) | decided_[k];
        }
        for_blocks([&](CodedAlphas& alphas, std::uint16_t* active, const auto& piece, auto&& upper) {
            const std::int32_t* const which = seen_.rows->which.data() + piece.begin;
            const std::int64_t n = piece.end - piece.begin;
            for (std::int64_t k = 0; k < n; ++k) active[which[k]] = active_[piece.begin + k];
            alphas.encode(which, n, upper, alpha_.data() + piece.begin * kLanes);
        });
    }

  private:
    static constexpr int kTogether = -1, kDeciding = -2;

    // Calls work(alphas, active, piece, upper) for the rows of every block; upper is by rows of the
    // piece.
    template <class Work>
    void for_blocks(Work&& work) {
        for (const auto& piece : seen_.rows->blocks) {
            const auto upper = [&](std::int64_t k, int lane) {
                return group_.upper(seen_, piece.begin + k, lane);
            };
            work(group_.alphas[piece.block], group_.active[piece.block].data(), piece, upper);
        }
    }

    void descend_together() {
        LaneGroup& group = group_;
        const RowBatch<T>& rows = *seen_.rows;
        signs_.assign(n_ * kLanes, 0);
        float* const alpha = group.space_.single_alpha(n_);
        const std::vector<float> weights(rows.weights.begin(), rows.weights.end());
        LanePass pass = group.shared_pass();
        pass.places = rows.places.data();
        pass.squared_norms = rows.single_norms.data();
        pass.sample_weights = weights.empty() ? nullptr : weights.data();
        pass.alpha = alpha;
        pass.sign = signs_.data();
        const std::uint16_t together = group.lanes_in(Phase::together);
        // Calls work(label, k, place) for the alphas that may move, row by row.
        const auto each_active = [&](auto&& work) {
            for (std::int64_t k = 0; k < n_; ++k) {
                for (unsigned lanes = active_[k] & together; lanes; lanes &= lanes - 1) {
                    LabelByBlocks& label = group.labels[__builtin_ctz(lanes)];
                    if (label.upper(seen_, k) > 0) work(label, k, k * kLanes + label.lane);
                }
            }
        };
        each_active([&](const LabelByBlocks& label, std::int64_t k, std::int64_t place) {
            signs_[place] = seen_.positive[k] >> label.lane & 1 ? 1 : -1;
            alpha[place] = static_cast<float>(alpha_[place]);
        });
        std::vector<std::int32_t>& visited = group.space_.visited;
        visited.clear();
        for (const std::int32_t k : order_) {
            if (is_in_a_lane(signs_.data(), k)) visited.push_back(k);
        }
        pass.rows = visited.data();
        pass.n_rows = static_cast<std::int64_t>(visited.size());
        vector_loops().pass(pass);
        for (LabelByBlocks& label : group.labels) {
            const int lane = label.lane;
            if (label.phase != Phase::together) continue;
            group.gap_[lane] += pass.gap[lane];
            group.loss_[lane] += pass.loss[lane];
            label.pg_max = std::max<double>(label.pg_max, pass.pg_max[lane]);
            label.pg_min = std::min<double>(label.pg_min, pass.pg_min[lane]);
            label.sum += pass.sum[lane];
        }
        each_active([&](LabelByBlocks& label, std::int64_t k, std::int64_t place) {
            const int lane = label.lane;
            // The bound as single precision sees it: an alpha that reached it belongs at the exact one.
            float bound = seen_.positive[k] >> lane & 1 ? pass.cost_positive[lane] : pass.cost_negative[lane];
            if (!weights.empty()) bound *= weights[k];
            const double upper = label.upper(seen_, k);
            const bool at_bound = !group.options_.squared_loss && alpha[place] >= bound;
            const double after = at_bound ? upper : std::min<double>(alpha[place], upper);
            group.alpha_sums_[lane] += after - alpha_[place];
            alpha_[place] = after;
            label.visited_active += signs_[place] != 0;
        });
    }

    void decide() {
        const RowBatch<T>& rows = *seen_.rows;
        decided_.assign(n_, 0);
        double scores[kLanes];
        for (std::int64_t k = 0; k < n_; ++k) {
            const Row<T> row = rows.row(k), next = rows.row(std::min(k + 1, n_ - 1));
            for (const WeightTile& tile : group_.exact_) {
                vector_loops().over<T>().score_row(row.indices, row.values, row.size,
                                                   {next.indices, next.size}, tile.w->data(), tile.width,
                                                   kNoIntercept, tile.width, scores);
                for (std::size_t o = 0; o < tile.labels.size(); ++o) {
                    LabelByBlocks& label = *tile.labels[o];
                    const bool stays = label.decide(seen_, k, scores[o], alpha_[k * kLanes + label.lane]);
                    decided_[k] |= std::uint16_t(stays << label.lane);
                }
            }
        }
    }

    LaneGroup& group_;
    VisitedRows<T> seen_;
    const std::vector<std::int32_t>& order_;
    std::int64_t n_;
    // In the memory of the group.
    std::vector<double>& alpha_;  // rows x 16
    std::vector<std::uint16_t>&active_, &decided_;
    std::vector<std::int8_t>& signs_;
    std::vector<std::vector<std::int32_t>> shrunk_;
    std::vector<int> tasks_;
};

}  // namespace widemargin
