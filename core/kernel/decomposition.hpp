// Support vector machines with any kernel by decomposition: SVM-light's algorithm (thesis, chapter 8).
//
//   min_alpha  W(alpha) = 1/2 sum_ij y_i y_j alpha_i alpha_j K_ij - sum_i alpha_i      (OP 11)
//   0 <= alpha_i <= U_i,  and  sum_i y_i alpha_i = 0  for the biased hyperplane; U_i may be infinite.
//
// While the optimality conditions are violated: select q variables (kernel/working_set.hpp), solve the
// problem on them exactly (kernel/small_qp.hpp), update s_i = sum_j alpha_j y_j K_ij (8.36-8.37;
// kernel/gradient_engines.hpp).
//
// Stopping (8.32)-(8.35), with omega_i = y_i g_i = s_i - y_i: the largest -omega of those that may rise,
// minus the smallest -omega of those that may fall, is <= tol. Then every condition holds within tol for
// lambda_eq, the mean of -omega over unbounded support vectors (8.29).
//
// The solver ends without convergence after max_iterations; an iteration with many steps inside its working
// set counts as several. It also ends at the limit of the arithmetic: when a long stretch of iterations
// lowers neither the violation nor, beyond rounding, the objective.
//
// Shrinking: an example whose multiplier estimate (8.30, 8.31) exceeded a threshold in each of the last h
// iterations is shrunk (left out). At the end s is computed for shrunk examples; if a condition fails there,
// all examples become active again and h doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernel/gradient_engines.hpp"
#include "kernel/small_qp.hpp"
#include "kernel/threshold.hpp"
#include "kernel/working_set.hpp"
#include "parallel.hpp"
#include "rounding.hpp"
#include "simd/loops.hpp"

namespace widemargin {

// The state of a run, for another thread while it works and for the caller at its end.
struct DecompositionReport {
    double intercept = 0, violation = 0;
    double rounding = 0;  // errors that this run added to s_i, relative to sqrt(K_ii) (rounding.hpp)
    std::int64_t iterations = 0, restarts = 0;
    bool converged = false;
};

template <class Engine>
class Decomposition {
  public:
    // y, upper, alpha, s: one entry per example of the engine. progress: violation, active examples,
    // iterations.
    Decomposition(Engine& engine, const DecompositionOptions& options, const double* y, const double* upper,
                  double* alpha, double* s, double* progress)
        : engine_(engine),
          options_(options),
          progress_(progress),
          state_(engine.size(), y, upper, alpha, s),
          working_set_(engine, options, state_, loops_),
          selections_(engine.size(), 0),
          streak_(engine.size(), 0),
          history_(options.shrink_history) {}
    // The working set holds a reference to the state.
    Decomposition(const Decomposition&) = delete;
    Decomposition& operator=(const Decomposition&) = delete;

    // `s_is_known`: s already belongs to alpha; otherwise it is computed.
    DecompositionReport solve(const StopFlag& stop, bool s_is_known = false) {
        activate_all();
        drift_ = {static_cast<double>(options_.row_values), weight_of_alphas(), 0.0};
        if (!s_is_known) compute_s();
        DecompositionReport report;
        Indices working;
        Stretch stretch{objective()};
        std::int64_t steps = 0;
        while (!stop) {
            scan();
            progress_[0] = violation_;
            progress_[1] = static_cast<double>(state_.active.size());
            progress_[2] = static_cast<double>(report.iterations);
            if (violation_ <= options_.tol) {
                if (static_cast<std::int64_t>(state_.active.size()) == state_.n) {
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
            if (stretch.is_idle(violation_, report.iterations, state_.n)) break;
            ++steps;
            ++report.iterations;
            working_set_.select(working);
            gained_ = 0, inner_steps_ = 0;
            if (!improve(working, stop)) {
                // A random working set may gain nothing; the most violating pair always gains, except at the
                // limit of the arithmetic.
                working_set_.select_most_violating(working);
                if (!improve(working, stop)) break;
            }
            stretch.gain += gained_;
            report.iterations += std::min(inner_steps_ / kStepsOfIteration / std::int64_t(working.size()),
                                          options_.max_iterations - report.iterations);
            if (options_.shrinking && steps % shrink_interval() == 0) shrink();
        }
        if (stop) return report;  // the result is not used
        if (static_cast<std::int64_t>(state_.active.size()) != state_.n) {
            reactivate();
            scan();
        }
        report.intercept = options_.equality
                               ? threshold_of(state_.y, state_.upper, state_.alpha, state_.s, state_.n).value
                               : 0.0;
        report.violation = violation_;
        report.rounding = drift_.error;
        return report;
    }

    // How often each example has been in a working set, over all solutions.
    const std::vector<std::int64_t>& selections() const { return selections_; }

  private:
    using Value = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<Engine&>().row(0))>>;

    // The iterations since the last improvement of the violation or the objective beyond rounding.
    struct Stretch {
        double objective;  // at the start
        double gain = 0;   // decrease of the objective since then
        double violation = std::numeric_limits<double>::infinity();
        std::int64_t begin = 0;

        bool is_idle(double now, std::int64_t iteration, std::int64_t n) {
            if (now < kLess * violation || gain > kVisible * std::abs(objective)) {
                objective -= gain;
                gain = 0;
                violation = std::min(violation, now);
                begin = iteration;
            }
            return iteration - begin > std::max(kLong, 100 * n);
        }
        static constexpr double kLess = 0.99, kVisible = 1e-17;
        static constexpr std::int64_t kLong = 50'000;
    };

    double objective() const {
        double sum = 0;
        for (std::int64_t i = 0; i < state_.n; ++i)
            sum += state_.alpha[i] * (0.5 * state_.y[i] * state_.s[i] - 1);
        return sum;
    }

    std::vector<double> signed_alpha() const {
        std::vector<double> result(state_.n);
        for (std::int64_t i = 0; i < state_.n; ++i) result[i] = state_.alpha[i] * state_.y[i];
        return result;
    }

    void compute_s() {
        if (std::any_of(state_.alpha, state_.alpha + state_.n, [](double a) { return a != 0; })) {
            engine_.from_scratch(signed_alpha(), state_.s);
            engine_.start(state_.active);
            drift_.from_scratch(state_.n);
        } else {
            std::fill(state_.s, state_.s + state_.n, 0.0);
        }
    }

    double length_of(std::int64_t i) const { return std::sqrt(std::max(engine_.diagonal(i), 0.0)); }
    double weight_of_alphas() const {
        double weight = 0;
        for (std::int64_t i = 0; i < state_.n; ++i) {
            if (state_.alpha[i] > 0) weight += state_.alpha[i] * length_of(i);
        }
        return weight * (1 + rounding_of(static_cast<double>(state_.n)));
    }

    void activate_all() {
        state_.active = all_of(state_.n);
        std::fill(streak_.begin(), streak_.end(), 0);
        for (std::int64_t i = 0; i < state_.n; ++i) state_.set_targets(i);
        scanned_ = false;
        engine_.start(state_.active);
    }

    void reactivate() {
        std::vector<char> is_active(state_.n, 0);
        for (const std::int32_t i : state_.active) is_active[i] = 1;
        Indices shrunk;
        for (std::int64_t i = 0; i < state_.n; ++i) {
            if (!is_active[i]) shrunk.push_back(static_cast<std::int32_t>(i));
        }
        if (!Engine::keeps_s_of_all) {
            engine_.restore(signed_alpha(), shrunk, state_.s);
            drift_.from_scratch(state_.n);
        }
        activate_all();
    }

    // Finds the most violating examples among the active ones.
    void scan() {
        if (options_.equality) {
            if (!scanned_)
                state_.note(state_.seen_whole<Engine>()
                                ? loops_.extremes(state_.rise.data(), state_.fall.data(), state_.s, state_.n)
                                : extremes_of_active());
            scanned_ = false;
            violation_ = state_.most_rising < 0 || state_.most_falling < 0
                             ? 0.0
                             : std::max(state_.highest - state_.lowest, 0.0);
            return;
        }
        state_.highest = 0;
        state_.most_rising = state_.most_falling = -1;
        for (const std::int32_t i : state_.active) {
            // The projected gradient, as the direction in which y alpha would move.
            const double value = state_.y[i] - state_.s[i];  // -omega
            const double pull = state_.y[i] > 0 ? value : -value;
            const bool moves = pull > 0 ? state_.alpha[i] < state_.upper[i] : state_.alpha[i] > 0;
            if (moves && std::abs(value) > state_.highest)
                state_.highest = std::abs(value), state_.most_rising = i;
        }
        violation_ = state_.highest;
    }

    Extremes extremes_of_active() const {
        Extremes found{-infinity(), infinity(), -1, -1};
        for (const std::int32_t i : state_.active) {
            if (state_.rise[i] - state_.s[i] > found.highest)
                found.highest = state_.rise[i] - state_.s[i], found.rising = i;
            if (state_.fall[i] - state_.s[i] < found.lowest)
                found.lowest = state_.fall[i] - state_.s[i], found.falling = i;
        }
        return found;
    }

    // Solves the problem on the working set; false if nothing changed.
    bool improve(const Indices& working, const StopFlag& stop) {
        const std::size_t m = working.size();
        small_.resize(m);
        engine_.prefetch(working);
        engine_.block(working, small_.K.data());
        for (std::size_t a = 0; a < m; ++a) {
            const std::int32_t i = working[a];
            ++selections_[i];
            small_.y[a] = state_.y[i];
            small_.upper[a] = state_.upper[i];
            small_.alpha[a] = state_.alpha[i];
            small_.omega[a] = state_.s[i] - state_.y[i];
        }
        // An approximate solution is enough while other variables will change too.
        const double inner = std::max(kInnerShare * violation_, kInnerFloor * options_.tol);
        const std::size_t steps = options_.equality ? small_.solve_with_equality(inner, stop)
                                                    : small_.solve_without_equality(inner, stop);
        inner_steps_ += static_cast<std::int64_t>(steps);
        change_.resize(m);
        bool moved = false;
        double size = 0;
        for (std::size_t a = 0; a < m; ++a) {
            change_[a] = (small_.alpha[a] - state_.alpha[working[a]]) * state_.y[working[a]];
            moved = moved || change_[a] != 0;
            const double omega_before = state_.s[working[a]] - state_.y[working[a]];
            gained_ -= 0.5 * change_[a] * (omega_before + small_.omega[a]);
            if (change_[a] != 0) size += std::abs(change_[a]) * length_of(working[a]);
            state_.alpha[working[a]] = small_.alpha[a];
            state_.set_targets(working[a]);
        }
        if (moved) {
            drift_.step(static_cast<std::int64_t>(m), size);
            update_s(working);
        }
        return moved;
    }

    void update_s(const Indices& working) {
        if constexpr (Engine::lends_rows) {
            if (options_.equality && working.size() == 2 && state_.seen_whole<Engine>()) {
                const Value *const first = engine_.row(working[0]), *const second = engine_.row(working[1]);
                state_.note(loops_.over<Value>().update(first, change_[0], second, change_[1],
                                                        state_.rise.data(), state_.fall.data(), state_.n,
                                                        state_.s));
                scanned_ = true;
                return;
            }
        }
        engine_.update(working, change_, state_.active, state_.s);
        scanned_ = false;
    }

    // The multipliers are checked a few times in every h iterations.
    std::int64_t shrink_interval() const { return std::max<std::int64_t>(history_ / kLooks, 1); }

    void shrink() {
        const double middle = state_.lambda(options_.equality);
        Indices kept;
        for (std::size_t p = 0; p < state_.active.size(); ++p) {
            const std::int32_t i = state_.active[p];
            const double multiplier = state_.y[i] * (state_.s[i] + middle) - 1;
            const bool idle =
                (state_.alpha[i] <= 0 && multiplier > options_.shrink_threshold + options_.tol) ||
                (state_.alpha[i] >= state_.upper[i] &&
                 -multiplier > options_.shrink_threshold + options_.tol);
            streak_[i] = idle ? streak_[i] + 1 : 0;
            if (streak_[i] < kLooks) kept.push_back(static_cast<std::int32_t>(p));
        }
        // Shrinking only a few examples does not pay for moving the cached rows.
        if (kept.size() * 20 > state_.active.size() * 19 || kept.size() < 2) return;
        engine_.shrink(kept);
        for (const std::int32_t i : state_.active) state_.rise[i] = -infinity(), state_.fall[i] = infinity();
        Indices active(kept.size());
        for (std::size_t p = 0; p < kept.size(); ++p) active[p] = state_.active[kept[p]];
        state_.active = std::move(active);
        for (const std::int32_t i : state_.active) state_.set_targets(i);
        scanned_ = false;
    }

    static constexpr double kInnerShare = 0.05, kInnerFloor = 0.1;
    static constexpr std::int64_t kLooks = 5;
    // The number of steps inside a working set, per variable, that count as one iteration.
    static constexpr std::int64_t kStepsOfIteration = 20;
    static constexpr double infinity() { return std::numeric_limits<double>::infinity(); }

    Engine& engine_;
    const DecompositionOptions& options_;
    double* progress_;
    const Loops& loops_ = vector_loops();
    DualState state_;
    WorkingSet<Engine> working_set_;
    bool scanned_ = false;  // whether the extremes belong to the current s
    std::vector<std::int64_t> selections_, streak_;
    std::int64_t history_;
    double violation_ = 0;
    double gained_ = 0;  // by the last iteration
    std::int64_t inner_steps_ = 0;
    SmallProblem small_;
    std::vector<double> change_;
    ScoreDrift drift_{};
};

}  // namespace widemargin
