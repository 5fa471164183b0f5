// Rows scaled to length 1 and rounded to 32 bits, so that inner products are cosines.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sparse/csr.hpp"

namespace widemargin {

// Below this, squares of values may have lost digits to underflow.
constexpr double kSmallestSquare = 1e-200;

// A row without values other than 0 keeps its zeros.
template <typename T>
void unit_row(const Row<T>& row, float* out) {
    double square = row.squared_norm();
    int exponent = 0;
    if (square < kSmallestSquare) {  // powers of two change no digit
        double largest = 0;
        for (std::int64_t k = 0; k < row.size; ++k)
            largest = std::max(largest, std::abs(double(row.values[k])));
        if (largest > 0) std::frexp(largest, &exponent);
        square = 0;
        for (std::int64_t k = 0; k < row.size; ++k) {
            const double value = std::ldexp(double(row.values[k]), -exponent);
            square += value * value;
        }
    }
    const double length = square > 0 ? std::sqrt(square) : 1.0;
    for (std::int64_t k = 0; k < row.size; ++k)
        out[k] = static_cast<float>(std::ldexp(double(row.values[k]), -exponent) / length);
}

template <typename T>
void unit_rows(const CsrView<T>& x, float* out) {
    for (std::int64_t i = 0; i < x.n_rows; ++i) unit_row(x.row(i), out + x.indptr[i]);
}

}  // namespace widemargin
