// Kernel values of one row with many others, from an inverted index: for each feature, the rows that have it.
//
// Features of many rows are stored as dense columns, others as lists of rows and values (postings). Either
// way a row with k features costs the rows that share each of them, whatever the number of columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernel/kernels.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

template <typename T>
class InvertedIndex {
  public:
    InvertedIndex(const CsrView<T>& x, const KernelParameters& kernel)
        : InvertedIndex(x, 0, x.n_rows, kernel) {}

    // Of the rows first, ..., end - 1 of x, which are its rows 0, ..., end - first - 1.
    InvertedIndex(const CsrView<T>& x, std::int64_t first, std::int64_t end, const KernelParameters& kernel)
        : kernel_(kernel),
          x_(x),
          first_(first),
          n_rows_(end - first),
          begin_(x.n_columns + 1, 0),
          column_(x.n_columns, -1),
          of_row_(n_rows_) {
        for (std::int64_t k = x.indptr[first]; k < x.indptr[end]; ++k) ++begin_[x.indices[k] + 1];
        std::int32_t n_dense = 0;
        for (std::int64_t j = 0; j < x.n_columns; ++j) {
            const std::int64_t having = begin_[j + 1];
            if (having * kDenseFrom >= n_rows_ && having > 0) {
                column_[j] = n_dense++;
                dense_cost_ += static_cast<double>(having) * kDenseCost * static_cast<double>(n_rows_);
                begin_[j + 1] = 0;
            } else {
                postings_cost_ += static_cast<double>(having) * static_cast<double>(having);
            }
            begin_[j + 1] += begin_[j];
        }
        dense_.assign(n_dense * n_rows_, T(0));
        rows_.resize(begin_[x.n_columns]);
        values_.resize(begin_[x.n_columns]);
        std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
        for (std::int64_t i = 0; i < n_rows_; ++i) add_row(i, next);
    }

    std::int64_t n_rows() const { return n_rows_; }
    const KernelParameters& kernel() const { return kernel_; }

    // The average cost of a row of kernel values, roughly in nanoseconds.
    double row_cost() const {
        const double n = static_cast<double>(n_rows_);
        return (dense_cost_ + postings_cost_) / std::max(n, 1.0) +
               (kernel_.kind == KernelKind::linear ? 1 : 5) * n;
    }

    // Kernel values of x with the rows `columns` (null: all rows). `sums` is a workspace of n_rows numbers.
    template <typename Other, typename Real>
    void values(const Row<Other>& x, const std::int32_t* columns, std::int64_t n_columns, double* sums,
                Real* out) const {
        std::fill(sums, sums + n_rows_, 0.0);
        const std::int64_t additions =
            kernel_.kind == KernelKind::chi2 ? add_shares(x, sums) : add_products(x, sums);
        const std::int64_t n = columns ? n_columns : n_rows_;
        if (kernel_.is_of_difference()) {
            finish_differences(x, columns, n, sums, additions, out);
        } else {
            for (std::int64_t c = 0; c < n; ++c)
                out[c] = static_cast<Real>(kernel_.finish(sums[columns ? columns[c] : c]));
        }
    }

  private:
    // A feature of at least one in kDenseFrom rows is a dense column. It costs kDenseCost as much for every
    // row as a posting.
    static constexpr std::int64_t kDenseFrom = 8;
    static constexpr double kDenseCost = 0.25;
    // Roundings inside a batch of dense columns (simd/chi_square_loops.hpp).
    static constexpr std::int64_t kInBatch = 24;

    // Tolerated rounding error of an exponential kernel's value, well below the precision of the type.
    template <typename Real>
    static constexpr double kRounding = std::is_same_v<Real, float> ? 1e-8 : 1e-11;

    void add_row(std::int64_t i, std::vector<std::int64_t>& next) {
        const Row<T> row = x_.row(first_ + i);
        of_row_[i] = kernel_.of_row(row);
        largest_of_row_ = std::max(largest_of_row_, of_row_[i]);
        longest_ = std::max(longest_, row.size);
        std::int64_t n_postings = 0;
        for (std::int64_t k = 0; k < row.size; ++k) {
            in_range_ = in_range_ && (row.values[k] == 0 || is_in_range(row.values[k]));
            const std::int32_t column = column_[row.indices[k]];
            if (column >= 0) {
                dense_[column * n_rows_ + i] = row.values[k];
                continue;
            }
            const std::int64_t place = next[row.indices[k]]++;
            rows_[place] = static_cast<std::int32_t>(i);
            values_[place] = row.values[k];
            ++n_postings;
        }
        most_postings_ = std::max(most_postings_, n_postings);
    }

    // Whether products of several such values stay doubles.
    static bool is_in_range(double value) { return value >= kSmallestShared && value <= kLargestShared; }

    // Adds up the products over shared features; returns how many additions a sum has had at most.
    template <typename Other>
    std::int64_t add_products(const Row<Other>& x, double* sums) const {
        double factors[kColumnsAtOnce];
        const T* dense[kColumnsAtOnce];
        std::int64_t count = 0;
        const auto add_dense = [&] {
            loops_.over<T>().add_columns(factors, dense, count, n_rows_, sums);
            count = 0;
        };
        for (std::int64_t k = 0; k < x.size; ++k) {
            const double value = x.values[k];
            const std::int32_t column = column_[x.indices[k]];
            if (column >= 0) {
                factors[count] = value;
                dense[count++] = dense_.data() + column * n_rows_;
                if (count == kColumnsAtOnce) add_dense();
                continue;
            }
            const std::int64_t end = begin_[x.indices[k] + 1];
            for (std::int64_t p = begin_[x.indices[k]]; p < end; ++p)
                sums[rows_[p]] += value * double(values_[p]);
        }
        add_dense();
        return std::max(longest_, x.size);
    }

    // The same for 4 x_k z_k / (x_k + z_k).
    template <typename Other>
    std::int64_t add_shares(const Row<Other>& x, double* sums) const {
        double values[kColumnsAtOnce];
        const T* dense[kColumnsAtOnce];
        std::int64_t count = 0, n_batches = 0, at_once = in_range_ ? kColumnsAtOnce : 1;
        for (std::int64_t k = 0; k < x.size && at_once > 1; ++k) {
            if (!is_in_range(x.values[k]) && x.values[k] != 0) at_once = 1;
        }
        const auto add_dense = [&] {
            loops_.over<T>().add_shares(values, dense, count, n_rows_, sums);
            count = 0;
            ++n_batches;
        };
        for (std::int64_t k = 0; k < x.size; ++k) {
            const double value = x.values[k];
            if (value == 0) continue;  // 0/0 is 0
            const std::int32_t column = column_[x.indices[k]];
            if (column >= 0) {
                values[count] = value;
                dense[count++] = dense_.data() + column * n_rows_;
                if (count == at_once) add_dense();
                continue;
            }
            const std::int64_t end = begin_[x.indices[k] + 1];
            for (std::int64_t p = begin_[x.indices[k]]; p < end; ++p) {
                const double other = values_[p];
                sums[rows_[p]] += 4 * value * (other / (value + other));
            }
        }
        add_dense();
        return std::min(most_postings_, x.size) + n_batches + kInBatch;
    }

    template <typename Other, typename Real>
    void finish_differences(const Row<Other>& x, const std::int32_t* columns, std::int64_t n,
                            const double* sums, std::int64_t additions, Real* out) const {
        const double of_x = kernel_.of_row(x);
        const double tolerance = kRounding<Real>;
        // Whether the sums are too inexact for the row with the largest error.
        const bool rough = kernel_.shows(kernel_.rounding(additions, of_x, largest_of_row_), 0.0, tolerance);
        if constexpr (std::is_same_v<Real, float>) {
            if (!rough && !columns && kernel_.kind == KernelKind::rbf) {
                loops_.rbf_exponents(kernel_.gamma, of_x, of_row_.data(), sums, n, out);
                loops_.exp_of_negative(static_cast<float>(kernel_.offset), n, out);
                return;
            }
        }
        for (std::int64_t c = 0; c < n; ++c) {
            const std::int64_t j = columns ? columns[c] : c;
            double difference = kernel_.difference(sums[j], of_x, of_row_[j]);
            if (rough &&
                kernel_.shows(kernel_.rounding(additions, of_x, of_row_[j]), difference, tolerance)) {
                difference = kernel_.difference(x, x_.row(first_ + j));
            }
            out[c] = static_cast<Real>(kernel_.exponent(difference));
        }
        if constexpr (std::is_same_v<Real, float>) {
            loops_.exp_of_negative(static_cast<float>(kernel_.offset), n, out);
        } else {
            for (std::int64_t c = 0; c < n; ++c) out[c] = std::exp(-out[c]) + kernel_.offset;
        }
    }

    KernelParameters kernel_;
    CsrView<T> x_;
    std::int64_t first_, n_rows_, longest_ = 0, most_postings_ = 0;
    double largest_of_row_ = 0, dense_cost_ = 0, postings_cost_ = 0;
    bool in_range_ = true;
    const Loops& loops_ = vector_loops();
    std::vector<std::int64_t> begin_;
    std::vector<std::int32_t> column_;  // which dense column a feature is, or -1
    std::vector<T> dense_;
    std::vector<std::int32_t> rows_;
    std::vector<T> values_;
    std::vector<double> of_row_;
};

}  // namespace widemargin
