// Which variables a step of the decomposition (kernel/decomposition.hpp) moves.
//
// With omega_i = y_i g_i = s_i - y_i (8.3.2):
//   steepest      q/2 variables each with the largest and the smallest omega that may still move that way
//                 (OP 13), found without sorting; half of them among examples whose row is cached, if asked
//                 for
//   second order  q = 2: the most violating example and the partner with the largest gain (Fan, Chen, Lin
//   2005) random        half of the last working set is replaced by random violators (the baseline of
//   Figure 8.4)
// Without the equality constraint the same halves are selected, and any variable may move alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernel/dual_state.hpp"
#include "kernel/gradient_engines.hpp"
#include "random.hpp"
#include "simd/loops.hpp"

namespace widemargin {

enum class Selection : int { steepest = 0, second_order = 1, random = 2 };

// The dual problems of L labels over the same n examples. All arrays belong to the caller.
struct KernelProblem {
    std::int64_t n_labels, n;
    std::int64_t size;         // n, and 2 more with the artificial examples of the stabilized hyperplane
    const std::int8_t* signs;  // L x n
    const double* upper;       // L x n
    const double* start;       // L x size: feasible start, ideally near the solution; null: 0
    const double* gram;        // n x n: the kernel matrix; null: computed
};

struct DecompositionOptions {
    bool equality;
    std::int64_t working_set;  // q
    Selection selection;
    bool prefer_cached;
    bool shrinking;
    std::int64_t shrink_history;  // h
    double shrink_threshold;
    double tol;
    std::int64_t max_iterations;
    std::uint64_t seed;
    std::int64_t row_values = 0;  // largest number in a row, for the rounding of s
};

template <class Engine>
class WorkingSet {
  public:
    WorkingSet(Engine& engine, const DecompositionOptions& options, const DualState& state,
               const Loops& loops)
        : engine_(engine), options_(options), state_(state), loops_(loops), random_(options.seed) {
        if (options.selection != Selection::second_order) return;
        diagonal_.resize(state.n);
        for (std::int64_t i = 0; i < state.n; ++i) diagonal_[i] = static_cast<Value>(engine.diagonal(i));
    }

    void select_most_violating(Indices& working) const {
        working.assign(1, state_.most_rising);
        if (options_.equality) working.push_back(state_.most_falling);
    }

    void select(Indices& working) {
        if (options_.selection == Selection::random) {
            select_random(working);
        } else if (!options_.equality) {
            select_without_equality(working);
        } else if (options_.selection == Selection::second_order) {
            select_second_order(working);
        } else {
            select_steepest(working);
        }
        std::sort(working.begin(), working.end());
    }

  private:
    using Value = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<Engine&>().row(0))>>;

    struct Candidate {
        double value;
        std::int32_t example;
    };

    // The largest `room` candidates, unordered; cheap if most candidates are too small.
    class Best {
      public:
        explicit Best(std::size_t room) : room_(room) {}
        void offer(double value, std::int32_t example) {
            if (items_.size() < room_) {
                items_.push_back({value, example});
                std::push_heap(items_.begin(), items_.end(), larger);
            } else if (room_ > 0 && value > items_.front().value) {
                std::pop_heap(items_.begin(), items_.end(), larger);
                items_.back() = {value, example};
                std::push_heap(items_.begin(), items_.end(), larger);
            }
        }
        // Best first; ties by number, so that the result does not depend on the heap.
        const std::vector<Candidate>& sorted() {
            std::sort(items_.begin(), items_.end(), [](const Candidate& a, const Candidate& b) {
                return a.value != b.value ? a.value > b.value : a.example < b.example;
            });
            return items_;
        }

      private:
        static bool larger(const Candidate& a, const Candidate& b) { return a.value > b.value; }
        std::size_t room_;
        std::vector<Candidate> items_;
    };

    void select_second_order(Indices& working) {
        if (engine_.wants_company(state_.most_rising)) engine_.prefetch(likely_next());
        const auto* const row = engine_.row(state_.most_rising);
        const double own = engine_.diagonal(state_.most_rising);
        std::int32_t partner = state_.most_falling;
        if (state_.seen_whole<Engine>()) {
            const std::int64_t found = loops_.over<Value>().partner(
                state_.highest, own, state_.fall.data(), state_.s, row, diagonal_.data(), state_.n);
            if (found >= 0) partner = static_cast<std::int32_t>(found);
            working = {state_.most_rising, partner};
            return;
        }
        double best = -1;
        for (std::size_t p = 0; p < state_.active.size(); ++p) {
            const std::int32_t i = state_.active[p];
            const double difference = state_.highest - (state_.fall[i] - state_.s[i]);
            if (difference <= 0) continue;
            const double k = static_cast<double>(engine_.at(row, p, i));
            const double curvature = std::max(own + engine_.diagonal(i) - 2 * k, kSmallestCurvature);
            if (difference * difference > best * curvature) {
                best = difference * difference / curvature;
                partner = i;
            }
        }
        working = {state_.most_rising, partner};
    }

    // The examples that violate the conditions most: their rows will be needed soon.
    Indices likely_next() const {
        Best rising(kCompany), falling(kCompany);
        for (const std::int32_t i : state_.active) {
            const double value = state_.y[i] - state_.s[i];
            if (value > state_.lowest && state_.may_rise(i)) rising.offer(value, i);
            if (value < state_.highest && state_.may_fall(i)) falling.offer(-value, i);
        }
        Indices examples;
        take(rising.sorted(), kCompany, examples);
        take(falling.sorted(), kCompany, examples);
        return examples;
    }

    void select_steepest(Indices& working) {
        const std::size_t half =
            static_cast<std::size_t>(std::max<std::int64_t>(options_.working_set / 2, 1));
        const std::size_t cached = options_.prefer_cached ? half : 0;
        Best rising(half), falling(half), cached_rising(cached), cached_falling(cached);
        for (const std::int32_t i : state_.active) {
            const double value = state_.y[i] - state_.s[i];
            // Only those that violate the conditions together with the most violating partner.
            if (value > state_.lowest && state_.may_rise(i)) {
                rising.offer(value, i);
                if (options_.prefer_cached && engine_.has_row(i)) cached_rising.offer(value, i);
            }
            if (value < state_.highest && state_.may_fall(i)) {
                falling.offer(-value, i);
                if (options_.prefer_cached && engine_.has_row(i)) cached_falling.offer(-value, i);
            }
        }
        working.clear();
        const std::size_t first = options_.prefer_cached ? (half + 1) / 2 : half;
        take(rising.sorted(), first, working);
        take(falling.sorted(), first, working);
        take(cached_rising.sorted(), half - first, working);
        take(cached_falling.sorted(), half - first, working);
        while (working.size() > static_cast<std::size_t>(std::max<std::int64_t>(options_.working_set, 2))) {
            working.pop_back();
        }
    }

    static void take(const std::vector<Candidate>& from, std::size_t count, Indices& working) {
        for (const Candidate& candidate : from) {
            if (count == 0) return;
            if (std::find(working.begin(), working.end(), candidate.example) != working.end()) continue;
            working.push_back(candidate.example);
            --count;
        }
    }

    // Half are the best to raise y alpha, half to lower it, whether or not a variable gains alone: if all
    // kernel values share a constant (a bias feature), most of the gain is in exchanges between the two
    // halves.
    void select_without_equality(Indices& working) {
        const std::size_t half = static_cast<std::size_t>((options_.working_set + 1) / 2);
        Best rising(half), falling(half);
        for (const std::int32_t i : state_.active) {
            const double value = state_.y[i] - state_.s[i];
            if (state_.may_rise(i)) rising.offer(value, i);
            if (state_.may_fall(i)) falling.offer(-value, i);
        }
        working.clear();
        take(rising.sorted(), half, working);
        take(falling.sorted(), half, working);
    }

    // "In each iteration the basic strategy randomly replaces half of the working set with variables that do
    // not fulfill the optimality conditions."
    void select_random(Indices& working) {
        const std::size_t size = static_cast<std::size_t>(std::max<std::int64_t>(options_.working_set, 2));
        Indices violators;
        const double middle = state_.lambda(options_.equality);
        for (const std::int32_t i : state_.active) {
            const double excess = state_.y[i] - state_.s[i] - middle;
            if ((excess > options_.tol && state_.may_rise(i)) ||
                (excess < -options_.tol && state_.may_fall(i))) {
                violators.push_back(i);
            }
        }
        random_.shuffle(working);
        if (working.size() > size / 2) working.resize(size / 2);
        random_.shuffle(violators);
        for (const std::int32_t i : violators) {
            if (working.size() >= size) break;
            if (std::find(working.begin(), working.end(), i) == working.end()) working.push_back(i);
        }
        if (working.size() < 2) select_most_violating(working);
    }

    static constexpr std::size_t kCompany = 4;

    Engine& engine_;
    const DecompositionOptions& options_;
    const DualState& state_;
    const Loops& loops_;
    Random random_;
    std::vector<Value> diagonal_;
};

}  // namespace widemargin
