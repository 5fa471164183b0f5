// The kernels of simd/label_lanes.hpp, in the namespace WIDEMARGIN_TARGET of the file that includes this one.
//
// Nothing from the standard library but constants may be used here: an inline function compiled for AVX2
// could be the copy that the linker keeps for every CPU.
#include <cstring>

#include "simd/label_lanes.hpp"

#define WIDEMARGIN_INLINE static inline __attribute__((always_inline))

namespace widemargin {
namespace WIDEMARGIN_TARGET {

typedef float Lanes8 __attribute__((vector_size(32)));
typedef double Double4 __attribute__((vector_size(32)));
typedef std::int32_t Mask8 __attribute__((vector_size(32)));
typedef std::int8_t Bytes8 __attribute__((vector_size(8)));
// The same in memory, at any address. (memcpy would go through the stack.)
typedef float MemoryLanes8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double MemoryDouble4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef std::int8_t MemoryBytes8 __attribute__((vector_size(8), aligned(1), may_alias));

WIDEMARGIN_INLINE Lanes8 load8(const float* from) { return *reinterpret_cast<const MemoryLanes8*>(from); }
WIDEMARGIN_INLINE Double4 load4(const double* from) { return *reinterpret_cast<const MemoryDouble4*>(from); }
WIDEMARGIN_INLINE Bytes8 load_bytes(const std::int8_t* from) {
    return *reinterpret_cast<const MemoryBytes8*>(from);
}
WIDEMARGIN_INLINE void store8(float* to, Lanes8 v) { *reinterpret_cast<MemoryLanes8*>(to) = v; }
WIDEMARGIN_INLINE Lanes8 all8(float value) {
    return Lanes8{value, value, value, value, value, value, value, value};
}
WIDEMARGIN_INLINE Lanes8 max8(Lanes8 a, Lanes8 b) { return a > b ? a : b; }
WIDEMARGIN_INLINE Lanes8 min8(Lanes8 a, Lanes8 b) { return a < b ? a : b; }

// One visit of example i by eight lanes. Returns the change of y * alpha.
WIDEMARGIN_INLINE Lanes8 step8(LanePass& p, int lane, Lanes8 score, Lanes8 y, float* alpha,
                               float squared_norm, float weight, float excess, std::int8_t* sign) {
    const Lanes8 zero = all8(0);
    const Lanes8 infinity = all8(__builtin_inff());
    const Lanes8 cost = (y > zero ? load8(p.cost_positive + lane) : load8(p.cost_negative + lane)) * weight;
    const Lanes8 a = load8(alpha);
    Lanes8 upper = cost, q = all8(squared_norm), margin_gap = y * score + excess, g = margin_gap, slack;
    if (p.squared_loss) {
        const Lanes8 d = 0.5f / cost;
        upper = infinity;
        q += d;
        g += d * a;
        const Lanes8 xi = max8(-margin_gap, zero);
        const Lanes8 loss = cost * xi * xi;
        slack = loss + 0.5f * d * a * a + a * margin_gap;
        store8(p.loss + lane, load8(p.loss + lane) + (y != zero ? loss : zero));
    } else {
        slack = max8(a * g, (a - upper) * g);
    }
    const Mask8 active = (y != zero);
    const Mask8 at_zero = (a <= zero), at_upper = (a >= upper);
    const Lanes8 pg = (at_zero ? min8(g, zero) : (at_upper ? max8(g, zero) : g));
    const Lanes8 live = active ? pg : zero;
    store8(p.pg_max + lane, max8(load8(p.pg_max + lane), active ? pg : -infinity));
    store8(p.pg_min + lane, min8(load8(p.pg_min + lane), active ? pg : infinity));
    store8(p.gap + lane, load8(p.gap + lane) + (active ? slack : zero));

    const Mask8 leave =
        (at_zero & (g > load8(p.shrink_above + lane))) | (at_upper & (g < load8(p.shrink_below + lane)));
    const Bytes8 keep = __builtin_convertvector(~leave, Bytes8);
    *reinterpret_cast<MemoryBytes8*>(sign) = load_bytes(sign) & keep;

    // An empty document without a bias feature has q = 0: its loss is constant, its alpha belongs at the
    // bound.
    const Lanes8 target = q > zero ? max8(min8(a - kRelaxation * g / q, upper), zero) : upper;
    const Lanes8 change = live != zero ? (target - a) * y : zero;
    store8(alpha, a + change * y);
    return change;
}

static void pass_over_lanes(LanePass& p) {
    const Lanes8 zero = all8(0);
    for (int lane = 0; lane < kLanes; lane += 8) {
        store8(p.pg_max + lane, all8(-__builtin_inff()));
        store8(p.pg_min + lane, all8(__builtin_inff()));
        store8(p.gap + lane, zero);
        store8(p.loss + lane, zero);
    }
    float* const bias_weights = p.w + p.bias_row * kLanes;
    for (std::int64_t r = 0; r < p.n_rows; ++r) {
        const std::int64_t i = p.rows[r];
        std::int8_t* const sign = p.sign + i * kLanes;
        if (r + 2 < p.n_rows) {
            const std::int64_t next = p.rows[r + 2];
            for (std::int64_t k = p.indptr[next]; k < p.indptr[next + 1]; k += 16) {
                __builtin_prefetch(p.indices + k);
                __builtin_prefetch(p.values + k);
            }
            __builtin_prefetch(p.alpha + next * kLanes);
        }
        const std::int64_t begin = p.indptr[i], end = p.indptr[i + 1];
        Lanes8 s0 = load8(bias_weights) * p.bias, s1 = load8(bias_weights + 8) * p.bias;
        Lanes8 t0 = zero, t1 = zero;
        std::int64_t k = begin;
        const std::int64_t next_row = r + 1 < p.n_rows ? p.rows[r + 1] : i;
        const std::int32_t* ahead = p.indices + p.indptr[next_row];
        const std::int32_t* const ahead_end = p.indices + p.indptr[next_row + 1];
        for (; k + 2 <= end; k += 2) {
            if (ahead < ahead_end) __builtin_prefetch(p.w + std::int64_t(*ahead++) * kLanes);
            if (ahead < ahead_end) __builtin_prefetch(p.w + std::int64_t(*ahead++) * kLanes);
            const float* const u = p.w + std::int64_t(p.indices[k]) * kLanes;
            const float* const v = p.w + std::int64_t(p.indices[k + 1]) * kLanes;
            s0 += load8(u) * p.values[k];
            s1 += load8(u + 8) * p.values[k];
            t0 += load8(v) * p.values[k + 1];
            t1 += load8(v + 8) * p.values[k + 1];
        }
        if (k < end) {
            const float* const u = p.w + std::int64_t(p.indices[k]) * kLanes;
            s0 += load8(u) * p.values[k];
            s1 += load8(u + 8) * p.values[k];
        }
        const Bytes8 low = load_bytes(sign), high = load_bytes(sign + 8);
        const float weight = p.sample_weights ? p.sample_weights[i] : 1.0f;
        const float excess = p.excess ? p.excess[i] : -1.0f;
        const Lanes8 d0 = step8(p, 0, s0 + t0, __builtin_convertvector(low, Lanes8), p.alpha + i * kLanes,
                                p.squared_norms[i], weight, excess, sign);
        const Lanes8 d1 = step8(p, 8, s1 + t1, __builtin_convertvector(high, Lanes8),
                                p.alpha + i * kLanes + 8, p.squared_norms[i], weight, excess, sign + 8);
        const Mask8 moved = (d0 != zero) | (d1 != zero);
        std::uint64_t any[4];
        std::memcpy(any, &moved, sizeof any);
        if ((any[0] | any[1] | any[2] | any[3]) == 0) continue;
        for (k = begin; k < end; ++k) {
            float* const u = p.w + std::int64_t(p.indices[k]) * kLanes;
            const float x = p.values[k];
            store8(u, load8(u) + d0 * x);
            store8(u + 8, load8(u + 8) + d1 * x);
        }
        store8(bias_weights, load8(bias_weights) + d0 * p.bias);
        store8(bias_weights + 8, load8(bias_weights + 8) + d1 * p.bias);
    }
}

static LaneSums sum_lanes(const LanePass& p, std::int64_t n_examples) {
    LaneSums sums;
    for (int lane = 0; lane < kLanes; lane += 8) {
        // Partial sums of 256 terms, since single precision would lose the small ones in a long sum.
        Lanes8 alpha = all8(0), ww = all8(0), active = all8(0);
        for (std::int64_t begin = 0; begin < n_examples; begin += 256) {
            const std::int64_t end = begin + 256 < n_examples ? begin + 256 : n_examples;
            Lanes8 part = all8(0);
            for (std::int64_t i = begin; i < end; ++i) {
                part += load8(p.alpha + i * kLanes + lane);
                const Lanes8 sign = __builtin_convertvector(load_bytes(p.sign + i * kLanes + lane), Lanes8);
                active += sign * sign;
            }
            alpha += part;
        }
        for (std::int64_t begin = 0; begin <= p.bias_row; begin += 256) {
            const std::int64_t end = begin + 256 <= p.bias_row ? begin + 256 : p.bias_row + 1;
            Lanes8 part = all8(0);
            for (std::int64_t j = begin; j < end; ++j) {
                const Lanes8 w = load8(p.w + j * kLanes + lane);
                part += w * w;
            }
            ww += part;
        }
        store8(sums.alpha + lane, alpha);
        store8(sums.squared_weights + lane, ww);
        store8(sums.active + lane, active);
    }
    return sums;
}

// w.x in four partial sums: with one, every addition would wait for the one before it.
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

template <int width, typename T>
WIDEMARGIN_INLINE void score_lanes_of_width(const std::int32_t* indices, const T* values, std::int64_t size,
                                            const double* w, double* scores) {
    Double4 sum[width / 4] = {};
    for (std::int64_t k = 0; k < size; ++k) {
        const double* const u = w + std::int64_t(indices[k]) * width;
        for (int part = 0; part < width / 4; ++part) sum[part] += load4(u + 4 * part) * double(values[k]);
    }
    std::memcpy(scores, sum, sizeof sum);
}

template <typename T>
static void score_lanes(const std::int32_t* indices, const T* values, std::int64_t size, const double* w,
                        int width, double* scores) {
    switch (width) {
        case 4:
            return score_lanes_of_width<4>(indices, values, size, w, scores);
        case 8:
            return score_lanes_of_width<8>(indices, values, size, w, scores);
        case 12:
            return score_lanes_of_width<12>(indices, values, size, w, scores);
        default:
            return score_lanes_of_width<kLanes>(indices, values, size, w, scores);
    }
}

template <typename T>
static void add_lanes(const std::int32_t* indices, const T* values, std::int64_t size, const double* steps,
                      double* w) {
    Double4 step[kLanes / 4];
    std::memcpy(step, steps, sizeof step);
    for (std::int64_t k = 0; k < size; ++k) {
        double* const u = w + std::int64_t(indices[k]) * kLanes;
        for (int part = 0; part < kLanes / 4; ++part) {
            *reinterpret_cast<MemoryDouble4*>(u + 4 * part) =
                load4(u + 4 * part) + step[part] * double(values[k]);
        }
    }
}

static void score_single_lanes(const std::int32_t* indices, const float* values, std::int64_t size,
                               const float* w, float* scores) {
    Lanes8 low = all8(0), high = all8(0);
    for (std::int64_t k = 0; k < size; ++k) {
        const float* const u = w + std::int64_t(indices[k]) * kLanes;
        low += load8(u) * values[k];
        high += load8(u + 8) * values[k];
    }
    store8(scores, low);
    store8(scores + 8, high);
}

// How many features before it is needed a line of weights is asked for: enough to have come from memory, few
// enough to be there still. The last ones of a row ask for the first ones of the next.
constexpr std::int64_t kFeaturesAhead = 32;

// Always inline, and no loop: GCC takes functions and loops that only ask for memory to have no effect, and
// leaves them out.
template <int lines>
WIDEMARGIN_INLINE void ask_for_lines(const double* first) {
    __builtin_prefetch(first);
    if constexpr (lines > 1) ask_for_lines<lines - 1>(first + 8);
}

// The scores of a row by 4 * (parts - 1) + 1 to 4 * parts labels, whose sums stay in registers. The last four
// labels share some with those before where the number is no multiple of four: both find the same sums.
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

// The same by fewer labels than 4.
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

// Labels in tiles of 16, and at the end one of up to 31: a pass of its own over the row for the labels beyond
// 16 would cost more than their sums. Each sum adds the features in their order, whatever the tile.
template <typename T>
static void score_row(const std::int32_t* indices, const T* values, std::int64_t size, NextRow next,
                      const double* w, std::int64_t stride, const double* intercept, std::int64_t n_labels,
                      double* scores) {
    for (; n_labels >= 2 * kLanes; n_labels -= kLanes) {
        score_tile<4>(indices, values, size, next, w, stride, intercept, kLanes, scores);
        w += kLanes, intercept += kLanes, scores += kLanes;
    }
    switch (n_labels) {
        case 1:
            return score_few<1>(indices, values, size, w, stride, intercept, scores);
        case 2:
            return score_few<2>(indices, values, size, w, stride, intercept, scores);
        case 3:
            return score_few<3>(indices, values, size, w, stride, intercept, scores);
    }
    switch ((n_labels + 3) / 4) {
        case 1:
            return score_tile<1>(indices, values, size, next, w, stride, intercept, n_labels, scores);
        case 2:
            return score_tile<2>(indices, values, size, next, w, stride, intercept, n_labels, scores);
        case 3:
            return score_tile<3>(indices, values, size, next, w, stride, intercept, n_labels, scores);
        case 4:
            return score_tile<4>(indices, values, size, next, w, stride, intercept, n_labels, scores);
        case 5:
            return score_tile<5>(indices, values, size, next, w, stride, intercept, n_labels, scores);
        case 6:
            return score_tile<6>(indices, values, size, next, w, stride, intercept, n_labels, scores);
        case 7:
            return score_tile<7>(indices, values, size, next, w, stride, intercept, n_labels, scores);
        case 8:
            return score_tile<8>(indices, values, size, next, w, stride, intercept, n_labels, scores);
    }
}

LaneKernels lane_kernels() {
    return {pass_over_lanes,    sum_lanes,        score_lanes<float>, score_lanes<double>,
            score_single_lanes, add_lanes<float>, add_lanes<double>,  score_row<float>,
            score_row<double>,  dot<float>,       dot<double>};
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
