// Sources of kernel values for the decomposition, which update s_i = sum_j alpha_j y_j K(x_i, x_j) (8.36): a
// kernel matrix with all rows kept, a cache of rows over the active columns or, for the linear kernel, a
// weight vector.
//
// An engine offers: size, diagonal, the block of K over a working set, the update (8.37) of s over the active
// examples, one row for second-order selection, computing rows on several threads, shrinking, and s from
// scratch. Long functions throw Interrupted when the engine's `stop` flag is set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "kernel/kernel_cache.hpp"
#include "parallel.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

template <typename T, typename Real>
class KeptRows {
  public:
    KeptRows(KernelMatrix<T, Real>& matrix, int row_threads, const StopFlag& stop)
        : matrix_(matrix), stop_(stop), row_threads_(row_threads), sums_(matrix.size()) {}

    // An update is cheap enough to include shrunk examples.
    static constexpr bool keeps_s_of_all = true;
    // Whether both rows of a pair stay valid while they are read.
    static constexpr bool lends_rows = true;
    // Whether update_columns exists.
    static constexpr bool has_columns = true;
    std::int64_t size() const { return matrix_.size(); }
    double diagonal(std::int64_t i) const { return matrix_.diagonal(i); }
    // Always true: every row is computed at most once, and results must not depend on the rows that other
    // labels have computed.
    bool has_row(std::int64_t) const { return true; }
    // Whether it pays off to compute other likely rows together with row i.
    bool wants_company(std::int64_t i) const {
        return row_threads_ > 1 && matrix_.rows_are_slow() && !matrix_.has_kept_row(i);
    }
    void prefetch(const Indices& examples) {
        if (row_threads_ < 2 || !matrix_.rows_are_slow()) return;
        Indices missing;
        for (const std::int32_t i : examples) {
            if (!matrix_.has_kept_row(i)) missing.push_back(i);
        }
        if (missing.size() < 2) return;
        Pieces pieces(static_cast<std::int64_t>(missing.size()), 1);
        run_parallel(
            static_cast<int>(std::min<std::size_t>(row_threads_, missing.size())),
            [&](int, const StopFlag& stop) {
                std::vector<double> sums(matrix_.size());
                pieces.each(stop, [&](std::int64_t k) { matrix_.kept_row(missing[k], sums.data(), stop); });
            },
            [&] { return stop_.load(); });
    }
    const Real* row(std::int64_t i) { return matrix_.kept_row(i, sums_.data(), stop_); }
    Real at(const Real* row, std::size_t, std::int64_t example) const { return row[example]; }

    void block(const Indices& working, double* K) {
        for (std::size_t a = 0; a < working.size(); ++a) {
            const Real* const values = row(working[a]);
            for (std::size_t b = 0; b < working.size(); ++b) K[a * working.size() + b] = values[working[b]];
        }
    }
    void update(const Indices& working, const std::vector<double>& change, const Indices&, double* s) {
        const std::int64_t n = size();
        for (std::size_t a = 0; a < working.size(); ++a) {
            if (change[a] == 0) continue;
            const Real* const values = row(working[a]);
            const double step = change[a];
            for (std::int64_t i = 0; i < n; ++i) s[i] += step * double(values[i]);
        }
    }
    // The same for kColumns vectors of changes at once: changes and s have kColumns columns.
    void update_columns(const Indices& working, const std::vector<double>& changes, double* s) {
        std::vector<const Real*> rows;
        for (const std::int32_t i : working) rows.push_back(row(i));
        const auto count = static_cast<std::int64_t>(rows.size());
        vector_loops().over<Real>().add_rows(rows.data(), changes.data(), count, size(), s);
    }
    void start(const Indices&) {}
    void shrink(const Indices&) {}
    void restore(const std::vector<double>&, const Indices&, double*) {}
    void from_scratch(const std::vector<double>& signed_alpha, double* s) {
        std::fill(s, s + size(), 0.0);
        for (std::int64_t j = 0; j < size(); ++j) {
            if (signed_alpha[j] == 0) continue;
            const Real* const values = row(j);
            for (std::int64_t i = 0; i < size(); ++i) s[i] += signed_alpha[j] * double(values[i]);
        }
    }

  private:
    KernelMatrix<T, Real>& matrix_;
    const StopFlag& stop_;
    int row_threads_;
    std::vector<double> sums_;
};

template <typename T, typename Real>
class CachedRows {
  public:
    CachedRows(KernelMatrix<T, Real>& matrix, std::int64_t budget_bytes, std::int64_t working_set,
               int row_threads, const StopFlag& stop)
        : matrix_(matrix), row_threads_(row_threads), cache_(matrix, budget_bytes, working_set + 1, stop) {}

    static constexpr bool keeps_s_of_all = false;
    static constexpr bool has_columns = false;
    static constexpr bool lends_rows = true;
    std::int64_t size() const { return matrix_.size(); }
    double diagonal(std::int64_t i) const { return matrix_.diagonal(i); }
    bool has_row(std::int64_t i) const { return cache_.has(i); }
    bool wants_company(std::int64_t) const {
        return false;
    }  // a wrong guess could evict a row that is needed
    void prefetch(const Indices& examples) { cache_.fetch(examples, row_threads_); }
    const Real* row(std::int64_t i) { return cache_.row(i); }
    Real at(const Real* row, std::size_t position, std::int64_t) const { return row[position]; }

    // Positions of the working set among the active examples, which are in ascending order.
    void block(const Indices& working, double* K) {
        positions_.resize(working.size());
        for (std::size_t b = 0; b < working.size(); ++b) {
            positions_[b] = std::lower_bound(active_.begin(), active_.end(), working[b]) - active_.begin();
        }
        for (std::size_t a = 0; a < working.size(); ++a) {
            const Real* const values = row(working[a]);
            for (std::size_t b = 0; b < working.size(); ++b)
                K[a * working.size() + b] = values[positions_[b]];
        }
    }
    void update(const Indices& working, const std::vector<double>& change, const Indices& active, double* s) {
        for (std::size_t a = 0; a < working.size(); ++a) {
            if (change[a] == 0) continue;
            const Real* const values = row(working[a]);
            for (std::size_t p = 0; p < active.size(); ++p) s[active[p]] += change[a] * double(values[p]);
        }
    }
    void start(const Indices& active) { active_ = active; }
    void shrink(const Indices& kept_positions) {
        cache_.keep_columns(kept_positions);
        Indices active(kept_positions.size());
        for (std::size_t p = 0; p < active.size(); ++p) active[p] = active_[kept_positions[p]];
        active_ = std::move(active);
    }
    // Computes s of the shrunk examples from all support vectors. Then all examples are active again, and the
    // cache holds the rows of the support vectors, which were computed for this.
    void restore(const std::vector<double>& signed_alpha, const Indices& shrunk, double* s) {
        active_ = all_of(size());
        cache_.reset(active_);
        for (const std::int32_t i : shrunk) s[i] = 0;
        const std::size_t at_once = static_cast<std::size_t>(std::min<std::int64_t>(cache_.capacity(), 64));
        Indices some;
        for (std::int64_t j = 0; j < size(); ++j) {
            if (signed_alpha[j] != 0) some.push_back(static_cast<std::int32_t>(j));
            if (some.size() < at_once && j + 1 < size()) continue;
            cache_.fetch(some, row_threads_);
            for (const std::int32_t support : some) {
                const Real* const values = cache_.row(support);
                for (const std::int32_t i : shrunk) s[i] += signed_alpha[support] * double(values[i]);
            }
            some.clear();
        }
    }
    void from_scratch(const std::vector<double>& signed_alpha, double* s) {
        restore(signed_alpha, all_of(size()), s);
    }

  private:
    KernelMatrix<T, Real>& matrix_;
    int row_threads_;
    RowCache<T, Real> cache_;
    Indices active_;
    std::vector<std::int64_t> positions_;
};

// The linear kernel: the changes of a working set form one weight vector (8.38), which updates s (8.39).
template <typename T>
class WeightVector {
  public:
    WeightVector(const CsrView<T>& x, double offset, bool artificial, double kappa, const StopFlag& stop)
        : x_(x),
          stop_(stop),
          offset_(offset),
          kappa2_(kappa * kappa),
          size_(x.n_rows + (artificial ? 2 : 0)),
          dense_(x.n_columns, 0.0),
          row_(size_) {
        diagonal_.resize(size_, kappa2_);
        for (std::int64_t i = 0; i < x.n_rows; ++i) diagonal_[i] = x.row(i).squared_norm() + offset;
    }

    static constexpr bool keeps_s_of_all = false;
    static constexpr bool has_columns = false;
    static constexpr bool lends_rows = false;
    std::int64_t size() const { return size_; }
    double diagonal(std::int64_t i) const { return diagonal_[i]; }
    bool has_row(std::int64_t) const { return true; }
    bool wants_company(std::int64_t) const { return false; }
    void prefetch(const Indices&) {}
    const double* row(std::int64_t i) {
        scatter(i, 1.0);
        for (std::int64_t j = 0; j < size_; ++j) row_[j] = product(j, i);
        clear(i);
        return row_.data();
    }
    double at(const double* row, std::size_t, std::int64_t example) const { return row[example]; }

    // Once the unbounded support vectors are found, successive working sets share most of their examples.
    void block(const Indices& working, double* K) {
        const std::size_t m = working.size(), last = last_working_.size();
        place_.resize(size_, -1);
        for (std::size_t a = 0; a < last; ++a) place_[last_working_[a]] = static_cast<std::int32_t>(a);
        // The product of a pair is always that of the later row with the earlier one stored densely. The
        // other way round, its last bits may differ, and results would depend on earlier working sets of this
        // thread.
        order_.resize(m);
        for (std::size_t a = 0; a < m; ++a) order_[a] = a;
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return working[a] < working[b]; });
        for (std::size_t k = 0; k < m; ++k) {
            const std::size_t a = order_[k];
            if (stop_) throw Interrupted();
            const double* const known =
                place_[working[a]] < 0 ? nullptr : last_block_.data() + place_[working[a]] * last;
            scatter(working[a], 1.0);
            for (std::size_t l = k; l < m; ++l) {
                const std::size_t b = order_[l];
                const std::int32_t other = place_[working[b]];
                K[a * m + b] = known && other >= 0 ? known[other] : product(working[b], working[a]);
                K[b * m + a] = K[a * m + b];
            }
            clear(working[a]);
        }
        for (const std::int32_t i : last_working_) place_[i] = -1;
        last_working_ = working;
        last_block_.assign(K, K + m * m);
    }
    void update(const Indices& working, const std::vector<double>& change, const Indices& active, double* s) {
        double sum = 0;
        for (std::size_t a = 0; a < working.size(); ++a) {
            if (change[a] == 0) continue;
            if (working[a] >= x_.n_rows) {
                s[working[a]] += change[a] * kappa2_;
            } else {
                x_.row(working[a]).axpy(change[a], dense_.data());
                sum += change[a];
            }
        }
        for (const std::int32_t i : active) {
            if (i < x_.n_rows) s[i] += x_.row(i).dot(dense_.data()) + offset_ * sum;
        }
        for (std::size_t a = 0; a < working.size(); ++a) {
            if (change[a] != 0) clear(working[a]);
        }
    }
    void shrink(const Indices&) {}
    void restore(const std::vector<double>& signed_alpha, const Indices& shrunk, double* s) {
        double sum = 0;
        for (std::int64_t j = 0; j < x_.n_rows; ++j) {
            if (signed_alpha[j] == 0) continue;
            x_.row(j).axpy(signed_alpha[j], dense_.data());
            sum += signed_alpha[j];
        }
        for (const std::int32_t i : shrunk) {
            s[i] = i < x_.n_rows ? x_.row(i).dot(dense_.data()) + offset_ * sum : signed_alpha[i] * kappa2_;
        }
        std::fill(dense_.begin(), dense_.end(), 0.0);
    }
    void from_scratch(const std::vector<double>& signed_alpha, double* s) {
        restore(signed_alpha, all_of(size_), s);
    }
    void start(const Indices&) {}

  private:
    void scatter(std::int64_t i, double factor) {
        if (i < x_.n_rows) x_.row(i).axpy(factor, dense_.data());
    }
    void clear(std::int64_t i) {
        if (i >= x_.n_rows) return;
        const Row<T> row = x_.row(i);
        for (std::int64_t k = 0; k < row.size; ++k) dense_[row.indices[k]] = 0;
    }
    // K(j, i), with row i in dense_.
    double product(std::int64_t j, std::int64_t i) const {
        if (j >= x_.n_rows || i >= x_.n_rows) return i == j ? kappa2_ : 0.0;
        return x_.row(j).dot(dense_.data()) + offset_;
    }

    CsrView<T> x_;
    const StopFlag& stop_;
    double offset_, kappa2_;
    std::int64_t size_;
    std::vector<double> dense_, row_, diagonal_, last_block_;
    Indices last_working_;             // the working set of last_block_
    std::vector<std::int32_t> place_;  // in last_working_; -1 outside of block()
    std::vector<std::size_t> order_;   // of a working set
};

// Which engine to use, and the memory and threads it gets.
struct EngineChoice {
    bool as_linear;      // a weight vector, no kernel values
    const double* gram;  // a precomputed matrix in double precision, or null
    double kappa;        // above 0: the stabilized hyperplane
    std::int64_t cache_bytes, working_set;
    int n_threads;
    std::int64_t n_tasks;      // that run at the same time, if there are as many threads
    bool one_cache_at_a_time;  // with all the memory, so that its size does not depend on the threads
};

// Calls run(threads, make_engine), where make_engine(stop) gives each of the threads its own engine, with
// kernel values kept in type Real. Returns the number of kernel rows computed.
template <typename Real, typename T, class Run>
std::int64_t with_engine(const CsrView<T>& x, const KernelParameters& kernel, const EngineChoice& choice,
                         Run&& run) {
    const double kappa = choice.kappa;
    const int n_threads = choice.n_threads;
    if (choice.as_linear) {
        run(n_threads, [&](const StopFlag& stop) {
            return std::make_unique<WeightVector<T>>(x, kernel.offset, kappa > 0, kappa, stop);
        });
        return 0;
    }
    const Real* gram = nullptr;
    if constexpr (std::is_same_v<Real, double>) gram = choice.gram;
    KernelMatrix<T, Real> matrix(x, kernel, gram, kappa > 0, kappa, choice.cache_bytes);
    const bool in_turn = choice.one_cache_at_a_time && !matrix.keeps_all();
    const auto tasks = static_cast<int>(std::min<std::int64_t>(n_threads, in_turn ? 1 : choice.n_tasks));
    const int row_threads = std::max(n_threads / tasks, 1);
    if (matrix.keeps_all()) {
        run(n_threads, [&](const StopFlag& stop) {
            return std::make_unique<KeptRows<T, Real>>(matrix, row_threads, stop);
        });
    } else {
        run(tasks, [&](const StopFlag& stop) {
            return std::make_unique<CachedRows<T, Real>>(matrix, choice.cache_bytes / tasks,
                                                         choice.working_set, row_threads, stop);
        });
    }
    return matrix.rows_computed();
}

// Calls solve(engine, label, stop) for every label. Each thread has its own engine.
template <class MakeEngine, class Solve, class Poll>
void solve_labels(std::int64_t n_labels, int n_threads, MakeEngine&& make_engine, Solve&& solve,
                  Poll&& poll) {
    Pieces labels(n_labels, 1);
    run_parallel(
        static_cast<int>(std::min<std::int64_t>(n_threads, n_labels)),
        [&](int, const StopFlag& stop) {
            auto engine = make_engine(stop);
            labels.each(stop, [&](std::int64_t label) { solve(*engine, label, stop); });
        },
        poll);
}

}  // namespace widemargin
