// How far computed kernel values can be from the exact ones (rounding.hpp): at most eps sqrt(K_ii K_jj).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernel/kernels.hpp"
#include "rounding.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

// The largest number of values in a row.
template <typename T>
std::int64_t most_values(const CsrView<T>& x) {
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) most = std::max(most, x.row(i).size);
    return most;
}

// eps of a kernel that is positive semi-definite (R5); infinite for others.
template <typename T>
double kernel_rounding(const KernelParameters& kernel, const CsrView<T>& x) {
    const double m = static_cast<double>(most_values(x));
    double squares = 0, sums = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const Row<T> row = x.row(i);
        double sum = 0;
        for (std::int64_t k = 0; k < row.size; ++k) sum += std::abs(double(row.values[k]));
        squares = std::max(squares, row.squared_norm());
        sums = std::max(sums, sum);
    }
    // More than the tolerance of InvertedIndex in double precision.
    constexpr double kSeen = 1.1e-11;
    const double slack = 1 + 2 * rounding_of(m + 4), added = kernel.offset > 0 ? 2 * kUnit : 0.0;
    switch (kernel.kind) {
        case KernelKind::linear:
            return rounded_up(rounding_of(m + 2)) + added;
        case KernelKind::polynomial:
            return rounded_up(rounding_of(std::max(kernel.degree, 1.0) * (m + 4) + 8)) + added;
        // Where rounding of the sums could affect the value, kernel/kernels.hpp computes differences feature
        // by feature.
        case KernelKind::rbf:
            return rounded_up(
                       std::min(std::expm1(4 * kernel.gamma * rounding_of(m + 4) * squares * slack), kSeen) +
                       rounding_of(2 * m + 16)) +
                   added;
        case KernelKind::chi2: {
            // 16: what rounding adds inside a batch of columns (simd/chi_square_loops.hpp).
            const double off = 8 * rounding_of(m + 16) * sums * slack;
            return rounded_up(std::min(std::expm1(kernel.gamma * std::pow(off, kernel.power)), kSeen) +
                              rounding_of(2 * m + 24)) +
                   added;
        }
        case KernelKind::sigmoid:
            break;
    }
    return std::numeric_limits<double>::infinity();
}

}  // namespace widemargin
