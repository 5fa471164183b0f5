// Dual coordinate descent for up to 16 labels side by side (LanePass in simd/loops.hpp).
#pragma once
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

// One visit of an example by eight lanes. Returns the change of y * alpha.
WIDEMARGIN_INLINE Float8 step8(LanePass& p, int lane, Float8 score, Float8 y, float* alpha,
                               Float8 squared_norm, float weight, float excess, std::int8_t* sign) {
    const Float8 zero = all8(0);
    const Float8 infinity = all8(__builtin_inff());
    const Float8 cost = (y > zero ? load8(p.cost_positive + lane) : load8(p.cost_negative + lane)) * weight;
    const Float8 a = load8(alpha);
    Float8 upper = cost, q = squared_norm + load8(p.theta + lane) * (p.bias * p.bias);
    Float8 margin_gap = y * score + excess, g = margin_gap, slack;
    if (p.squared_loss) {
        const Float8 d = 0.5f / cost;
        upper = infinity;
        q += d;
        g += d * a;
        const Float8 xi = max8(-margin_gap, zero);
        const Float8 loss = cost * xi * xi;
        slack = loss + 0.5f * d * a * a + a * margin_gap;
        store8(p.loss + lane, load8(p.loss + lane) + (y != zero ? loss : zero));
    } else {
        slack = max8(a * g, (a - upper) * g);
    }
    const Int8 active = (y != zero);
    const Int8 at_zero = (a <= zero), at_upper = (a >= upper);
    const Float8 pg = (at_zero ? min8(g, zero) : (at_upper ? max8(g, zero) : g));
    const Float8 live = active ? pg : zero;
    store8(p.pg_max + lane, max8(load8(p.pg_max + lane), active ? pg : -infinity));
    store8(p.pg_min + lane, min8(load8(p.pg_min + lane), active ? pg : infinity));
    store8(p.gap + lane, load8(p.gap + lane) + (active ? slack : zero));

    const Int8 leave =
        (at_zero & (g > load8(p.shrink_above + lane))) | (at_upper & (g < load8(p.shrink_below + lane)));
    const Bytes8 keep = __builtin_convertvector(~leave, Bytes8);
    *reinterpret_cast<MemoryBytes8*>(sign) = load_bytes(sign) & keep;

    // An empty document without a bias feature has q = 0: its loss is constant and its alpha is at the upper
    // bound.
    const Float8 target = q > zero ? max8(min8(a - kRelaxation * g / q, upper), zero) : upper;
    const Float8 change = live != zero ? (target - a) * y : zero;
    store8(alpha, a + change * y);
    return change;
}

template <bool factors>
WIDEMARGIN_INLINE void ask_for_weights(const float* first) {
    __builtin_prefetch(first);
    if constexpr (factors) __builtin_prefetch(first + kLanes);
}

// Where the rows of a pass are.
struct RowsOfMatrix {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* values;
    RowPlace operator[](std::int64_t i) const {
        return {indices + indptr[i], values + indptr[i], indptr[i + 1] - indptr[i]};
    }
};

// With factors, a row is x f / |x f| in each lane, scales are 1 / |x f|, and v = f w
// (linear/label_weighted.hpp).
template <bool factors, class Rows>
WIDEMARGIN_INLINE void pass_over_rows(LanePass& p, const Rows& rows) {
    constexpr std::int64_t kStride = factors ? 2 * kLanes : kLanes;
    const Float8 zero = all8(0), one = all8(1);
    for (int lane = 0; lane < kLanes; lane += 8) {
        store8(p.pg_max + lane, all8(-__builtin_inff()));
        store8(p.pg_min + lane, all8(__builtin_inff()));
        store8(p.gap + lane, zero);
        store8(p.loss + lane, zero);
    }
    float* const bias_weights = p.w + p.bias_row * kStride;
    for (std::int64_t r = 0; r < p.n_rows; ++r) {
        const std::int64_t i = p.rows[r];
        std::int8_t* const sign = p.sign + i * kLanes;
        if (r + 2 < p.n_rows) {
            const std::int64_t next = p.rows[r + 2];
            const RowPlace ahead = rows[next];
            for (std::int64_t k = 0; k < ahead.size; k += 16) {
                __builtin_prefetch(ahead.indices + k);
                __builtin_prefetch(ahead.values + k);
            }
            __builtin_prefetch(p.alpha + next * kLanes);
            if (factors) __builtin_prefetch(p.scales + next * kLanes);
        }
        const RowPlace row = rows[i];
        const Float8 of_bias0 = load8(bias_weights) * p.bias, of_bias1 = load8(bias_weights + 8) * p.bias;
        Float8 s0 = factors ? zero : of_bias0, s1 = factors ? zero : of_bias1;
        Float8 t0 = zero, t1 = zero;
        std::int64_t k = 0;
        const RowPlace next_row = rows[r + 1 < p.n_rows ? p.rows[r + 1] : i];
        const std::int32_t* ahead = next_row.indices;
        const std::int32_t* const ahead_end = ahead + next_row.size;
        for (; k + 2 <= row.size; k += 2) {
            if (ahead < ahead_end) ask_for_weights<factors>(p.w + std::int64_t(*ahead++) * kStride);
            if (ahead < ahead_end) ask_for_weights<factors>(p.w + std::int64_t(*ahead++) * kStride);
            const float* const u = p.w + std::int64_t(row.indices[k]) * kStride;
            const float* const v = p.w + std::int64_t(row.indices[k + 1]) * kStride;
            s0 += load8(u) * row.values[k];
            s1 += load8(u + 8) * row.values[k];
            t0 += load8(v) * row.values[k + 1];
            t1 += load8(v + 8) * row.values[k + 1];
        }
        if (k < row.size) {
            const float* const u = p.w + std::int64_t(row.indices[k]) * kStride;
            s0 += load8(u) * row.values[k];
            s1 += load8(u + 8) * row.values[k];
        }
        const Bytes8 low = load_bytes(sign), high = load_bytes(sign + 8);
        const float weight = p.sample_weights ? p.sample_weights[i] : 1.0f;
        const float excess = p.excess ? p.excess[i] : -1.0f;
        Float8 f0 = s0 + t0, f1 = s1 + t1, scale0 = one, scale1 = one;
        Float8 norm0 = all8(p.squared_norms[i]), norm1 = norm0;
        if constexpr (factors) {
            scale0 = load8(p.scales + i * kLanes);
            scale1 = load8(p.scales + i * kLanes + 8);
            f0 = f0 * scale0 + of_bias0;
            f1 = f1 * scale1 + of_bias1;
            norm0 = scale0 > zero ? one : zero;
            norm1 = scale1 > zero ? one : zero;
        }
        const Float8 d0 = step8(p, 0, f0, __builtin_convertvector(low, Float8), p.alpha + i * kLanes, norm0,
                                weight, excess, sign);
        const Float8 d1 = step8(p, 8, f1, __builtin_convertvector(high, Float8), p.alpha + i * kLanes + 8,
                                norm1, weight, excess, sign + 8);
        const Int8 moved = (d0 != zero) | (d1 != zero);
        std::uint64_t any[4];
        std::memcpy(any, &moved, sizeof any);
        if ((any[0] | any[1] | any[2] | any[3]) == 0) continue;
        const Float8 step0 = d0 * scale0, step1 = d1 * scale1;
        for (k = 0; k < row.size; ++k) {
            float* const u = p.w + std::int64_t(row.indices[k]) * kStride;
            const float x = row.values[k];
            if constexpr (factors) {
                store8(u, load8(u) + step0 * x * load8(u + kLanes));
                store8(u + 8, load8(u + 8) + step1 * x * load8(u + kLanes + 8));
            } else {
                store8(u, load8(u) + d0 * x);
                store8(u + 8, load8(u + 8) + d1 * x);
            }
        }
        const Float8 b0 = d0 * p.bias, b1 = d1 * p.bias;
        store8(bias_weights, load8(bias_weights) + b0 * load8(p.theta));
        store8(bias_weights + 8, load8(bias_weights + 8) + b1 * load8(p.theta + 8));
        store8(p.sum, load8(p.sum) + b0);
        store8(p.sum + 8, load8(p.sum + 8) + b1);
    }
}

static void pass_over_lanes(LanePass& p) {
    const RowsOfMatrix rows{p.indptr, p.indices, p.values};
    if (p.places) {
        pass_over_rows<false>(p, p.places);
    } else if (p.scales) {
        pass_over_rows<true>(p, rows);
    } else {
        pass_over_rows<false>(p, rows);
    }
}

static LaneSums sum_lanes(const LanePass& p, std::int64_t n_examples) {
    LaneSums sums;
    const Float8 smallest = all8(1e-38f);
    for (int lane = 0; lane < kLanes; lane += 8) {
        // Partial sums of 256 terms, since a long sum in single precision would lose small terms.
        Float8 alpha = all8(0), ww = all8(0), active = all8(0);
        for (std::int64_t begin = 0; begin < n_examples; begin += 256) {
            const std::int64_t end = begin + 256 < n_examples ? begin + 256 : n_examples;
            Float8 part = all8(0);
            for (std::int64_t i = begin; i < end; ++i) {
                part += load8(p.alpha + i * kLanes + lane);
                const Float8 sign = __builtin_convertvector(load_bytes(p.sign + i * kLanes + lane), Float8);
                active += sign * sign;
            }
            alpha += part;
        }
        for (std::int64_t begin = 0; begin <= p.bias_row; begin += 256) {
            const std::int64_t end = begin + 256 <= p.bias_row ? begin + 256 : p.bias_row + 1;
            Float8 part = all8(0);
            for (std::int64_t j = begin; j < end; ++j) {
                const float* const u = p.w + j * (p.scales ? 2 * kLanes : kLanes) + lane;
                const Float8 w = load8(u);
                // A factor of 0 has a weight of 0.
                part += p.scales ? w * w / max8(load8(u + kLanes), smallest) : w * w;
            }
            ww += part;
        }
        store8(sums.alpha + lane, alpha);
        store8(sums.squared_weights + lane, ww);
        store8(sums.active + lane, active);
    }
    return sums;
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
