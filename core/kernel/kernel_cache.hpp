// Rows of the kernel matrix, kept as long as memory allows.
//
// KernelMatrix holds the examples: n rows of data, or a precomputed matrix, optionally followed by the two
// artificial examples of the stabilized hyperplane (thesis OP 5/6), which are orthogonal to everything and
// have squared length kappa^2. If all rows fit the budget, it keeps every row once computed, for all labels
// together. Otherwise every solver has its own RowCache: least recently used rows are evicted first (8.5.4),
// and rows hold only the columns that the solver has not shrunk.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernel/inverted_index.hpp"
#include "parallel.hpp"

namespace widemargin {

template <typename T, typename Real>
class KernelMatrix {
  public:
    // `given`: a precomputed n x n matrix, or null.
    KernelMatrix(const CsrView<T>& x, const KernelParameters& kernel, const Real* given, bool artificial,
                 double kappa, std::int64_t budget_bytes)
        : x_(x),
          given_(given),
          n_(x.n_rows),
          size_(x.n_rows + (artificial ? 2 : 0)),
          kappa2_(kappa * kappa),
          offset_(kernel.offset) {
        if (!given) index_ = std::make_unique<InvertedIndex<T>>(x, kernel);
        rows_are_slow_ = !given && index_->row_cost() > kThreadCost;
        keeps_all_ = size_ * size_ * static_cast<std::int64_t>(sizeof(Real)) <= budget_bytes;
        diagonal_.resize(size_, kappa2_);
        for (std::int64_t i = 0; i < n_; ++i) {
            diagonal_[i] = given ? given[i * n_ + i] + offset_ : kernel.of_itself(x.row(i));
        }
        if (keeps_all_) {
            rows_.resize(size_);
            state_ = std::make_unique<std::atomic<unsigned char>[]>(size_);
            for (std::int64_t i = 0; i < size_; ++i) state_[i] = 0;
        }
    }

    std::int64_t size() const { return size_; }
    bool keeps_all() const { return keeps_all_; }
    double diagonal(std::int64_t i) const { return diagonal_[i]; }
    std::int64_t rows_computed() const { return computed_; }
    // Whether a row takes long enough that a thread for it pays off.
    bool rows_are_slow() const { return rows_are_slow_; }

    // All columns of row i; only if all rows are kept. If several threads need the row at the same time, one
    // computes it and the others wait. If that fails, or `stop` ends it, each waiting thread tries itself.
    const Real* kept_row(std::int64_t i, double* sums, const StopFlag& stop) {
        while (state_[i].load(std::memory_order_acquire) != kThere) {
            if (stop) throw Interrupted();
            unsigned char expected = kMissing;
            if (!state_[i].compare_exchange_strong(expected, kInWork)) {
                std::this_thread::yield();
                continue;
            }
            try {
                if (!rows_[i]) rows_[i].reset(new Real[size_]);
                compute(i, nullptr, size_, sums, rows_[i].get());
            } catch (...) {
                state_[i].store(kMissing, std::memory_order_release);
                throw;
            }
            state_[i].store(kThere, std::memory_order_release);
        }
        return rows_[i].get();
    }

    bool has_kept_row(std::int64_t i) const { return state_[i].load(std::memory_order_acquire) == kThere; }

    // Row i at `columns` (null: all). `sums` is a workspace of size() numbers.
    void compute(std::int64_t i, const std::int32_t* columns, std::int64_t n_columns, double* sums,
                 Real* out) {
        computed_.fetch_add(1, std::memory_order_relaxed);
        const std::int64_t wanted = columns ? n_columns : size_;
        if (i >= n_) {
            for (std::int64_t c = 0; c < wanted; ++c) {
                out[c] = static_cast<Real>((columns ? columns[c] : c) == i ? kappa2_ : 0.0);
            }
            return;
        }
        if (given_) {
            for (std::int64_t c = 0; c < wanted; ++c) {
                const std::int64_t j = columns ? columns[c] : c;
                out[c] = j < n_ ? static_cast<Real>(given_[i * n_ + j] + offset_) : Real(0);
            }
        } else if (!columns) {
            index_->values(x_.row(i), nullptr, n_, sums, out);
            for (std::int64_t j = n_; j < size_; ++j) out[j] = 0;
        } else {
            // Columns are in ascending order: artificial examples come last.
            std::int64_t real = n_columns;
            while (real > 0 && columns[real - 1] >= n_) out[--real] = 0;
            index_->values(x_.row(i), columns, real, sums, out);
        }
    }

  private:
    static constexpr unsigned char kMissing = 0, kInWork = 1, kThere = 2;

    CsrView<T> x_;
    const Real* given_;
    std::int64_t n_, size_;
    static constexpr double kThreadCost = 500'000;  // nanoseconds, several times what a thread costs
    double kappa2_, offset_;
    bool keeps_all_, rows_are_slow_;
    std::unique_ptr<InvertedIndex<T>> index_;
    std::vector<double> diagonal_;
    std::vector<std::unique_ptr<Real[]>> rows_;
    std::unique_ptr<std::atomic<unsigned char>[]> state_;
    std::atomic<std::int64_t> computed_{0};
};

// Least-recently-used rows over the solver's active columns.
template <typename T, typename Real>
class RowCache {
  public:
    // At least `fewest` rows are kept whatever the budget: those of one working set. If `stop` is set,
    // Interrupted is thrown instead of computing a row.
    RowCache(KernelMatrix<T, Real>& matrix, std::int64_t budget_bytes, std::int64_t fewest,
             const StopFlag& stop)
        : matrix_(matrix), stop_(stop), budget_(budget_bytes), fewest_(fewest), sums_(matrix.size()) {
        // All memory is allocated here: a vector that grows has two copies for a while.
        const std::int64_t at_least = std::min<std::int64_t>(fewest, matrix.size()) * matrix.size();
        const std::int64_t at_most = matrix.size() * matrix.size();
        slots_.reserve(
            std::min<std::int64_t>(std::max<std::int64_t>(budget_ / sizeof(Real), at_least), at_most));
        reset(all_of(matrix.size()));
    }

    // Removes all rows; new rows have these columns (in ascending order).
    void reset(const std::vector<std::int32_t>& columns) {
        columns_ = columns;
        const std::int64_t row_bytes = std::max<std::int64_t>(columns.size() * sizeof(Real), 1);
        capacity_ =
            std::min<std::int64_t>(std::max<std::int64_t>(budget_ / row_bytes, fewest_), matrix_.size());
        slots_.assign(capacity_ * columns.size(), Real(0));
        place_.assign(matrix_.size(), -1);
        owner_.assign(capacity_, -1);
        last_use_.assign(capacity_, 0);
        used_ = 0;
    }

    // Keeps only the columns at the ascending positions `kept`, in every row.
    void keep_columns(const std::vector<std::int32_t>& kept) {
        std::vector<std::int32_t> columns(kept.size());
        for (std::size_t c = 0; c < kept.size(); ++c) columns[c] = columns_[kept[c]];
        const std::size_t old_width = columns_.size();
        for (std::int64_t slot = 0; slot < used_; ++slot) {
            const Real* const from = slots_.data() + slot * old_width;
            Real* const to = slots_.data() + slot * kept.size();
            for (std::size_t c = 0; c < kept.size(); ++c) to[c] = from[kept[c]];
        }
        columns_ = std::move(columns);
        const std::int64_t row_bytes = std::max<std::int64_t>(columns_.size() * sizeof(Real), 1);
        const std::int64_t capacity =
            std::min<std::int64_t>(std::max<std::int64_t>(budget_ / row_bytes, capacity_), matrix_.size());
        slots_.resize(capacity * columns_.size());
        owner_.resize(capacity, -1);
        last_use_.resize(capacity, 0);
        capacity_ = capacity;
    }

    bool has(std::int64_t i) const { return place_[i] >= 0; }

    // Valid until `fewest` other rows have been requested.
    const Real* row(std::int64_t i) {
        if (claim(i)) compute(i, sums_.data());
        return values(i);
    }

    std::int64_t capacity() const { return capacity_; }

    // Computes the missing rows of at most capacity() examples on several threads.
    void fetch(const Indices& examples, int n_threads) {
        Indices missing;
        for (const std::int32_t i : examples) {
            if (claim(i)) missing.push_back(i);
        }
        const bool pays = matrix_.rows_are_slow() ? missing.size() >= 2 : missing.size() >= kRowsOfThreads;
        if (!pays || n_threads < 2) {
            for (const std::int32_t i : missing) compute(i, sums_.data());
            return;
        }
        Pieces pieces(static_cast<std::int64_t>(missing.size()), 1);
        run_parallel(
            static_cast<int>(std::min<std::size_t>(n_threads, missing.size())),
            [&](int, const StopFlag& stop) {
                std::vector<double> sums(matrix_.size());
                pieces.each(stop, [&](std::int64_t k) { compute(missing[k], sums.data()); });
            },
            [&] { return stop_.load(); });
    }

  private:
    // Makes i the most recent row; true if the row has a new place and must be computed.
    bool claim(std::int64_t i) {
        ++clock_;
        const bool missing = place_[i] < 0;
        if (missing) {
            std::int64_t slot = used_;
            if (used_ < capacity_) {
                ++used_;
            } else {
                slot = std::min_element(last_use_.begin(), last_use_.end()) - last_use_.begin();
                place_[owner_[slot]] = -1;
            }
            owner_[slot] = static_cast<std::int32_t>(i);
            place_[i] = static_cast<std::int32_t>(slot);
        }
        last_use_[place_[i]] = clock_;
        return missing;
    }
    Real* values(std::int64_t i) { return slots_.data() + place_[i] * columns_.size(); }
    void compute(std::int64_t i, double* sums) {
        if (stop_) throw Interrupted();
        matrix_.compute(i, columns_.data(), columns_.size(), sums, values(i));
    }

    static constexpr std::size_t kRowsOfThreads = 32;
    KernelMatrix<T, Real>& matrix_;
    const StopFlag& stop_;
    std::int64_t budget_, fewest_, capacity_ = 0, used_ = 0, clock_ = 0;
    std::vector<double> sums_;
    std::vector<Real> slots_;
    std::vector<std::int32_t> columns_, place_, owner_;
    std::vector<std::int64_t> last_use_;
};

}  // namespace widemargin
