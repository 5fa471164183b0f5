// Linear multi-class machines by the sequential dual method. What is solved stands in
// multiclass/multiclass_dual.hpp.
//
// The weights of a feature for all classes are adjacent, so a row is read once for all classes. Passes are in
// single precision until the gap is small (kSmallestSingleGap) or stalls, then in double precision. Examples
// whose u are all at bounds, and further from leaving them than any example is from its optimum, are dropped
// from the following passes; examples that add little to the gap are visited less often. Every pass estimates
// the gap for nothing; when the estimate is small enough, a deciding pass over all examples in double
// precision computes it from weights that are summed up afresh, and brings back what was dropped wrongly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "large_array.hpp"
#include "multiclass/multiclass_dual.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

template <typename T>
class LinearClasses {
  public:
    LinearClasses(const CsrView<T>& x, const MulticlassProblem& problem, const MulticlassOptions& options,
                  const LinearClassesResults& results)
        : shared_(x, nullptr),
          problem_(problem),
          options_(options),
          results_(results),
          n_(x.n_rows),
          d_(x.n_columns),
          k_(problem.n_classes),
          stride_((k_ + 3) / 4 * 4),
          own_(problem.classes, problem.classes + n_),
          u_(n_ * stride_),
          w_((d_ + 1) * stride_),
          random_(options.seed) {
        for (std::int64_t i = 0; i < n_; ++i) {
            if (problem_.costs[i] > 0) rows_.push_back(static_cast<std::int32_t>(i));
            if (!options_.each_class) u_[i * stride_ + own_[i]] = problem_.costs[i];
        }
        active_ = rows_;
    }

    void solve(const StopFlag& stop) {
        target_ = kEstimateShare * options_.tol;
        bool done = rows_.empty();
        if (!done && is_in_range_of_single()) {
            Passes<float, float> passes(*this, shared_.values32);
            passes.begin();
            done = descend(passes, std::max(target_, kSmallestSingleGap), stop);
        }
        if (!done && !stop) {
            active_ = rows_;
            Passes<T, double> passes(*this, shared_.x.values);
            done = descend(passes, target_, stop);
        }
        if (stop) return;
        if (rows_.empty()) decide(stop);
        keep(done || rows_.empty());
    }

  private:
    // The estimate adds up the terms of the gap as the examples were visited, some of them passes ago, and
    // leaves out what was dropped: the gap is usually larger. A deciding pass costs as much as a few others.
    static constexpr double kEstimateShare = 0.8;
    // An example whose term was less than this multiple of the average waits for up to so many passes: few
    // examples make up most of the gap.
    static constexpr double kWorthwhile = 2;
    static constexpr std::uint8_t kMostSkipped = 5;
    // Single precision cannot show smaller gaps, and it may stall before.
    static constexpr double kSmallestSingleGap = 1e-4;
    static constexpr double kRounding = 1e-15;
    // Costs and squared lengths of rows outside this range are left to double precision.
    static constexpr double kLeastSingle = 1e-6, kMostSingle = 1e6;

    bool is_in_range_of_single() const {
        for (const std::int32_t i : rows_) {
            const double cost = problem_.costs[i], q = curvature(i);
            if (!(cost > kLeastSingle && cost < kMostSingle && q < kMostSingle)) return false;
            if (q > 0 && q < kLeastSingle) return false;
        }
        return true;
    }
    double curvature(std::int64_t i) const {
        return shared_.squared_norms[i] + options_.bias * options_.bias;
    }

    // Passes in one precision, and its copies of u and w.
    template <typename V, typename Real>
    struct Passes {
        static constexpr bool kSingle = std::is_same_v<Real, float>;
        // Passes without progress after which precision is exhausted.
        static constexpr std::int64_t kPatience = kSingle ? 20 : 100;
        LinearClasses& solver;
        std::int64_t stride;
        std::vector<Real> costs, curvatures, excess;
        LargeArray<Real> own_u, own_w;
        AlignedBuffer<Real> scores, h, change;
        ClassPass<V, Real> pass{};
        std::vector<Real> gaps;             // of every example, at its last visit
        std::vector<std::uint8_t> skipped;  // passes since then
        double gap = 0;                     // their sum over active examples
        Indices visited, asleep;

        Passes(LinearClasses& solver, const V* values)
            : solver(solver),
              stride(kSingle ? (solver.k_ + 7) / 8 * 8 : solver.stride_),
              costs(solver.problem_.costs, solver.problem_.costs + solver.n_),
              curvatures(solver.n_),
              excess(stride, -kNoClass<Real>),
              own_u(kSingle ? solver.n_ * stride : 0),
              own_w(kSingle ? (solver.d_ + 1) * stride : 0),
              scores(stride),
              h(stride),
              change(stride) {
            std::fill_n(excess.begin(), solver.k_, Real(1));
            for (std::int64_t i = 0; i < solver.n_; ++i)
                curvatures[i] = static_cast<Real>(solver.curvature(i));
            pass.indptr = solver.shared_.x.indptr;
            pass.indices = solver.shared_.x.indices;
            pass.values = values;
            pass.costs = costs.data();
            pass.curvatures = curvatures.data();
            pass.own = solver.own_.data();
            pass.n_classes = solver.k_;
            pass.bias_row = solver.d_;
            pass.bias = static_cast<Real>(solver.options_.bias);
            pass.scores = scores.data();
            gaps.assign(solver.n_, std::numeric_limits<Real>::infinity());
            skipped.assign(solver.n_, 0);
            pass.gaps = gaps.data();
            pass.row.relaxation = static_cast<Real>(kRelaxation);
            pass.row.stride = stride;
            pass.row.each_class = solver.options_.each_class;
            pass.row.excess = excess.data();
            pass.row.h = h.data();
            pass.row.change = change.data();
            pass.shrink_beyond = std::numeric_limits<Real>::infinity();
            if constexpr (kSingle) {
                pass.u = own_u.data();
                pass.w = own_w.data();
            } else {
                pass.u = solver.u_.data();
                pass.w = solver.w_.data();
            }
        }

        // Starts from the solver's u and w.
        void begin() {
            for (std::int64_t i = 0; i < solver.n_; ++i) {
                for (std::int64_t m = 0; m < solver.k_; ++m)
                    pass.u[i * stride + m] = static_cast<Real>(solver.u_[i * solver.stride_ + m]);
            }
            for (std::int64_t j = 0; j <= solver.d_; ++j) {
                for (std::int64_t m = 0; m < solver.k_; ++m)
                    pass.w[j * stride + m] = static_cast<Real>(solver.w_[j * solver.stride_ + m]);
            }
        }

        // One pass over those that are worth a visit; the limit for dropping examples in the next one is its
        // largest violation.
        void run() {
            visited.clear();
            asleep.clear();
            const double least = kWorthwhile * gap / static_cast<double>(solver.active_.size());
            for (const std::int32_t i : solver.active_) {
                if (gaps[i] < least && skipped[i] < kMostSkipped) {
                    asleep.push_back(i);
                    ++skipped[i];
                } else {
                    visited.push_back(i);
                    skipped[i] = 0;
                }
            }
            solver.random_.shuffle(visited);
            pass.rows = visited.data();
            pass.n_rows = static_cast<std::int64_t>(visited.size());
            if constexpr (kSingle) {
                solver.loops_.rough_pass_over_classes(pass);
            } else {
                solver.loops_.template over<V>().pass_over_classes(pass);
            }
            visited.resize(pass.n_rows);
            solver.active_ = visited;
            solver.active_.insert(solver.active_.end(), asleep.begin(), asleep.end());
            gap = 0;
            for (const std::int32_t i : solver.active_) gap += gaps[i];
            pass.shrink_beyond = pass.violation > 0 ? pass.violation : std::numeric_limits<Real>::infinity();
        }

        // After a deciding pass: the examples that may still move, all of which are visited next.
        void bring_back() {
            constexpr Real infinity = std::numeric_limits<Real>::infinity();
            const double limit = pass.violation > 0 ? double(pass.violation) : double(infinity);
            solver.active_.clear();
            for (const std::int32_t i : solver.rows_) {
                if (solver.room_[i] <= limit) solver.active_.push_back(i);
                gaps[i] = infinity;
            }
            pass.shrink_beyond = infinity;
        }

        // Hands u to the solver: feasible in double precision, and at a bound where it is at one here.
        void hand_over() {
            if constexpr (!kSingle) return;
            for (const std::int32_t i : solver.rows_) {
                const Real* const from = pass.u + i * stride;
                double* const to = solver.u_.data() + i * solver.stride_;
                const double cost = solver.problem_.costs[i];
                double sum = 0;
                for (std::int64_t m = 0; m < solver.k_; ++m) {
                    if (m == solver.own_[i]) continue;
                    to[m] = from[m] >= costs[i] ? cost : std::min<double>(from[m], cost);
                    sum += to[m];
                }
                if (solver.options_.each_class) continue;
                const double factor = sum > cost || from[solver.own_[i]] <= 0 ? cost / sum : 1.0;
                for (std::int64_t m = 0; m < solver.k_; ++m) to[m] *= factor;
                to[solver.own_[i]] = factor == 1.0 ? std::max(cost - sum, 0.0) : 0.0;
            }
        }
    };

    // Passes until a deciding pass finds a gap of at most tol; false if precision or max_passes end them
    // first.
    template <class Precision>
    bool descend(Precision& passes, double target, const StopFlag& stop) {
        double smallest = std::numeric_limits<double>::infinity();
        std::int64_t progress_at = passes_;
        bool futile = false;  // no progress since all examples were brought back
        while (passes_ < options_.max_passes && !stop) {
            ++passes_;
            passes.run();
            dual_ += passes.pass.gain;
            const double estimate = passes.gap > 0 ? passes.gap / (dual_ + passes.gap) : 0.0;
            show_progress(results_, estimate, static_cast<std::int64_t>(active_.size()), passes_);
            // The gap rises and falls while D rises, and D seems at rest before the gap is.
            const bool rises = !Precision::kSingle && passes.pass.gain > kRounding * std::abs(dual_);
            if (estimate < smallest || rises) {
                smallest = std::min(estimate, smallest);
                progress_at = passes_;
                futile = false;
            }
            const bool stalled = passes_ - progress_at >= Precision::kPatience;
            if (estimate > target && !stalled && !active_.empty() && passes_ < options_.max_passes) continue;
            passes.hand_over();
            decide(stop);
            if (stop) return false;
            if (gap_ <= options_.tol * objective_) return true;
            if (Precision::kSingle ? stalled || target <= kSmallestSingleGap : stalled && futile)
                return false;
            futile = stalled;
            if (stalled) progress_at = passes_;
            passes.bring_back();
            target =
                std::max(0.9 * std::min(target, estimate) * std::min(options_.tol * objective_ / gap_, 1.0),
                         Precision::kSingle ? kSmallestSingleGap : 0.0);
        }
        return false;
    }

    // w, the gap, the slacks and the room of all examples, in double precision.
    void decide(const StopFlag& stop) {
        gather_weights();
        std::vector<double> excess(stride_, -kNoClass<double>);
        std::fill_n(excess.begin(), k_, 1.0);
        AlignedBuffer<double> scores(stride_), h(stride_);
        std::vector<double> start(stride_);
        room_.assign(n_, std::numeric_limits<double>::infinity());
        double sum = 0, ww = 0;
        gap_ = 0;
        for (std::int64_t j = 0; j <= d_; ++j) {
            for (std::int64_t m = 0; m < k_; ++m) ww += w_[j * stride_ + m] * w_[j * stride_ + m];
        }
        for (std::int64_t m = 0; m < k_; ++m) start[m] = options_.bias * w_[d_ * stride_ + m];
        ClassRow<double> row{};
        row.stride = stride_;
        row.each_class = options_.each_class;
        row.excess = excess.data();
        row.scores = scores.data();
        row.h = h.data();
        for (std::size_t r = 0; r < rows_.size() && !stop; ++r) {
            const std::int64_t i = rows_[r];
            const Row<T> x = shared_.x.row(i), next = shared_.x.row(rows_[std::min(r + 1, rows_.size() - 1)]);
            loops_.over<T>().score_row(x.indices, x.values, x.size, {next.indices, next.size}, w_.data(),
                                       stride_, start.data(), stride_, scores.data());
            row.own = own_[i];
            row.cost = problem_.costs[i];
            row.u = u_.data() + i * stride_;
            loops_.measure_classes(row);
            gap_ += row.gap;
            results_.xi[i] = row.xi;
            room_[i] = row.room;
            for (std::int64_t m = 0; m < k_; ++m) sum += m == row.own ? 0.0 : row.u[m];
        }
        dual_ = sum - 0.5 * ww;
        objective_ = dual_ + gap_;
    }

    // w = sum_i alpha_i x_i, free of what single precision or many updates have left behind.
    void gather_weights() {
        std::fill(w_.begin(), w_.end(), 0.0);
        std::vector<std::pair<std::int64_t, double>> steps;
        for (const std::int32_t i : rows_) {
            steps.clear();
            double own = 0;
            for (std::int64_t m = 0; m < k_; ++m) {
                const double u = u_[i * stride_ + m];
                if (u == 0 || m == own_[i]) continue;
                steps.emplace_back(m, -u);
                own += u;
            }
            if (steps.empty()) continue;
            steps.emplace_back(own_[i], own);
            const Row<T> x = shared_.x.row(i);
            for (std::int64_t k = 0; k < x.size; ++k) {
                double* const w = w_.data() + std::int64_t(x.indices[k]) * stride_;
                const double value = x.values[k];
                for (const auto& [m, step] : steps) w[m] += step * value;
            }
            for (const auto& [m, step] : steps) w_[d_ * stride_ + m] += step * options_.bias;
        }
    }

    void keep(bool converged) {
        for (std::int64_t j = 0; j < d_; ++j) {
            const double* const w = w_.data() + std::int64_t(shared_.column_of[j]) * stride_;
            std::copy(w, w + k_, results_.coef + j * k_);
        }
        for (std::int64_t m = 0; m < k_; ++m) results_.intercept[m] = options_.bias * w_[d_ * stride_ + m];
        for (const std::int32_t i : rows_) {
            double* const alpha = results_.alpha + i * k_;
            double own = 0;
            for (std::int64_t m = 0; m < k_; ++m) {
                if (m == own_[i]) continue;
                own += u_[i * stride_ + m];
                alpha[m] = u_[i * stride_ + m] > 0 ? -u_[i * stride_ + m] : 0.0;
            }
            alpha[own_[i]] = own;
        }
        *results_.objective = objective_;
        *results_.gap = gap_;
        *results_.passes = passes_;
        *results_.converged = converged;
    }

    const SharedRows<T> shared_;
    const MulticlassProblem problem_;
    const MulticlassOptions options_;
    const LinearClassesResults results_;
    const std::int64_t n_, d_, k_, stride_;
    const std::vector<std::int32_t> own_;
    LargeArray<double> u_, w_;  // n x stride; (d + 1) x stride, the bias feature last
    Random random_;
    const Loops& loops_ = vector_loops();
    Indices rows_, active_;  // those that take part, and those that are not dropped
    std::vector<double> room_;
    double target_ = 0, dual_ = 0, gap_ = 0, objective_ = 0;
    std::int64_t passes_ = 0;
};

template <typename T, class Poll>
void train_linear_classes(const CsrView<T>& x, const MulticlassProblem& problem,
                          const MulticlassOptions& options, const LinearClassesResults& results,
                          Poll&& poll) {
    run_parallel(
        1, [&](int, const StopFlag& stop) { LinearClasses<T>(x, problem, options, results).solve(stop); },
        poll);
}

}  // namespace widemargin
