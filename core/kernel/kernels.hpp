// Kernels between sparse rows.
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
// The sums of a row with many others come from an inverted index (kernel/inverted_index.hpp). A constant (the
// square of a bias feature) may be added to every kernel value.
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
        // Compensated (Neumaier 1974): two roundings, however long the row. Values are not negative.
        double sum = 0, lost = 0;
        for (std::int64_t k = 0; k < x.size; ++k) {
            const double value = x.values[k], next = sum + value;
            lost += sum >= value ? (sum - next) + value : (value - next) + sum;
            sum = next;
        }
        return sum + lost;
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

    // Bound on the error of a difference computed from a sum over shared features in so many `additions`.
    static double rounding(std::int64_t additions, double of_x, double of_z) {
        return static_cast<double>(additions + 4) * std::numeric_limits<double>::epsilon() * 2 *
               (of_x + of_z);
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

}  // namespace widemargin
