// Multi-class machines with any kernel, by decomposition. What is solved stands in
// multiclass/multiclass_dual.hpp.
//
// The scores s_mi = sum_j alpha_jm K(x_i, x_j) of all examples are kept up to date, so every round knows the
// exact gap and how far each example is from its optimum. It then works on the examples with large
// violations, in random order, a batch at a time: the examples of a batch are moved in turn several times
// over the kernel values among them (one example: Keerthi et al., 2008), and then all scores are updated
// once. Rows of the kernel matrix are cached (kernel/kernel_cache.hpp), and computed on several threads; no
// result depends on their number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "aligned.hpp"
#include "kernel/kernel_cache.hpp"
#include "multiclass/multiclass_dual.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "simd/loops.hpp"

namespace widemargin {

template <typename T, typename Real>
class KernelClasses {
  public:
    KernelClasses(KernelMatrix<T, Real>& matrix, std::int64_t cache_bytes, const MulticlassProblem& problem,
                  const MulticlassOptions& options, const KernelClassesResults& results, int n_threads,
                  const StopFlag& stop)
        : matrix_(matrix),
          cache_(matrix, cache_bytes, kBatch, stop),
          problem_(problem),
          options_(options),
          results_(results),
          n_(problem.n),
          k_(problem.n_classes),
          stride_((k_ + 3) / 4 * 4),
          n_threads_(n_threads),
          u_(n_ * stride_),
          batch_scores_(kBatch * stride_),
          batch_changes_(kBatch * stride_),
          scores_(stride_),
          h_(stride_),
          change_(stride_),
          excess_(stride_, -kNoClass<double>),
          violation_(n_),
          random_(options.seed),
          stop_(stop) {
        std::fill_n(excess_.begin(), k_, 1.0);
        for (std::int64_t i = 0; i < n_; ++i) {
            if (!(problem_.costs[i] > 0)) continue;
            rows_.push_back(static_cast<std::int32_t>(i));
            if (!options_.each_class) u_[i * stride_ + problem_.classes[i]] = problem_.costs[i];
        }
        row_.stride = stride_;
        row_.relaxation = kRelaxation;
        row_.each_class = options_.each_class;
        row_.excess = excess_.data();
        row_.h = h_.data();
        row_.change = change_.data();
    }

    void solve() {
        std::int64_t passes = 0, progress_at = 0;
        double highest = -std::numeric_limits<double>::infinity(), smallest = -highest;
        bool converged = false;
        while (!stop_) {
            const double largest = measure_all(), dual = objective_ - gap_;
            const double relative = gap_ <= 0 ? 0.0 : gap_ / std::abs(objective_);
            converged = gap_ <= options_.tol * std::abs(objective_);
            // The gap rises and falls while D rises, and D seems at rest before the gap is.
            if (dual > highest + kRounding * std::abs(dual) || relative < smallest) {
                highest = std::max(dual, highest);
                smallest = std::min(relative, smallest);
                progress_at = passes;
            }
            if (converged || passes == options_.max_passes || passes - progress_at >= kPatience) break;
            ++passes;
            Indices chosen;
            for (const std::int32_t i : rows_) {
                if (violation_[i] > kWorthwhile * largest) chosen.push_back(i);
            }
            random_.shuffle(chosen);
            show_progress(results_, relative, static_cast<std::int64_t>(chosen.size()), passes);
            for (std::size_t first = 0; first < chosen.size() && !stop_; first += kBatch) {
                const std::size_t last = std::min(first + kBatch, chosen.size());
                work_on(Indices(chosen.begin() + first, chosen.begin() + last), kEnough * largest);
            }
        }
        if (stop_) return;
        keep(passes, converged);
    }

  private:
    // Examples of a batch, and how often it is worked through at most.
    static constexpr std::size_t kBatch = 64;
    static constexpr int kRounds = 10;
    // An example is chosen if its violation is more than this share of the largest, and a batch is left when
    // its own are less than the other share.
    static constexpr double kWorthwhile = 0.1, kEnough = 0.05;
    // Passes without progress after which rounding, or an indefinite kernel, prevents any.
    static constexpr std::int64_t kPatience = 100;
    static constexpr double kRounding = 1e-15;

    // Sets row_ to example i with these scores (null: those of all examples), and measures it.
    void measure(std::int64_t i, const double* scores) {
        if (!scores) {
            for (std::int64_t m = 0; m < k_; ++m) scores_[m] = results_.scores[m * n_ + i];
            scores = scores_.data();
        }
        row_.own = static_cast<std::int32_t>(problem_.classes[i]);
        row_.cost = problem_.costs[i];
        row_.curvature = matrix_.diagonal(i);
        row_.most = row_.cost * static_cast<double>(k_ - 1);
        row_.scores = scores;
        row_.u = u_.data() + i * stride_;
        loops_.measure_classes(row_);
    }

    // The exact objective and gap, and the violation of every example; returns the largest.
    double measure_all() {
        double largest = 0, sum = 0, ww = 0;
        gap_ = 0;
        for (const std::int32_t i : rows_) {
            measure(i, nullptr);
            gap_ += row_.gap;
            violation_[i] = row_.violation;
            results_.xi[i] = row_.xi;
            largest = std::max(largest, row_.violation);
            // sum_m alpha_im s_mi, by the differences from the own class
            for (std::int64_t m = 0; m < k_; ++m) {
                if (m == row_.own || row_.u[m] == 0) continue;
                sum += row_.u[m];
                ww += row_.u[m] * (scores_[row_.own] - scores_[m]);
            }
        }
        objective_ = sum - 0.5 * ww + gap_;
        return largest;
    }

    void work_on(const Indices& batch, double enough) {
        const std::int64_t size = static_cast<std::int64_t>(batch.size());
        cache_.fetch(batch, n_threads_);
        const Real* rows[kBatch];
        for (std::int64_t a = 0; a < size; ++a) {
            rows[a] = cache_.row(batch[a]);
            for (std::int64_t m = 0; m < k_; ++m)
                batch_scores_[a * stride_ + m] = results_.scores[m * n_ + batch[a]];
        }
        std::fill(batch_changes_.data(), batch_changes_.data() + size * stride_, 0.0);
        for (int round = 0; round < kRounds && !stop_; ++round) {
            double largest = 0;
            for (std::int64_t a = 0; a < size; ++a) {
                measure(batch[a], batch_scores_.data() + a * stride_);
                largest = std::max(largest, row_.violation);
                if (!(row_.violation > 0)) continue;
                loops_.move_classes(row_);
                double* const changes = batch_changes_.data() + a * stride_;
                for (std::int64_t m = 0; m < k_; ++m) changes[m] += change_[m];
                for (std::int64_t b = 0; b < size; ++b) {
                    const double value = rows[a][batch[b]];
                    double* const scores = batch_scores_.data() + b * stride_;
                    for (std::int64_t m = 0; m < k_; ++m) scores[m] += value * change_[m];
                }
            }
            if (largest <= enough) break;
        }
        for (std::int64_t m = 0; m < k_; ++m) {
            double factors[kBatch];
            const Real* moved[kBatch];
            std::int64_t count = 0;
            for (std::int64_t a = 0; a < size; ++a) {
                const double change = batch_changes_[a * stride_ + m];
                if (change == 0) continue;
                factors[count] = change;
                moved[count++] = rows[a];
            }
            loops_.over<Real>().add_columns(factors, moved, count, n_, results_.scores + m * n_);
        }
    }

    void keep(std::int64_t passes, bool converged) {
        for (const std::int32_t i : rows_) {
            const std::int64_t own = problem_.classes[i];
            double* const alpha = results_.alpha + i * k_;
            double given = 0;
            for (std::int64_t m = 0; m < k_; ++m) {
                if (m == own) continue;
                const double u = u_[i * stride_ + m];
                given += u;
                alpha[m] = u > 0 ? -u : 0.0;
            }
            alpha[own] = given;
        }
        *results_.objective = objective_;
        *results_.gap = gap_;
        *results_.passes = passes;
        *results_.converged = converged;
    }

    KernelMatrix<T, Real>& matrix_;
    RowCache<T, Real> cache_;
    const MulticlassProblem problem_;
    const MulticlassOptions options_;
    const KernelClassesResults results_;
    const std::int64_t n_, k_, stride_;
    const int n_threads_;
    AlignedBuffer<double> u_, batch_scores_, batch_changes_, scores_, h_, change_;
    std::vector<double> excess_, violation_;
    ClassRow<double> row_{};
    Random random_;
    const StopFlag& stop_;
    const Loops& loops_ = vector_loops();
    Indices rows_;  // those that take part
    double gap_ = 0, objective_ = 0;
};

// Returns the number of computed rows of the kernel matrix.
template <typename Real, typename T, class Poll>
std::int64_t train_kernel_classes(const CsrView<T>& x, const KernelParameters& kernel,
                                  std::int64_t cache_bytes, const MulticlassProblem& problem,
                                  const MulticlassOptions& options, const KernelClassesResults& results,
                                  int n_threads, Poll&& poll) {
    const Real* given = nullptr;
    if constexpr (std::is_same_v<Real, double>) given = problem.gram;
    KernelMatrix<T, Real> matrix(x, kernel, given, false, 0.0, 0);
    run_parallel(
        1,
        [&](int, const StopFlag& stop) {
            KernelClasses<T, Real>(matrix, cache_bytes, problem, options, results, n_threads, stop).solve();
        },
        poll);
    return matrix.rows_computed();
}

}  // namespace widemargin
