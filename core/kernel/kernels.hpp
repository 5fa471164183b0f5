// Kernels between sparse rows, a whole row of the kernel matrix at a time.
//
// Every kernel here is a function of one sum over the features that two rows share, and of one number per
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
// have it. Features of many rows are stored as dense columns instead. A constant (the square of a bias
// feature) may be added to every kernel value.
//
// Sums are computed in double precision, whatever the precision of the stored values. For long rows that are
// close to each other, the differences of the last two kernels cancel (rows of 3e8 + N(0, 1) keep no digit).
// Where rounding of the sums can affect the kernel value, the difference is computed feature by feature. So
// values of the exponential kernels have an absolute error below kRounding before they are rounded to the
// precision in which they are stored.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "simd/loops.hpp"
#include "sparse/csr.hpp"

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

    // Whether a value is exp(-gamma difference^power) + offset.
    bool is_of_difference() const { return kind == KernelKind::rbf || kind == KernelKind::chi2; }

    // |x - z|^2 or chi2(x, z), from the sum over shared features.
    double difference(double shared, double of_x, double of_z) const {
        const double rest = of_x + of_z;
        return std::max(kind == KernelKind::rbf ? rest - 2 * shared : 2 * (rest - shared), 0.0);
    }

    // The same, feature by feature: slower, and without cancellation.
    template <typename A, typename B>
    double difference(const Row<A>& x, const Row<B>& z) const {
        double sum = 0;
        if (kind == KernelKind::rbf && has_no_gaps(x) && has_no_gaps(z) && x.size == z.size &&
            (x.size == 0 || x.indices[0] == z.indices[0])) {
            for (std::int64_t k = 0; k < x.size; ++k) {
                const double d = double(x.values[k]) - double(z.values[k]);
                sum += d * d;
            }
            return sum;
        }
        std::int64_t k = 0, l = 0;
        while (k < x.size || l < z.size) {
            const bool own = l >= z.size || (k < x.size && x.indices[k] <= z.indices[l]);
            const bool other = k >= x.size || (l < z.size && z.indices[l] <= x.indices[k]);
            const double a = own ? double(x.values[k++]) : 0.0, b = other ? double(z.values[l++]) : 0.0;
            if (kind == KernelKind::rbf) {
                sum += (a - b) * (a - b);
            } else if (a + b > 0) {
                sum += 2 * (a - b) * ((a - b) / (a + b));
            }
        }
        return sum;
    }

    // Bound on the error of a difference computed from a shared sum, for rows of at most `longest` values.
    static double rounding(std::int64_t longest, double of_x, double of_z) {
        return static_cast<double>(longest + 4) * std::numeric_limits<double>::epsilon() * 2 * (of_x + of_z);
    }

    // Whether an error of `error` in a difference can change the value by more than `tolerance`.
    bool shows(double error, double difference, double tolerance) const {
        if (kind == KernelKind::rbf || power == 1)
            return gamma * error > tolerance && gamma * (difference - error) < kVanished;
        // t exp(-t) <= 1/e: a relative error of the exponent is an absolute one of the value.
        return power * error > tolerance * difference;
    }

    double exponent(double difference) const {
        return gamma * (kind == KernelKind::rbf || power == 1 ? difference : std::pow(difference, power));
    }

    double finish(double shared) const {
        switch (kind) {
            case KernelKind::polynomial:
                return power_of(gamma * shared + coef0) + offset;
            case KernelKind::sigmoid:
                return std::tanh(gamma * shared + coef0) + offset;
            default:
                return shared + offset;
        }
    }

    template <typename T>
    double of_itself(const Row<T>& x) const {
        return is_of_difference() ? 1.0 + offset : finish(x.squared_norm());
    }

  private:
    static constexpr double kVanished = 50;  // exp(-50) = 2e-22

    template <typename T>
    static bool has_no_gaps(const Row<T>& x) {
        return x.size == 0 || x.indices[x.size - 1] - x.indices[0] + 1 == x.size;
    }

    double power_of(double base) const {
        if (degree == 2) return base * base;
        if (degree == 3) return base * base * base;
        if (base < 0 && degree != std::floor(degree)) {
            throw std::domain_error("degree=" + std::to_string(degree) + ": gamma x.z + coef0 is " +
                                    std::to_string(base) +
                                    " for a pair of documents, and a fractional power of a negative number "
                                    "does not exist. Pass an integer degree, or a larger coef0.");
        }
        return std::pow(base, degree);
    }
};

// For every feature, the rows that have it.
template <typename T>
class InvertedIndex {
  public:
    InvertedIndex(const CsrView<T>& x, const KernelParameters& kernel)
        : kernel_(kernel), x_(x), n_rows_(x.n_rows), begin_(x.n_columns + 1, 0), of_row_(x.n_rows) {
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
            largest_of_row_ = std::max(largest_of_row_, of_row_[i]);
            longest_ = std::max(longest_, row.size);
            for (std::int64_t k = 0; k < row.size; ++k) {
                const std::int64_t place = next[row.indices[k]]++;
                rows_[place] = static_cast<std::int32_t>(i);
                values_[place] = row.values[k];
                const std::int32_t column = column_[row.indices[k]];
                if (column >= 0) dense_[column * n_rows_ + i] = row.values[k];
            }
        }
    }

    std::int64_t n_rows() const { return n_rows_; }
    const KernelParameters& kernel() const { return kernel_; }

    // The average cost of a row of kernel values, roughly in nanoseconds.
    double row_cost() const {
        double postings = 0;
        for (std::size_t j = 0; j + 1 < begin_.size(); ++j) {
            const double having = static_cast<double>(begin_[j + 1] - begin_[j]);
            postings += having * (column_[j] >= 0 ? 0.25 * static_cast<double>(n_rows_) : having);
        }
        const double n = static_cast<double>(n_rows_);
        return postings / std::max(n, 1.0) + (kernel_.kind == KernelKind::linear ? 1 : 5) * n;
    }

    // Kernel values of x with the rows `columns` (null: all rows). `sums` is a workspace of n_rows numbers.
    template <typename Other, typename Real>
    void values(const Row<Other>& x, const std::int32_t* columns, std::int64_t n_columns, double* sums,
                Real* out) const {
        std::fill(sums, sums + n_rows_, 0.0);
        if (kernel_.kind == KernelKind::chi2) {
            add_shares(x, sums);
        } else {
            add_products(x, sums);
        }
        const std::int64_t n = columns ? n_columns : n_rows_;
        if (kernel_.is_of_difference()) {
            finish_differences(x, columns, n, sums, out);
        } else {
            for (std::int64_t c = 0; c < n; ++c)
                out[c] = static_cast<Real>(kernel_.finish(sums[columns ? columns[c] : c]));
        }
    }

  private:
    // A feature of at least one in kDenseFrom rows is a dense column; kColumnsAtOnce of them are added at a
    // time.
    static constexpr std::int64_t kDenseFrom = 8, kColumnsAtOnce = 16;

    // Tolerated rounding error of an exponential kernel's value, well below the precision of the type.
    template <typename Real>
    static constexpr double kRounding = std::is_same_v<Real, float> ? 1e-8 : 1e-11;

    template <typename Other>
    void add_products(const Row<Other>& x, double* sums) const {
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
    }

    template <typename Other>
    void add_shares(const Row<Other>& x, double* sums) const {
        for (std::int64_t k = 0; k < x.size; ++k) {
            const double value = x.values[k];
            const std::int64_t end = begin_[x.indices[k] + 1];
            for (std::int64_t p = begin_[x.indices[k]]; p < end; ++p) {
                const double other = values_[p];
                if (value + other > 0) sums[rows_[p]] += 4 * value * (other / (value + other));
            }
        }
    }

    template <typename Other, typename Real>
    void finish_differences(const Row<Other>& x, const std::int32_t* columns, std::int64_t n,
                            const double* sums, Real* out) const {
        const double of_x = kernel_.of_row(x);
        const std::int64_t longest = std::max(longest_, x.size);
        const double tolerance = kRounding<Real>;
        // Whether the sums are too inexact for the row with the largest error.
        const bool rough = kernel_.shows(kernel_.rounding(longest, of_x, largest_of_row_), 0.0, tolerance);
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
            if (rough && kernel_.shows(kernel_.rounding(longest, of_x, of_row_[j]), difference, tolerance)) {
                difference = kernel_.difference(x, x_.row(j));
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
    std::int64_t n_rows_, longest_ = 0;
    double largest_of_row_ = 0;
    const Loops& loops_ = vector_loops();
    std::vector<std::int64_t> begin_;
    std::vector<std::int32_t> column_;  // which dense column a feature is, or -1
    std::vector<T> dense_;
    std::vector<std::int32_t> rows_;
    std::vector<T> values_;
    std::vector<double> of_row_;
};

}  // namespace widemargin
