// A view of a compressed-sparse-row matrix, and the small operations that every solver uses on its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace widemargin {

using Indices = std::vector<std::int32_t>;  // row numbers

// 0, 1, ..., n - 1
inline Indices all_of(std::int64_t n) {
    Indices all(n);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

template <typename T>
struct Row {
    const std::int32_t* indices;
    const T* values;
    std::int64_t size;

    double squared_norm() const {
        double sum = 0;
        for (std::int64_t k = 0; k < size; ++k) sum += double(values[k]) * double(values[k]);
        return sum;
    }

    // Four partial sums, so that an addition need not wait for the one before it.
    double dot(const double* w) const {
        double a = 0, b = 0, c = 0, d = 0;
        std::int64_t k = 0;
        for (; k + 4 <= size; k += 4) {
            a += w[indices[k]] * double(values[k]);
            b += w[indices[k + 1]] * double(values[k + 1]);
            c += w[indices[k + 2]] * double(values[k + 2]);
            d += w[indices[k + 3]] * double(values[k + 3]);
        }
        for (; k < size; ++k) a += w[indices[k]] * double(values[k]);
        return (a + b) + (c + d);
    }

    void axpy(double step, double* w) const {
        for (std::int64_t k = 0; k < size; ++k) w[indices[k]] += step * double(values[k]);
    }

    // `locality` 0: a row that is read only once, so that it does not evict what is read again.
    template <int locality = 3>
    void prefetch() const {
#if defined(__GNUC__)
        for (std::int64_t k = 0; k < size; k += 16) {
            __builtin_prefetch(indices + k, 0, locality);
            __builtin_prefetch(values + k, 0, locality);
        }
#endif
    }
};

template <typename T>
struct CsrView {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const T* values;
    std::int64_t n_rows;
    std::int64_t n_columns;

    Row<T> row(std::int64_t i) const {
        return {indices + indptr[i], values + indptr[i], indptr[i + 1] - indptr[i]};
    }
    std::int64_t n_values() const { return indptr[n_rows]; }
};

}  // namespace widemargin
