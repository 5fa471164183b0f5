// The sums over shared features of the chi-square kernel (kernel/kernels.hpp), for many rows at once.
#pragma once
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

// One division for four fractions: n0/q0 + n1/q1 + n2/q2 + n3/q3 over their common denominator, since a
// division takes as long as a dozen multiplications. The caller keeps q0 q1 q2 q3 within the range of
// doubles.
template <typename Real>
WIDEMARGIN_INLINE Double4 four_shares(const double* values, const Real* const* columns, std::int64_t i) {
    const Double4 b0 = load4(columns[0] + i), b1 = load4(columns[1] + i), b2 = load4(columns[2] + i),
                  b3 = load4(columns[3] + i);
    const Double4 q0 = values[0] + b0, q1 = values[1] + b1, q2 = values[2] + b2, q3 = values[3] + b3;
    const Double4 n01 = values[0] * b0 * q1 + values[1] * b1 * q0, q01 = q0 * q1;
    const Double4 n23 = values[2] * b2 * q3 + values[3] * b3 * q2, q23 = q2 * q3;
    return (n01 * q23 + n23 * q01) / (q01 * q23);
}

// The shares of at most `count` columns with rows i to i + 3, added from 0, so that rounding grows with the
// number of batches and not with that of columns.
template <typename Real>
WIDEMARGIN_INLINE Double4 shares(const double* values, const Real* const* columns, std::int64_t count,
                                 std::int64_t i) {
    Double4 total = {};
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4) total += four_shares(values + k, columns + k, i);
    for (; k < count; ++k) {
        const Double4 b = load4(columns[k] + i);
        total += values[k] * (b / (values[k] + b));
    }
    return 4.0 * total;
}

template <typename Real>
void add_shares(const double* values, const Real* const* columns, std::int64_t count, std::int64_t n,
                double* sums) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) store4(sums + i, load4(sums + i) + shares(values, columns, count, i));
    if (i == n) return;
    // The rest goes through a full vector as well, so that a row gets the same sum at any place.
    Real rest[kColumnsAtOnce][4] = {};
    const Real* padded[kColumnsAtOnce];
    for (std::int64_t k = 0; k < count; ++k) {
        for (std::int64_t j = i; j < n; ++j) rest[k][j - i] = columns[k][j];
        padded[k] = rest[k];
    }
    const Double4 found = shares(values, padded, count, 0);
    for (std::int64_t j = i; j < n; ++j) sums[j] += found[j - i];
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
