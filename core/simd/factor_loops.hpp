// Rows whose terms have factors that differ by label (linear/label_weighted.hpp).
#pragma once
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

WIDEMARGIN_INLINE Double4 load_floats4(const float* from) {
    return Double4{double(from[0]), double(from[1]), double(from[2]), double(from[3])};
}

template <typename T>
static void factored_squares(const std::int32_t* indices, const T* values, std::int64_t size,
                             const float* squared_factors, double* squares) {
    Double4 sums[kLanes / 4] = {};
    for (std::int64_t k = 0; k < size; ++k) {
        const float* const f = squared_factors + std::int64_t(indices[k]) * kLanes;
        const double square = double(values[k]) * double(values[k]);
        for (int part = 0; part < kLanes / 4; ++part) sums[part] += load_floats4(f + 4 * part) * square;
    }
    std::memcpy(squares, sums, sizeof sums);
}

// A sum that is not finite stays so in the score, and is reported. Without terms the score is the intercept.
WIDEMARGIN_INLINE double over_length(double sum, double square, double intercept) {
    if (square == 0) return intercept;
    const double length = __builtin_sqrt(square);
    return length < __builtin_inf() ? sum / length + intercept : __builtin_nan("");
}

// 4 * parts labels from `first` on.
template <int parts, typename T>
WIDEMARGIN_INLINE void score_factored_tile(const std::int32_t* indices, const T* values, std::int64_t size,
                                           const FactoredWeights& weights, std::int64_t first,
                                           double* scores) {
    constexpr std::int64_t kAhead = 16;  // terms whose weights are prefetched
    Double4 sums[parts] = {}, squares[parts] = {};
    for (std::int64_t k = 0; k < size; ++k) {
        if (k + kAhead < size) {
            const std::int64_t ahead = std::int64_t(indices[k + kAhead]) * weights.n_labels + first;
            __builtin_prefetch(weights.v + ahead);
            if constexpr (parts > 2) __builtin_prefetch(weights.v + ahead + 8);
            __builtin_prefetch(weights.squared_factors + ahead);
        }
        const std::int64_t place = std::int64_t(indices[k]) * weights.n_labels + first;
        const double x = double(values[k]), square = x * x;
        for (int part = 0; part < parts; ++part) {
            sums[part] += load4(weights.v + place + 4 * part) * x;
            squares[part] += load_floats4(weights.squared_factors + place + 4 * part) * square;
        }
    }
    for (int label = 0; label < 4 * parts; ++label) {
        scores[first + label] = over_length(sums[label / 4][label % 4], squares[label / 4][label % 4],
                                            weights.intercept[first + label]);
    }
}

// Labels in tiles of 16; the last tile may overlap the one before, and fewer than four labels go one by one.
// Each sum adds the terms in order, whatever the tile.
template <typename T>
static void score_factored(const std::int32_t* indices, const T* values, std::int64_t size,
                           const FactoredWeights& weights, double* scores) {
    const std::int64_t n_labels = weights.n_labels;
    std::int64_t first = 0;
    for (; first + kLanes <= n_labels; first += kLanes)
        score_factored_tile<4>(indices, values, size, weights, first, scores);
    while (first < n_labels && n_labels >= 4) {
        const std::int64_t parts = (n_labels - first + 3) / 4,
                           whole = 4 * parts <= n_labels ? parts : parts - 1;
        const std::int64_t begin = whole == parts ? n_labels - 4 * parts : first;
        if (whole == 1) score_factored_tile<1>(indices, values, size, weights, begin, scores);
        if (whole == 2) score_factored_tile<2>(indices, values, size, weights, begin, scores);
        if (whole == 3) score_factored_tile<3>(indices, values, size, weights, begin, scores);
        if (whole == 4) score_factored_tile<4>(indices, values, size, weights, begin, scores);
        first = begin + 4 * whole;
    }
    for (; first < n_labels; ++first) {
        double sum = 0, squares = 0;
        for (std::int64_t k = 0; k < size; ++k) {
            const std::int64_t place = std::int64_t(indices[k]) * n_labels + first;
            const double x = double(values[k]);
            sum += weights.v[place] * x;
            squares += double(weights.squared_factors[place]) * (x * x);
        }
        scores[first] = over_length(sum, squares, weights.intercept[first]);
    }
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
