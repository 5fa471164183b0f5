// Kernels between sparse rows, a whole row of the kernel matrix at a time.
//
// Every kernel here is a function of one sum over the features that two rows share, and of one number of each
// row:
//
//   linear      x.z                              sum x_k z_k
//   polynomial  (gamma x.z + coef0)^degree       sum x_k z_k
//   sigmoid     tanh(gamma x.z + coef0)          sum x_k z_k
//   RBF         exp(-gamma |x - z|^2)            sum x_k z_k, with |x|^2 of each row
//   chi-square  exp(-gamma chi2(x, z)^power)     sum 4 x_k z_k / (x_k + z_k), with sum x_k of each row:
//               chi2(x, z) = 2 sum (x_k - z_k)^2 / (x_k + z_k) = 2 (sum x_k + sum z_k - that sum)
//
// The sums of row i with all others come from an inverted index: for each feature of row i, the rows that
// have it; features of many rows are dense columns instead. A constant (the square of a bias feature) may be
// added to every kernel value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "pair_loops.hpp"
#include "sparse.hpp"

namespace widemargin {

enum class KernelKind : int { linear = 0, polynomial = 1, rbf = 2, sigmoid = 3, chi2 = 4 };

struct KernelParameters {
    KernelKind kind;
    double gamma, degree, coef0, power;
    double offset;  // added to every value

    // The number of a row that finish() needs.
    template <typename T>
    double of_row(const Row<T>& x) const {
        if (kind == KernelKind::rbf) return x.squared_norm();
        if (kind != KernelKind::chi2) return 0;
        double sum = 0;
        for (std::int64_t k = 0; k < x.size; ++k) sum += x.values[k];
        return sum;
    }

    double finish(double shared, double of_x, double of_z) const {
        switch (kind) {
            case KernelKind::linear:
                return shared + offset;
            case KernelKind::polynomial:
                return power_of(gamma * shared + coef0, degree) + offset;
            case KernelKind::sigmoid:
                return std::tanh(gamma * shared + coef0) + offset;
            case KernelKind::rbf:
                return std::exp(-gamma * std::max(of_x + of_z - 2 * shared, 0.0)) + offset;
            case KernelKind::chi2:
                break;
        }
        const double chi2 = std::max(2 * (of_x + of_z - shared), 0.0);
        return std::exp(-gamma * (power == 1 ? chi2 : std::pow(chi2, power))) + offset;
    }

  private:
    static double power_of(double base, double degree) {
        if (degree == 2) return base * base;
        if (degree == 3) return base * base * base;
        return std::pow(base, degree);
    }
};

// The rows that have a feature, feature by feature.
template <typename T>
class InvertedIndex {
  public:
    InvertedIndex(const CsrView<T>& x, const KernelParameters& kernel)
        : kernel_(kernel), n_rows_(x.n_rows), begin_(x.n_columns + 1, 0), of_row_(x.n_rows) {
        for (std::int64_t k = 0; k < x.n_values(); ++k) ++begin_[x.indices[k] + 1];
        for (std::int64_t j = 0; j < x.n_columns; ++j) begin_[j + 1] += begin_[j];
        column_.assign(x.n_columns, -1);
        std::int32_t n_dense = 0;
        for (std::int64_t j = 0; j < x.n_columns; ++j) {
            if ((begin_[j + 1] - begin_[j]) * kDenseFrom >= n_rows_ && kernel.kind != KernelKind::chi2) {
                column_[j] = n_dense++;
            }
        }
        dense_.assign(n_dense * n_rows_, T(0));
        rows_.resize(x.n_values());
        values_.resize(x.n_values());
        std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
        for (std::int64_t i = 0; i < x.n_rows; ++i) {
            const Row<T> row = x.row(i);
            of_row_[i] = kernel.of_row(row);
            for (std::int64_t k = 0; k < row.size; ++k) {
                const std::int64_t place = next[row.indices[k]]++;
                rows_[place] = static_cast<std::int32_t>(i);
                values_[place] = row.values[k];
                const std::int32_t column = column_[row.indices[k]];
                if (column >= 0) dense_[column * n_rows_ + i] = row.values[k];
            }
        }
        of_row_single_.assign(of_row_.begin(), of_row_.end());
    }

    std::int64_t n_rows() const { return n_rows_; }
    double of_row(std::int64_t i) const { return of_row_[i]; }
    const KernelParameters& kernel() const { return kernel_; }

    // What the values of one row with all others cost on average, in nanoseconds or so.
    double row_cost() const {
        double postings = 0;
        for (std::size_t j = 0; j + 1 < begin_.size(); ++j) {
            const double having = static_cast<double>(begin_[j + 1] - begin_[j]);
            postings += having * (column_[j] >= 0 ? 0.25 * static_cast<double>(n_rows_) : having);
        }
        const double n = static_cast<double>(n_rows_);
        return postings / std::max(n, 1.0) + (kernel_.kind == KernelKind::linear ? 1 : 5) * n;
    }

    // Kernel values of x with the rows `columns` (null: all of them). `sums` is a workspace of n_rows
    // numbers.
    template <typename Other, typename Real>
    void values(const Row<Other>& x, const std::int32_t* columns, std::int64_t n_columns, Real* sums,
                Real* out) const {
        std::fill(sums, sums + n_rows_, Real(0));
        for (std::int64_t k = 0; k < x.size; ++k) {
            const Real value = static_cast<Real>(x.values[k]);
            const std::int64_t end = begin_[x.indices[k] + 1];
            if (kernel_.kind == KernelKind::chi2) {
                for (std::int64_t p = begin_[x.indices[k]]; p < end; ++p) {
                    const Real other = static_cast<Real>(values_[p]);
                    if (value + other > 0) sums[rows_[p]] += 4 * value * other / (value + other);
                }
            } else if (column_[x.indices[k]] >= 0) {
                const T* const column = dense_.data() + column_[x.indices[k]] * n_rows_;
                if constexpr (std::is_same_v<T, float> && std::is_same_v<Real, float>) {
                    loops_.add_column(value, column, n_rows_, sums);
                    continue;
                }
                for (std::int64_t j = 0; j < n_rows_; ++j) sums[j] += value * static_cast<Real>(column[j]);
            } else {
                for (std::int64_t p = begin_[x.indices[k]]; p < end; ++p) {
                    sums[rows_[p]] += value * static_cast<Real>(values_[p]);
                }
            }
        }
        const double of_x = kernel_.of_row(x);
        if constexpr (std::is_same_v<Real, float>) {
            if (kernel_.kind == KernelKind::rbf) {
                finish_rbf(static_cast<float>(of_x), columns, columns ? n_columns : n_rows_, sums, out);
                return;
            }
        }
        if (columns) {
            for (std::int64_t c = 0; c < n_columns; ++c) {
                out[c] = static_cast<Real>(kernel_.finish(sums[columns[c]], of_x, of_row_[columns[c]]));
            }
        } else {
            for (std::int64_t j = 0; j < n_rows_; ++j) {
                out[j] = static_cast<Real>(kernel_.finish(sums[j], of_x, of_row_[j]));
            }
        }
    }

  private:
    // A feature that one in so many rows has is a dense column.
    static constexpr std::int64_t kDenseFrom = 8;

    void finish_rbf(float of_x, const std::int32_t* columns, std::int64_t n, const float* sums,
                    float* out) const {
        const float gamma = static_cast<float>(kernel_.gamma), offset = static_cast<float>(kernel_.offset);
        const float* const of_row = of_row_single_.data();
        if (columns) {
            for (std::int64_t c = 0; c < n; ++c) out[c] = of_x + of_row[columns[c]] - 2 * sums[columns[c]];
        } else {
            for (std::int64_t c = 0; c < n; ++c) out[c] = of_x + of_row[c] - 2 * sums[c];
        }
        loops_.rbf(gamma, offset, n, out);
    }

    KernelParameters kernel_;
    std::int64_t n_rows_;
    PairLoops loops_ = pair_loops();
    std::vector<std::int64_t> begin_;
    std::vector<std::int32_t> column_;  // which dense column a feature is, or -1
    std::vector<T> dense_;
    std::vector<std::int32_t> rows_;
    std::vector<T> values_;
    std::vector<double> of_row_;
    std::vector<float> of_row_single_;
};

}  // namespace widemargin
