// Dual coordinate descent of logistic regression for up to 16 labels side by side (LogisticPass in
// simd/loops.hpp). Letters as in linear/logistic_dual.hpp.
#pragma once
#include "simd/kernel_svm_loops.hpp"
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

// Newton steps for the minimum over one alpha. Two leave it exact to single precision once the passes
// approach the solution; before that, an inexact step costs no accuracy.
constexpr int kLogisticSteps = 2;

WIDEMARGIN_INLINE Float8 size_of(Float8 x) { return x < all8(0) ? -x : x; }

// sigma(-t) = 1 / (1 + exp(t)), also for large |t|; `small` becomes exp(-|t|).
WIDEMARGIN_INLINE Float8 sigmoid_of_negative(Float8 t, Float8* small) {
    *small = exp_of_negative(-size_of(t));
    const Float8 larger = 1.0f / (1.0f + *small);
    return t > all8(0) ? *small * larger : larger;
}

// log(1 + exp(-t)) from exp(-|t|): log(1 + z) = 2 artanh(z / (2 + z)), of which six terms are enough.
WIDEMARGIN_INLINE Float8 logistic_loss(Float8 t, Float8 z) {
    const Float8 s = z / (2.0f + z), square = s * s;
    Float8 sum = all8(1.0f / 11);
    sum = sum * square + 1.0f / 9;
    sum = sum * square + 1.0f / 7;
    sum = sum * square + 1.0f / 5;
    sum = sum * square + 1.0f / 3;
    sum = sum * square + 1.0f;
    return max8(-t, all8(0)) + 2.0f * s * sum;
}

// One visit of an example by eight lanes. Returns the change of y * alpha.
WIDEMARGIN_INLINE Float8 logistic_step8(LogisticPass& p, int lane, Float8 score, Float8 y, float* u,
                                        float squared_norm, float weight) {
    const Float8 zero = all8(0);
    const Float8 cost = (y > zero ? load8(p.cost_positive + lane) : load8(p.cost_negative + lane)) * weight;
    const Float8 curvature = squared_norm + load8(p.theta + lane) * (p.bias * p.bias);
    const Float8 m = y * score, before = load8(u), scale = curvature * cost;
    Float8 small;
    const Float8 p_before = sigmoid_of_negative(before, &small);
    const Float8 p_margin = sigmoid_of_negative(m, &small);
    const Int8 active = (y != zero) & (cost > zero);
    const Float8 slack = 0.5f * cost * (p_before - p_margin) * (m - before);
    store8(p.gap + lane, load8(p.gap + lane) + (active ? slack : zero));
    store8(p.loss + lane, load8(p.loss + lane) + (active ? cost * logistic_loss(m, small) : zero));

    const Float8 offset = m - scale * p_before, low = min8(before, m), high = max8(before, m);
    Float8 t = offset + 0.5f * scale > zero ? max8(low, zero) : min8(high, zero);
    for (int step = 0; step < kLogisticSteps; ++step) {
        const Float8 s = sigmoid_of_negative(t, &small);
        t -= (t - offset - scale * s) / (1.0f + scale * s * (1.0f - s));
        t = min8(max8(t, low), high);
    }
    t = active ? t : before;
    store8(u, t);
    return active ? cost * (sigmoid_of_negative(t, &small) - p_before) * y : zero;
}

static void pass_over_logistic_lanes(LogisticPass& p) {
    const Float8 zero = all8(0);
    for (int lane = 0; lane < kLanes; lane += 8) {
        store8(p.gap + lane, zero);
        store8(p.loss + lane, zero);
    }
    float* const bias_weights = p.w + p.bias_row * kLanes;
    for (std::int64_t r = 0; r < p.n_rows; ++r) {
        const std::int64_t i = p.rows[r];
        const std::int8_t* const sign = p.sign + i * kLanes;
        if (r + 2 < p.n_rows) {
            const std::int64_t next = p.rows[r + 2];
            for (std::int64_t k = p.indptr[next]; k < p.indptr[next + 1]; k += 16) {
                __builtin_prefetch(p.indices + k);
                __builtin_prefetch(p.values + k);
            }
            __builtin_prefetch(p.u + next * kLanes);
        }
        const std::int64_t begin = p.indptr[i], end = p.indptr[i + 1];
        Float8 s0 = load8(bias_weights) * p.bias, s1 = load8(bias_weights + 8) * p.bias;
        Float8 t0 = zero, t1 = zero;
        std::int64_t k = begin;
        const std::int64_t next_row = r + 1 < p.n_rows ? p.rows[r + 1] : i;
        const std::int32_t* ahead = p.indices + p.indptr[next_row];
        const std::int32_t* const ahead_end = p.indices + p.indptr[next_row + 1];
        for (; k + 2 <= end; k += 2) {
            if (ahead < ahead_end) __builtin_prefetch(p.w + std::int64_t(*ahead++) * kLanes);
            if (ahead < ahead_end) __builtin_prefetch(p.w + std::int64_t(*ahead++) * kLanes);
            const float* const a = p.w + std::int64_t(p.indices[k]) * kLanes;
            const float* const b = p.w + std::int64_t(p.indices[k + 1]) * kLanes;
            s0 += load8(a) * p.values[k];
            s1 += load8(a + 8) * p.values[k];
            t0 += load8(b) * p.values[k + 1];
            t1 += load8(b + 8) * p.values[k + 1];
        }
        if (k < end) {
            const float* const a = p.w + std::int64_t(p.indices[k]) * kLanes;
            s0 += load8(a) * p.values[k];
            s1 += load8(a + 8) * p.values[k];
        }
        const Float8 y0 = __builtin_convertvector(load_bytes(sign), Float8);
        const Float8 y1 = __builtin_convertvector(load_bytes(sign + 8), Float8);
        const float weight = p.sample_weights ? p.sample_weights[i] : 1.0f;
        const float squared_norm = p.squared_norms[i];
        const Float8 d0 = logistic_step8(p, 0, s0 + t0, y0, p.u + i * kLanes, squared_norm, weight);
        const Float8 d1 = logistic_step8(p, 8, s1 + t1, y1, p.u + i * kLanes + 8, squared_norm, weight);
        for (k = begin; k < end; ++k) {
            float* const a = p.w + std::int64_t(p.indices[k]) * kLanes;
            const float x = p.values[k];
            store8(a, load8(a) + d0 * x);
            store8(a + 8, load8(a + 8) + d1 * x);
        }
        const Float8 b0 = d0 * p.bias, b1 = d1 * p.bias;
        store8(bias_weights, load8(bias_weights) + b0 * load8(p.theta));
        store8(bias_weights + 8, load8(bias_weights + 8) + b1 * load8(p.theta + 8));
        store8(p.sum, load8(p.sum) + b0);
        store8(p.sum + 8, load8(p.sum + 8) + b1);
    }
    for (int lane = 0; lane < kLanes; lane += 8) {
        // Partial sums of 256 terms, since a long sum in single precision would lose small terms.
        Float8 sum = zero;
        for (std::int64_t first = 0; first <= p.bias_row; first += 256) {
            const std::int64_t last = first + 256 <= p.bias_row ? first + 256 : p.bias_row + 1;
            Float8 part = zero;
            for (std::int64_t j = first; j < last; ++j) {
                const Float8 w = load8(p.w + j * kLanes + lane);
                part += w * w;
            }
            sum += part;
        }
        store8(p.squared_weights + lane, sum);
    }
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
