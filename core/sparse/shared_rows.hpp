// The rows of a matrix as all labels of a task share them, for passes in single precision and in double.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "simd/loops.hpp"
#include "sparse/column_order.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

// The matrix with its columns in order of frequency (so that the weights of frequent features are adjacent),
// its values in single precision, and the norms of its rows.
template <typename T>
struct SharedRows {
    CsrView<T> x;  // columns renumbered
    std::vector<std::int32_t> column_of, indices;
    std::vector<float> single_values, single_norms, single_weights;
    std::vector<double> squared_norms;
    double mean_squared_norm = 0;
    const float* values32;

    SharedRows(const CsrView<T>& given, const double* sample_weights) {
        const std::int64_t n = given.n_rows, d = given.n_columns, nnz = given.n_values();
        column_of = order_by_frequency(given, false).place;
        indices.resize(nnz);
        for (std::int64_t k = 0; k < nnz; ++k) indices[k] = column_of[given.indices[k]];
        x = {given.indptr, indices.data(), given.values, n, d};
        if constexpr (sizeof(T) == sizeof(float)) {
            values32 = given.values;
        } else {
            single_values.assign(given.values, given.values + nnz);
            values32 = single_values.data();
        }
        squared_norms.resize(n);
        single_norms.resize(n);
        for (std::int64_t i = 0; i < n; ++i) {
            squared_norms[i] = x.row(i).squared_norm();
            single_norms[i] = static_cast<float>(squared_norms[i]);
            mean_squared_norm += squared_norms[i] / static_cast<double>(n);
        }
        if (sample_weights) single_weights.assign(sample_weights, sample_weights + n);
    }
};

// A pass over these rows, without shrinking. The caller sets the lanes' costs, weights, alphas and signs.
template <typename T>
LanePass pass_over(const SharedRows<T>& shared, double bias, bool squared_loss) {
    LanePass pass{};
    pass.indptr = shared.x.indptr;
    pass.indices = shared.x.indices;
    pass.values = shared.values32;
    pass.squared_norms = shared.single_norms.data();
    pass.sample_weights = shared.single_weights.empty() ? nullptr : shared.single_weights.data();
    pass.bias_row = shared.x.n_columns;
    pass.bias = static_cast<float>(bias);
    pass.squared_loss = squared_loss;
    for (int lane = 0; lane < kLanes; ++lane) {
        pass.theta[lane] = 1;
        pass.shrink_above[lane] = std::numeric_limits<float>::infinity();
        pass.shrink_below[lane] = -std::numeric_limits<float>::infinity();
    }
    return pass;
}

// Sets the shrinking limits of the next pass: a bounded alpha is skipped if its gradient exceeds the largest
// projected gradient of the last pass.
inline void shrink_lane(LanePass& pass, int lane) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    pass.shrink_above[lane] = pass.pg_max[lane] > 0 ? pass.pg_max[lane] : infinity;
    pass.shrink_below[lane] = pass.pg_min[lane] < 0 ? pass.pg_min[lane] : -infinity;
}

// Whether example i is active in any lane.
inline bool is_in_a_lane(const std::int8_t* signs, std::int64_t i) {
    static_assert(kLanes == 16);
    std::uint64_t words[2];
    std::memcpy(words, signs + i * kLanes, sizeof words);
    return (words[0] | words[1]) != 0;
}

}  // namespace widemargin
