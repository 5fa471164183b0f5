// Scores of sparse rows for one or many labels, and updates of the weights of 16 labels by a row.
#pragma once
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

// w.x in four partial sums, so that an addition need not wait for the one before it.
template <typename T>
static double dot(const std::int32_t* indices, const T* values, std::int64_t size, bool passing,
                  const double* w) {
    constexpr std::int64_t kValuesAhead = 512, kLine = 64 / sizeof(float);
    Double4 sum = {};
    std::int64_t k = 0;
    for (; k + 4 <= size; k += 4) {
        if (passing && k % kLine == 0) {
            __builtin_prefetch(indices + k + kValuesAhead, 0, 0);
            __builtin_prefetch(values + k + kValuesAhead, 0, 0);
        }
        const Double4 weights = {w[indices[k]], w[indices[k + 1]], w[indices[k + 2]], w[indices[k + 3]]};
        const Double4 x = {double(values[k]), double(values[k + 1]), double(values[k + 2]),
                           double(values[k + 3])};
        sum += weights * x;
    }
    double rest = sum[0];
    for (; k < size; ++k) rest += w[indices[k]] * double(values[k]);
    return (rest + sum[1]) + (sum[2] + sum[3]);
}

template <typename T>
static void add_lanes(const std::int32_t* indices, const T* values, std::int64_t size, const double* steps,
                      double* w) {
    Double4 step[kLanes / 4];
    std::memcpy(step, steps, sizeof step);
    for (std::int64_t k = 0; k < size; ++k) {
        double* const u = w + std::int64_t(indices[k]) * kLanes;
        for (int part = 0; part < kLanes / 4; ++part) {
            store4(u + 4 * part, load4(u + 4 * part) + step[part] * double(values[k]));
        }
    }
}

static void score_roughly(const std::int32_t* indices, const float* values, std::int64_t size, const float* w,
                          float* scores) {
    Float8 low = all8(0), high = all8(0);
    for (std::int64_t k = 0; k < size; ++k) {
        const float* const u = w + std::int64_t(indices[k]) * kLanes;
        low += load8(u) * values[k];
        high += load8(u + 8) * values[k];
    }
    store8(scores, low);
    store8(scores + 8, high);
}

// Prefetch distance of a line of weights, in features: far enough that it arrives from memory in time, near
// enough that it is not evicted again. The last features of a row prefetch for the first ones of the next.
constexpr std::int64_t kFeaturesAhead = 32;

// Always inline, and without a loop: GCC removes functions and loops that only prefetch, since they have no
// effect.
template <int lines>
WIDEMARGIN_INLINE void ask_for_lines(const double* first) {
    __builtin_prefetch(first);
    if constexpr (lines > 1) ask_for_lines<lines - 1>(first + 8);
}

// The scores of a row for 4 * (parts - 1) + 1 to 4 * parts labels, whose sums stay in registers. If the
// number is not a multiple of four, the last four labels overlap the ones before; both compute the same sums.
template <int parts, typename T>
WIDEMARGIN_INLINE void score_tile(const std::int32_t* indices, const T* values, std::int64_t size,
                                  NextRow next, const double* w, std::int64_t stride, const double* intercept,
                                  std::int64_t n_labels, double* scores) {
    const std::int64_t last = n_labels - 4;
    Double4 sum[parts];
    std::memcpy(sum, intercept, sizeof(Double4) * (parts - 1));
    std::memcpy(sum + parts - 1, intercept + last, sizeof(Double4));
    constexpr int kLines = (parts + 1) / 2;
    const auto add = [&](std::int64_t k) {
        const double* const u = w + std::int64_t(indices[k]) * stride;
        const double value = double(values[k]);
        for (int part = 0; part < parts - 1; ++part) sum[part] += load4(u + 4 * part) * value;
        sum[parts - 1] += load4(u + last) * value;
    };
    std::int64_t k = 0;
    for (; k + kFeaturesAhead < size; ++k) {
        ask_for_lines<kLines>(w + std::int64_t(indices[k + kFeaturesAhead]) * stride);
        add(k);
    }
    for (std::int64_t ahead = 0; k < size; ++k, ++ahead) {
        if (ahead < next.size) ask_for_lines<kLines>(w + std::int64_t(next.indices[ahead]) * stride);
        add(k);
    }
    std::memcpy(scores, sum, sizeof(Double4) * (parts - 1));
    std::memcpy(scores + last, sum + parts - 1, sizeof(Double4));
}

// The same for fewer than 4 labels.
template <int few, typename T>
WIDEMARGIN_INLINE void score_few(const std::int32_t* indices, const T* values, std::int64_t size,
                                 const double* w, std::int64_t stride, const double* intercept,
                                 double* scores) {
    double sum[few];
    std::memcpy(sum, intercept, sizeof sum);
    for (std::int64_t k = 0; k < size; ++k) {
        const double* const u = w + std::int64_t(indices[k]) * stride;
        for (int label = 0; label < few; ++label) sum[label] += u[label] * double(values[k]);
    }
    std::memcpy(scores, sum, sizeof sum);
}

// score_tile with as few parts as the labels need, at most so many.
template <int parts, typename T>
WIDEMARGIN_INLINE void score_last(const std::int32_t* indices, const T* values, std::int64_t size,
                                  NextRow next, const double* w, std::int64_t stride, const double* intercept,
                                  std::int64_t n_labels, double* scores) {
    if constexpr (parts > 1) {
        if (n_labels <= 4 * (parts - 1))
            return score_last<parts - 1>(indices, values, size, next, w, stride, intercept, n_labels, scores);
    }
    score_tile<parts>(indices, values, size, next, w, stride, intercept, n_labels, scores);
}

// Labels in tiles of 16; the last tile has up to 31, since another pass over the row for the remaining labels
// would cost more than their sums. Each sum adds the features in order, whatever the tile.
template <typename T>
static void score_row(const std::int32_t* indices, const T* values, std::int64_t size, NextRow next,
                      const double* w, std::int64_t stride, const double* intercept, std::int64_t n_labels,
                      double* scores) {
    for (; n_labels >= 2 * kLanes; n_labels -= kLanes) {
        score_tile<4>(indices, values, size, next, w, stride, intercept, kLanes, scores);
        w += kLanes, intercept += kLanes, scores += kLanes;
    }
    switch (n_labels) {
        case 0:
            return;
        case 1:
            return score_few<1>(indices, values, size, w, stride, intercept, scores);
        case 2:
            return score_few<2>(indices, values, size, w, stride, intercept, scores);
        case 3:
            return score_few<3>(indices, values, size, w, stride, intercept, scores);
    }
    score_last<8>(indices, values, size, next, w, stride, intercept, n_labels, scores);
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
