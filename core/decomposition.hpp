// Support vector machines with any kernel by decomposition: SVM-light's algorithm (thesis, chapter 8).
//
//   min_alpha  W(alpha) = 1/2 sum_ij y_i y_j alpha_i alpha_j K_ij - sum_i alpha_i      (OP 11)
//   0 <= alpha_i <= U_i,  and  sum_i y_i alpha_i = 0  for the biased hyperplane; U_i may be infinite.
//
// While the optimality conditions are violated: select a working set of q variables, solve the problem on
// them exactly (small_qp.hpp), update s_i = sum_j alpha_j y_j K_ij (8.36-8.37; gradient_engines.hpp).
//
// Selection, with omega_i = y_i g_i = s_i - y_i (8.3.2):
//   steepest      q/2 variables each with the largest and the smallest omega that may still move that way
//                 (OP 13), found without sorting; half of them among examples whose row is cached, if asked
//                 for
//   second order  q = 2: the most violating example and the partner that promises most (Fan, Chen, Lin 2005)
//   random        half of the last working set is replaced by random violators (the baseline of Figure 8.4)
// Without the equality constraint the same halves are selected, and any variable may move alone.
//
// Stopping (8.32)-(8.35): max over what may rise of -omega, minus min over what may fall of -omega, <= tol;
// then every condition holds within tol for lambda_eq, the mean of -omega over unbounded support vectors
// (8.29).
//
// Shrinking: an example whose multiplier estimate (8.30, 8.31) exceeded a threshold in each of the last h
// iterations is left out; at the end s is computed for what was left out, and if a condition fails there, all
// examples come back and h doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "gradient_engines.hpp"
#include "pair_loops.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "small_qp.hpp"
#include "threshold.hpp"

namespace widemargin {

enum class Selection : int { steepest = 0, second_order = 1, random = 2 };

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
};

// What a run reports while it works (another thread reads it) and at its end.
struct DecompositionReport {
    double intercept = 0, violation = 0;
    std::int64_t iterations = 0, restarts = 0;
    bool converged = false;
};

template <class Engine>
class Decomposition {
  public:
    // y, upper, alpha, s: one entry for each example of the engine. progress: violation, active examples,
    // iterations.
    Decomposition(Engine& engine, const DecompositionOptions& options, const double* y, const double* upper,
                  double* alpha, double* s, double* progress)
        : engine_(engine),
          options_(options),
          n_(engine.size()),
          y_(y),
          upper_(upper),
          alpha_(alpha),
          s_(s),
          progress_(progress),
          random_(options.seed),
          loops_(pair_loops()),
          rise_(n_),
          fall_(n_),
          streak_(n_, 0),
          history_(options.shrink_history) {
        if (options.selection != Selection::second_order) return;
        diagonal_.resize(n_);
        for (std::int64_t i = 0; i < n_; ++i) diagonal_[i] = static_cast<Value>(engine.diagonal(i));
    }

    // `s_is_known`: s belongs to alpha already; otherwise it is computed.
    DecompositionReport solve(const StopFlag& stop, bool s_is_known = false) {
        activate_all();
        if (!s_is_known) compute_s();
        DecompositionReport report;
        Indices working;
        while (!stop) {
            scan();
            progress_[0] = violation_;
            progress_[1] = static_cast<double>(active_.size());
            progress_[2] = static_cast<double>(report.iterations);
            if (violation_ <= options_.tol) {
                if (static_cast<std::int64_t>(active_.size()) == n_) {
                    report.converged = true;
                    break;
                }
                reactivate();
                scan();
                if (violation_ <= options_.tol) {
                    report.converged = true;
                    break;
                }
                ++report.restarts;
                history_ *= 2;
                continue;
            }
            if (report.iterations >= options_.max_iterations) break;
            ++report.iterations;
            select(working);
            if (!improve(working)) {
                // A random working set may hold nothing to gain; the most violating pair always does, unless
                // the arithmetic has come to its end.
                select_most_violating(working);
                if (!improve(working)) break;
            }
            if (options_.shrinking && report.iterations % shrink_interval() == 0) shrink();
        }
        if (static_cast<std::int64_t>(active_.size()) != n_) {
            reactivate();
            scan();
        }
        report.intercept = options_.equality ? threshold_of(y_, upper_, alpha_, s_, n_).value : 0.0;
        report.violation = violation_;
        return report;
    }

  private:
    using Value = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<Engine&>().row(0))>>;

    struct Candidate {
        double value;
        std::int32_t example;
    };

    // The largest `room` candidates, in no order; cheap when most offers are too small.
    class Best {
      public:
        void clear(std::size_t room) {
            room_ = room;
            items_.clear();
        }
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
        std::size_t room_ = 0;
        std::vector<Candidate> items_;
    };

    std::vector<double> signed_alpha() const {
        std::vector<double> result(n_);
        for (std::int64_t i = 0; i < n_; ++i) result[i] = alpha_[i] * y_[i];
        return result;
    }

    void compute_s() {
        if (std::any_of(alpha_, alpha_ + n_, [](double a) { return a != 0; })) {
            engine_.from_scratch(signed_alpha(), s_);
            engine_.start(active_);
        } else {
            std::fill(s_, s_ + n_, 0.0);
        }
    }

    void activate_all() {
        active_.resize(n_);
        for (std::int64_t i = 0; i < n_; ++i) active_[i] = static_cast<std::int32_t>(i);
        std::fill(streak_.begin(), streak_.end(), 0);
        for (std::int64_t i = 0; i < n_; ++i) set_targets(i);
        scanned_ = false;
        engine_.start(active_);
    }

    // What pair_loops.hpp reads, after alpha_i changed.
    void set_targets(std::int64_t i) {
        rise_[i] = can_rise(y_[i], alpha_[i], upper_[i]) ? y_[i] : -infinity();
        fall_[i] = can_fall(y_[i], alpha_[i], upper_[i]) ? y_[i] : infinity();
    }

    // Whether to look at all examples in their order rather than at the active ones; those that are shrunk
    // have targets that nobody picks.
    bool looks_at_all() const {
        const std::int64_t n_active = static_cast<std::int64_t>(active_.size());
        return n_active == n_ || (Engine::keeps_s_of_all && n_active * 4 >= n_);
    }

    void reactivate() {
        std::vector<char> is_active(n_, 0);
        for (const std::int32_t i : active_) is_active[i] = 1;
        Indices shrunk;
        for (std::int64_t i = 0; i < n_; ++i) {
            if (!is_active[i]) shrunk.push_back(static_cast<std::int32_t>(i));
        }
        if (!Engine::keeps_s_of_all) engine_.restore(signed_alpha(), shrunk, s_);
        activate_all();
    }

    // One look at all active examples: the most violating ones.
    void scan() {
        if (options_.equality) {
            if (!scanned_)
                note(looks_at_all() ? loops_.extremes(rise_.data(), fall_.data(), s_, n_)
                                    : extremes_of_active());
            scanned_ = false;
            violation_ = most_rising_ < 0 || most_falling_ < 0 ? 0.0 : std::max(highest_ - lowest_, 0.0);
            return;
        }
        highest_ = 0;
        most_rising_ = most_falling_ = -1;
        for (const std::int32_t i : active_) {
            // The projected gradient, as the way in which y alpha would move.
            const double value = y_[i] - s_[i];  // -omega
            const double pull = y_[i] > 0 ? value : -value;
            const bool moves = pull > 0 ? alpha_[i] < upper_[i] : alpha_[i] > 0;
            if (moves && std::abs(value) > highest_) highest_ = std::abs(value), most_rising_ = i;
        }
        violation_ = highest_;
    }

    Extremes extremes_of_active() const {
        Extremes found{-infinity(), infinity(), -1, -1};
        for (const std::int32_t i : active_) {
            if (rise_[i] - s_[i] > found.highest) found.highest = rise_[i] - s_[i], found.rising = i;
            if (fall_[i] - s_[i] < found.lowest) found.lowest = fall_[i] - s_[i], found.falling = i;
        }
        return found;
    }

    void note(const Extremes& found) {
        highest_ = found.highest;
        lowest_ = found.lowest;
        most_rising_ = static_cast<std::int32_t>(found.rising);
        most_falling_ = static_cast<std::int32_t>(found.falling);
    }

    // lambda_eq (8.29) as the active examples see it.
    double lambda() const {
        if (!options_.equality) return 0;
        double sum = 0;
        std::int64_t n_free = 0;
        for (const std::int32_t i : active_) {
            if (rise_[i] != fall_[i]) continue;
            sum += y_[i] - s_[i];
            ++n_free;
        }
        if (n_free > 0) return sum / static_cast<double>(n_free);
        if (most_rising_ >= 0 && most_falling_ >= 0) return 0.5 * (highest_ + lowest_);
        return most_rising_ >= 0 ? highest_ : (most_falling_ >= 0 ? lowest_ : 0.0);
    }

    void select_most_violating(Indices& working) const {
        working.assign(1, most_rising_);
        if (options_.equality) working.push_back(most_falling_);
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

    void select_second_order(Indices& working) {
        if (engine_.wants_company(most_rising_)) engine_.prefetch(likely_next());
        const auto* const row = engine_.row(most_rising_);
        const double own = engine_.diagonal(most_rising_);
        std::int32_t partner = most_falling_;
        if (looks_at_all()) {
            const std::int64_t found =
                loops_.with(row).partner(highest_, own, fall_.data(), s_, row, diagonal_.data(), n_);
            if (found >= 0) partner = static_cast<std::int32_t>(found);
            working = {most_rising_, partner};
            return;
        }
        double best = -1;
        for (std::size_t p = 0; p < active_.size(); ++p) {
            const std::int32_t i = active_[p];
            const double difference = highest_ - (fall_[i] - s_[i]);
            if (difference <= 0) continue;
            const double k = static_cast<double>(engine_.at(row, p, i));
            const double curvature = std::max(own + engine_.diagonal(i) - 2 * k, kSmallestCurvature);
            if (difference * difference > best * curvature) {
                best = difference * difference / curvature;
                partner = i;
            }
        }
        working = {most_rising_, partner};
    }

    // The examples that violate the conditions most: their rows will be needed soon.
    Indices likely_next() const {
        Best rising, falling;
        rising.clear(kCompany);
        falling.clear(kCompany);
        for (const std::int32_t i : active_) {
            const double value = y_[i] - s_[i];
            if (value > lowest_ && can_rise(y_[i], alpha_[i], upper_[i])) rising.offer(value, i);
            if (value < highest_ && can_fall(y_[i], alpha_[i], upper_[i])) falling.offer(-value, i);
        }
        Indices examples;
        take(rising.sorted(), kCompany, examples);
        take(falling.sorted(), kCompany, examples);
        return examples;
    }

    void select_steepest(Indices& working) {
        const std::size_t half =
            static_cast<std::size_t>(std::max<std::int64_t>(options_.working_set / 2, 1));
        Best rising, falling, cached_rising, cached_falling;
        rising.clear(half);
        falling.clear(half);
        cached_rising.clear(options_.prefer_cached ? half : 0);
        cached_falling.clear(options_.prefer_cached ? half : 0);
        for (const std::int32_t i : active_) {
            const double value = y_[i] - s_[i];
            // Only what violates the conditions together with the most violating partner.
            if (value > lowest_ && can_rise(y_[i], alpha_[i], upper_[i])) {
                rising.offer(value, i);
                if (options_.prefer_cached && engine_.has_row(i)) cached_rising.offer(value, i);
            }
            if (value < highest_ && can_fall(y_[i], alpha_[i], upper_[i])) {
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

    // Half of them would let y alpha rise most, half fall, whether or not they alone gain by it: where all
    // kernel values share a constant (a bias feature), most of the gain is in exchanges between the two.
    void select_without_equality(Indices& working) {
        const std::size_t half = static_cast<std::size_t>((options_.working_set + 1) / 2);
        Best rising, falling;
        rising.clear(half);
        falling.clear(half);
        for (const std::int32_t i : active_) {
            const double value = y_[i] - s_[i];
            if (can_rise(y_[i], alpha_[i], upper_[i])) rising.offer(value, i);
            if (can_fall(y_[i], alpha_[i], upper_[i])) falling.offer(-value, i);
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
        const double middle = lambda();
        for (const std::int32_t i : active_) {
            const double excess = y_[i] - s_[i] - middle;
            if ((excess > options_.tol && can_rise(y_[i], alpha_[i], upper_[i])) ||
                (excess < -options_.tol && can_fall(y_[i], alpha_[i], upper_[i]))) {
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

    // Solves the problem on the working set; false when nothing moved.
    bool improve(const Indices& working) {
        const std::size_t m = working.size();
        small_.resize(m);
        engine_.prefetch(working);
        engine_.block(working, small_.K.data());
        for (std::size_t a = 0; a < m; ++a) {
            const std::int32_t i = working[a];
            small_.y[a] = y_[i];
            small_.upper[a] = upper_[i];
            small_.alpha[a] = alpha_[i];
            small_.omega[a] = s_[i] - y_[i];
        }
        // A part of the way is enough while others will move too.
        const double inner = std::max(kInnerShare * violation_, kInnerFloor * options_.tol);
        if (options_.equality) {
            small_.solve_with_equality(inner);
        } else {
            small_.solve_without_equality(inner);
        }
        change_.resize(m);
        bool moved = false;
        for (std::size_t a = 0; a < m; ++a) {
            change_[a] = (small_.alpha[a] - alpha_[working[a]]) * y_[working[a]];
            moved = moved || change_[a] != 0;
            alpha_[working[a]] = small_.alpha[a];
            set_targets(working[a]);
        }
        if (moved) update_s(working);
        return moved;
    }

    void update_s(const Indices& working) {
        if constexpr (Engine::lends_rows) {
            if (options_.equality && working.size() == 2 && looks_at_all()) {
                const Value *const first = engine_.row(working[0]), *const second = engine_.row(working[1]);
                note(loops_.with(first).update(first, change_[0], second, change_[1], rise_.data(),
                                               fall_.data(), n_, s_));
                scanned_ = true;
                return;
            }
        }
        engine_.update(working, change_, active_, s_);
        scanned_ = false;
    }

    // The multipliers are looked at a few times in each stretch of h iterations.
    std::int64_t shrink_interval() const { return std::max<std::int64_t>(history_ / kLooks, 1); }

    void shrink() {
        const double middle = lambda();
        Indices kept;
        for (std::size_t p = 0; p < active_.size(); ++p) {
            const std::int32_t i = active_[p];
            const double multiplier = y_[i] * (s_[i] + middle) - 1;
            const bool idle =
                (alpha_[i] <= 0 && multiplier > options_.shrink_threshold + options_.tol) ||
                (alpha_[i] >= upper_[i] && -multiplier > options_.shrink_threshold + options_.tol);
            streak_[i] = idle ? streak_[i] + 1 : 0;
            if (streak_[i] < kLooks) kept.push_back(static_cast<std::int32_t>(p));
        }
        // Leaving out a few examples does not pay for moving the cached rows.
        if (kept.size() * 20 > active_.size() * 19 || kept.size() < 2) return;
        engine_.shrink(kept);
        for (const std::int32_t i : active_) rise_[i] = -infinity(), fall_[i] = infinity();
        Indices active(kept.size());
        for (std::size_t p = 0; p < kept.size(); ++p) active[p] = active_[kept[p]];
        active_ = std::move(active);
        for (const std::int32_t i : active_) set_targets(i);
        scanned_ = false;
    }

    static constexpr double kInnerShare = 0.05, kInnerFloor = 0.1;
    static constexpr std::int64_t kLooks = 5;
    static constexpr std::size_t kCompany = 4;
    static constexpr double infinity() { return std::numeric_limits<double>::infinity(); }

    Engine& engine_;
    const DecompositionOptions& options_;
    const std::int64_t n_;
    const double *y_, *upper_;
    double *alpha_, *s_, *progress_;
    Random random_;
    const PairLoops loops_;
    std::vector<double> rise_, fall_;
    std::vector<Value> diagonal_;
    bool scanned_ = false;  // whether the extremes are those of the present s
    Indices active_;
    std::vector<std::int64_t> streak_;
    std::int64_t history_;
    double highest_ = 0, lowest_ = 0, violation_ = 0;
    std::int32_t most_rising_ = -1, most_falling_ = -1;
    SmallProblem small_;
    std::vector<double> change_;
};

}  // namespace widemargin
