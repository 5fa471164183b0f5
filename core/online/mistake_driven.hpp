// Mistake-driven learning of all labels at once: Perceptron, positive and balanced Winnow, and Winnow in log
// form.
//
//   I. Dagan, Y. Karov, D. Roth, "Mistake-Driven Learning in Text Categorization", EMNLP 1997, sections 3 and
//   4; T. Zhang, "Large Margin Winnow Methods for Text Categorization", section 2.
//
// Each document x with sign y is scored, F = scale * w.x. It is a mistake if
//
//   y = +1 and F <= theta+,   or   y = -1 and F >= theta-      (theta- = theta+ = theta without a range);
//
// After a mistake, the weights of the active features change by one of the rules in online/update_rules.hpp.
// A pass visits all documents; a label stops after a pass without mistakes, or after max_passes.
//
// Normalized strength (dagan 4.1): each row is divided by its sum. Linking on first sight (SNoW): a feature
// gets the starting weight for a label with the first positive document that has it. Discarding (dagan 4.4):
// at the end of the first pass with fewer mistakes than discard_below, features whose weight is in the
// filtering range are discarded for good. A normalized score is an average of weights, in which the starting
// weight, theta, is neutral and 0 would be a demotion; there, discarded features keep the starting weight, or
// (sums_of_kept) leave the average: each label then divides a row by the sum of the features that it keeps.
//
// Averages: for each weight, `sums` is the sum over changes of (change * clock), where clock is the number of
// documents before the change (or, for normalized weights, the sum of W / Z over them). The average of the
// weights after every document is then (w * clock - sums) / documents. Votes: the history of every weight.
//
// Inputs and outputs: MistakeTask (online/mistake_task.hpp). State is written only when all labels have
// finished, unless it is fresh: then there is nothing to preserve.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "online/mistake_task.hpp"
#include "online/state_blocks.hpp"
#include "online/update_rules.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace widemargin {

template <class Rule, typename T>
class MistakeBlock {
  public:
    MistakeBlock(const ActiveFeatures<T>& active, const std::vector<double>& row_sums,
                 const MistakeTask& task, const MistakeOptions& options, const LabelRange& range)
        : active_(active),
          row_sums_(row_sums),
          task_(task),
          options_(options),
          range_(range),
          w_(Layout::kScored, active, range, task.weights, task.fresh && range.count == range.n_labels,
             first(options.first_weight())),
          parts_(Layout::kSideBySide, active, range, task.parts, task.fresh, first(options.first_parts())),
          logs_(Layout::kSideBySide, active, range, task.logs, task.fresh, first(0.0)),
          sums_(Layout::kLabelByLabel, active, range, task.sums, task.fresh),
          links_(Layout::kLabelByLabel, active, range, task.links, task.fresh),
          signs_(signs_by_lane(range, task.signs, active.rows.n_rows, task.first_row)),
          score_(range) {
        for (int lane = 0; lane < range.count; ++lane) {
            clock_[lane] = task.clock[range.first + lane];
            seen_[lane] = task.seen[range.first + lane];
        }
        if constexpr (std::is_same_v<Rule, LogWinnowRule>) {
            rule_.reset(new Rule{options.promotion,
                                 LogWeights(options, range, active.features,
                                            active.n_columns + (options.bias > 0), task, logs_, w_)});
        } else if constexpr (std::is_same_v<Rule, BalancedWinnowRule>) {
            rule_.reset(new Rule{options.promotion, options.demotion, range, w_, parts_});
        } else if constexpr (std::is_same_v<Rule, ComplementWinnowRule>) {
            rule_.reset(new Rule{options.promotion, options.demotion, range, w_, parts_, {}, {}});
            std::copy_n(task.complements + range.first, range.count, rule_->sum);
            std::copy_n(task.unseen + range.first, range.count, rule_->unseen);
        } else if constexpr (std::is_same_v<Rule, PositiveWinnowRule>) {
            rule_.reset(new Rule{options.promotion, options.demotion, range, w_});
        } else {
            rule_.reset(new Rule{options.promotion, options.by_strength, range, w_});
        }
    }

    void run(const StopFlag& stop) {
        const std::int64_t n = active_.rows.n_rows;
        Indices order = all_of(options_.shuffle ? n : 0);
        Random random(options_.seed);
        std::int64_t visits = 0;
        for (std::int64_t pass = 1; pass <= options_.max_passes; ++pass) {
            if (options_.shuffle) random.shuffle(order);
            std::fill(pass_mistakes_, pass_mistakes_ + kLanes, 0);
            for (std::int64_t r = 0; r < n; ++r) {
                if ((++visits & 255) == 0 && stop) return;
                const auto row_at = [&](std::int64_t at) { return options_.shuffle ? order[at] : at; };
                if (!(passing() && range_.count == 1) && r + kRowsAhead < n) {
                    const Row<T> ahead = active_.rows.row(row_at(r + kRowsAhead));
                    passing() ? ahead.template prefetch<0>() : ahead.prefetch();
                }
                visit(row_at(r), row_at(std::min(r + 1, n - 1)));
            }
            bool again = false;
            for (int lane = 0; lane < range_.count; ++lane) {
                if (finished_[lane]) continue;
                passes_[lane] = pass;
                mistakes_[lane] += pass_mistakes_[lane];
                // Documents that were right with all features may be mistakes with the remaining ones.
                const bool discards =
                    double(pass_mistakes_[lane]) < options_.discard_below && !discarded_[lane];
                if (discards) discard(lane);
                finished_[lane] = pass_mistakes_[lane] == 0 && !discards;
                again |= !finished_[lane];
            }
            if (!again) break;
            for (int lane = 0; lane < range_.count; ++lane) {
                if (finished_[lane]) retire(lane);
            }
        }
        require_finite(w_, range_);
    }

    void write_back() {
        for (Cells<double>* cells : {&w_, &logs_, &sums_}) cells->write_back();
        parts_.write_back();
        links_.write_back();
        for (int lane = 0; lane < range_.count; ++lane) {
            const std::int64_t label = range_.first + lane;
            task_.clock[label] = clock_[lane];
            task_.seen[label] = seen_[lane];
            task_.mistakes[label] += mistakes_[lane];
            task_.passes[label] = passes_[lane];
        }
        if constexpr (std::is_same_v<Rule, LogWinnowRule>) rule_->weights.write_back(task_);
        if constexpr (std::is_same_v<Rule, ComplementWinnowRule>) {
            std::copy_n(rule_->sum, range_.count, task_.complements + range_.first);
            std::copy_n(rule_->unseen, range_.count, task_.unseen + range_.first);
        }
    }

    const std::vector<WeightChange>& history() const { return history_; }

  private:
    // Whether every document is read only once, in the order of the matrix.
    bool passing() const { return options_.max_passes == 1 && !options_.shuffle; }

    static constexpr std::int64_t kRowsAhead = 4;  // prefetch distance, in rows

    template <class Cell>
    std::optional<Cell> first(Cell start) const {
        return task_.fresh ? std::optional<Cell>(start) : std::nullopt;
    }

    void visit(std::int64_t i, std::int64_t next) {
        const Row<T> row = active_.rows.row(i);
        const std::int8_t* const sign = signs_.data() + i * range_.count;
        double scores[kLanes];
        const Row<T> following = active_.rows.row(next);
        score_(row, w_, scores, {following.indices, following.size}, passing());
        double sum = 0;
        for (int lane = 0; lane < range_.count; ++lane) sum += scores[lane];
        if (!std::isfinite(sum)) refuse_overflow(scores, range_);
        double strengths[kLanes];
        sum_strengths(i, row, strengths);
        if (options_.bias > 0) {
            for (int lane = 0; lane < range_.count; ++lane) {
                scores[lane] += options_.bias * w_(active_.bias_row, lane);
            }
        }
        if (task_.scores) {
            double* const out = task_.scores + i * range_.n_labels + range_.first;
            for (int lane = 0; lane < range_.count; ++lane) {
                out[lane] = scores[lane] / strengths[lane] * rule_->scale(lane) + rule_->offset(lane);
            }
        }
        for (int lane = 0; lane < range_.count; ++lane) {
            if (sign[lane] == 0) continue;
            if (options_.link_on_sight && sign[lane] > 0) scores[lane] += link(row, lane);
            const double F = scores[lane] / strengths[lane] * rule_->scale(lane) + rule_->offset(lane);
            if (sign[lane] > 0 ? F <= options_.theta_high : F >= options_.theta_low) {
                ++pass_mistakes_[lane];
                learn(row, lane, sign[lane] > 0);
            }
            ++seen_[lane];
            if (task_.sums) clock_[lane] += rule_->scale(lane);
        }
    }

    // The divisors of a row: 1, the sum of its values, or the sum of those that the label has not discarded.
    void sum_strengths(std::int64_t i, const Row<T>& row, double* strengths) {
        std::fill(strengths, strengths + range_.count, row_sums_.empty() ? 1.0 : row_sums_[i]);
        if (!options_.sums_of_kept || !task_.links) return;
        for (int lane = 0; lane < range_.count; ++lane) {
            double kept = 0;
            for (std::int64_t k = 0; k < row.size; ++k) {
                if (links_(row.indices[k], lane) != kDiscarded) kept += double(row.values[k]);
            }
            strengths[lane] = kept > 0 ? kept : 1.0;
        }
    }

    void learn(const Row<T>& row, int lane, bool up) {
        if (!task_.links && !task_.sums && !task_.history) {
            rule_->update(row, lane, up);
        } else {
            for (std::int64_t k = 0; k < row.size; ++k) {
                if (row.values[k] != 0) change(row.indices[k], lane, up, double(row.values[k]));
            }
        }
        if (options_.bias > 0) change(static_cast<std::int32_t>(active_.bias_row), lane, up, options_.bias);
    }

    void change(std::int32_t place, int lane, bool up, double x) {
        if (task_.links && links_(place, lane) != kLinked) return;
        const double before = w_(place, lane);
        rule_->update(lone_feature(place, x), lane, up);
        note(place, lane, before);
    }

    // Records a changed weight for averages and votes.
    void note(std::int64_t place, int lane, double before) {
        if (task_.sums) sums_(place, lane) += (w_(place, lane) - before) * clock_[lane];
        if (task_.history) {
            history_.push_back({static_cast<std::int32_t>(range_.first + lane), active_.features[place],
                                seen_[lane], w_(place, lane)});
        }
    }

    // Links the new features of a positive document; returns the increase of w.x.
    double link(const Row<T>& row, int lane) {
        double added = 0;
        for (std::int64_t k = 0; k < row.size; ++k) {
            std::uint8_t& known = links_(row.indices[k], lane);
            if (known != kUnlinked || row.values[k] == 0) continue;
            known = kLinked;
            rule_->set(row.indices[k], lane, options_.start, options_.start_parts);
            note(row.indices[k], lane, 0.0);
            added += options_.start * double(row.values[k]);
        }
        return added;
    }

    void discard(int lane) {
        discarded_[lane] = true;
        const double neutral = options_.normalized_strength && !options_.sums_of_kept ? options_.start : 0.0;
        for (std::int64_t place = 0; place < active_.bias_row; ++place) {
            const double before = w_(place, lane);
            const bool inside = before >= options_.discard_low && before <= options_.discard_high;
            if (links_(place, lane) != kLinked || !inside) continue;
            links_(place, lane) = kDiscarded;
            rule_->set(place, lane, neutral, {0.0, 0.0});
            note(place, lane, before);
        }
    }

    // Removes a finished label from later passes.
    void retire(int lane) {
        for (std::int64_t i = 0; i < active_.rows.n_rows; ++i) signs_[i * range_.count + lane] = 0;
    }

    const ActiveFeatures<T>& active_;
    const std::vector<double>& row_sums_;
    const MistakeTask& task_;
    const MistakeOptions& options_;
    const LabelRange range_;
    Cells<double> w_;
    Cells<BalancedParts> parts_;
    Cells<double> logs_, sums_;
    Cells<std::uint8_t> links_;
    std::vector<std::int8_t> signs_;
    BlockScores<T> score_;
    std::unique_ptr<Rule> rule_;
    std::vector<WeightChange> history_;
    double clock_[kLanes] = {};
    std::int64_t seen_[kLanes] = {};
    std::int64_t mistakes_[kLanes] = {}, pass_mistakes_[kLanes] = {};
    std::int64_t passes_[kLanes] = {};
    bool discarded_[kLanes] = {}, finished_[kLanes] = {};
};

// The divisor of a row for normalized strength: the sum of its values, 1 for an empty row.
template <typename T>
std::vector<double> sums_of_strengths(const CsrView<T>& x) {
    std::vector<double> result(x.n_rows);
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const Row<T> row = x.row(i);
        double sum = 0;
        for (std::int64_t k = 0; k < row.size; ++k) sum += double(row.values[k]);
        result[i] = sum > 0 ? sum : 1.0;
    }
    return result;
}

// Writes the initial state, for blocks that do not hold all of it.
inline void fill_state(const MistakeTask& task, const MistakeOptions& options, std::int64_t n_features) {
    const std::int64_t n = n_features * task.n_labels;
    std::fill(task.weights, task.weights + n, options.first_weight());
    if (task.parts) std::fill(task.parts, task.parts + n, options.first_parts());
    if (task.logs) std::fill(task.logs, task.logs + n, 0.0);
}

template <class Rule, typename T, class Poll>
void learn_with_rule(const CsrView<T>& x, const MistakeTask& task, const MistakeOptions& options,
                     int n_threads, Poll&& poll) {
    // An update with complements goes through all features in their order.
    const Features layout =
        options.rule == MistakeRule::kComplementWinnow
            ? Features::kAll
            : choose_features(x, options.max_passes, options.discard_below > 0, task.fresh);
    const ActiveFeatures<T> active(x, options.bias > 0, layout);
    const std::int64_t n_features = x.n_columns + (options.bias > 0);
    if (task.fresh && active.size() < n_features) fill_state(task, options, n_features);
    std::vector<double> row_sums;
    if (options.normalized_strength) row_sums = sums_of_strengths(x);
    using Block = MistakeBlock<Rule, T>;
    const auto blocks = run_blocks<Block>(
        task.n_labels, work_of_passes(x, options.max_passes), n_threads, task.labels_done,
        [&](const LabelRange& range) {
            return std::make_unique<Block>(active, row_sums, task, options, range);
        },
        poll);
    if (!task.history) return;
    for (const auto& block : blocks) {
        task.history->insert(task.history->end(), block->history().begin(), block->history().end());
    }
}

template <typename T, class Poll>
void learn_from_mistakes(const CsrView<T>& x, const MistakeTask& task, const MistakeOptions& options,
                         int n_threads, Poll&& poll) {
    switch (options.rule) {
        case MistakeRule::kAdditive:
            return learn_with_rule<AdditiveRule>(x, task, options, n_threads, poll);
        case MistakeRule::kPositiveWinnow:
            return learn_with_rule<PositiveWinnowRule>(x, task, options, n_threads, poll);
        case MistakeRule::kBalancedWinnow:
            return learn_with_rule<BalancedWinnowRule>(x, task, options, n_threads, poll);
        case MistakeRule::kComplementWinnow:
            return learn_with_rule<ComplementWinnowRule>(x, task, options, n_threads, poll);
        case MistakeRule::kLogWinnow:
            return learn_with_rule<LogWinnowRule>(x, task, options, n_threads, poll);
    }
}

}  // namespace widemargin
