// Steps and passes of multi-class machines: all classes of one example at once (ClassRow and ClassPass in
// simd/loops.hpp). Letters as in multiclass/multiclass_dual.hpp.
//
// The step maximizes D over u_i. With q = x_i.x_i, divided by the factor of over-relaxation, it is
//   Crammer-Singer:  the projection of v = u + h / q onto the simplex sum_m v_m = C, v >= 0: max(v - tau, 0)
//   Weston-Watkins:  min(max(v - sigma, 0), C), where sigma is the change of sum_m u_m
// Both tau and sigma are roots of falling, piecewise linear functions, which Newton's method finds exactly.
#pragma once
#include "simd/kernel_svm_loops.hpp"
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

WIDEMARGIN_INLINE Float8 all_of_type(float value) { return all8(value); }
WIDEMARGIN_INLINE Double4 all_of_type(double value) { return all4(value); }
WIDEMARGIN_INLINE double sum_of(Double4 v) { return (v[0] + v[1]) + (v[2] + v[3]); }
WIDEMARGIN_INLINE float sum_of(Float8 v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}
WIDEMARGIN_INLINE double largest_of(Double4 v) { return largest(v); }
WIDEMARGIN_INLINE float largest_of(Float8 v) {
    float found = v[0];
    for (int lane = 1; lane < 8; ++lane) found = v[lane] > found ? v[lane] : found;
    return found;
}
template <class Vector>
WIDEMARGIN_INLINE Vector larger(Vector a, Vector b) {
    return a > b ? a : b;
}
template <class Vector>
WIDEMARGIN_INLINE Vector lesser(Vector a, Vector b) {
    return a < b ? a : b;
}

// The number of vectors of classes, where the compiler knows it (1 to 4); 0 for any other.
template <int parts, typename Real>
WIDEMARGIN_INLINE std::int64_t stride_of(const ClassRow<Real>& row) {
    return parts > 0 ? parts * kAtOnce<Real> : row.stride;
}

// Root-finding ends after so many steps; a handful is usual.
constexpr int kMostRootSteps = 100;

// h of all classes from the scores. Returns the largest.
template <int parts, typename Real>
WIDEMARGIN_INLINE Real margin_errors(ClassRow<Real>& row) {
    constexpr std::int64_t kStep = kAtOnce<Real>;
    const std::int64_t stride = stride_of<parts>(row);
    const Real own_score = row.scores[row.own];
    auto most = all_of_type(Real(0));
    for (std::int64_t m = 0; m < stride; m += kStep) {
        const auto h = load_all(row.excess + m) + (load_all(row.scores + m) - own_score);
        store_all(row.h + m, h);
    }
    row.h[row.own] = row.each_class ? -kNoClass<Real> : Real(0);
    for (std::int64_t m = 0; m < stride; m += kStep) most = larger(most, load_all(row.h + m));
    return largest_of(most);
}

// What an example adds to the gap, and how far it is from its optimum or how safely there.
template <int parts, typename Real>
WIDEMARGIN_INLINE void measure_row(ClassRow<Real>& row) {
    constexpr std::int64_t kStep = kAtOnce<Real>;
    const std::int64_t stride = stride_of<parts>(row);
    const auto zero = all_of_type(Real(0)), huge = all_of_type(kNoClass<Real>);
    const Real most = margin_errors<parts>(row);
    auto gap = zero;
    if (row.each_class) {
        auto xi = zero, violation = zero, room = huge;
        for (std::int64_t m = 0; m < stride; m += kStep) {
            const auto h = load_all(row.h + m), u = load_all(row.u + m);
            const auto positive = larger(h, zero);
            xi += positive;
            gap += larger((row.cost - u) * h, -u * h);
            const auto rising = u < row.cost ? positive : zero, falling = u > zero ? larger(-h, zero) : zero;
            violation = larger(violation, larger(rising, falling));
            room = lesser(room, u <= zero ? -h : (u >= row.cost ? h : -huge));
        }
        row.xi = sum_of(xi);
        row.violation = largest_of(violation);
        row.room = -largest_of(-room);
    } else {
        auto least = huge, others = -huge, at_work = zero;
        for (std::int64_t m = 0; m < stride; m += kStep) {
            const auto h = load_all(row.h + m), u = load_all(row.u + m);
            gap += u * (most - h);
            least = lesser(least, u > zero ? h : huge);
            others = larger(others, u > zero ? -huge : h);
            at_work += u > zero ? all_of_type(Real(1)) : zero;
        }
        const Real lowest = -largest_of(-least);
        row.xi = most;
        row.violation = most - lowest;
        row.room = sum_of(at_work) == 1 ? lowest - largest_of(others) : -kNoClass<Real>;
    }
    row.gap = sum_of(gap);
}

// tau of Crammer-Singer, from the left, where Newton's steps never pass the root.
template <typename Real>
WIDEMARGIN_INLINE Real simplex_threshold(const Real* v, std::int64_t stride, Real cost, Real most) {
    constexpr std::int64_t kStep = kAtOnce<Real>;
    const auto zero = all_of_type(Real(0)), one = all_of_type(Real(1));
    Real tau = most - cost;
    for (int steps = 0; steps < kMostRootSteps; ++steps) {
        auto above = zero, count = zero;
        for (std::int64_t m = 0; m < stride; m += kStep) {
            const auto over = load_all(v + m) - tau;
            above += larger(over, zero);
            count += over > zero ? one : zero;
        }
        const Real next = tau + (sum_of(above) - cost) / sum_of(count);
        if (!(next > tau)) break;
        tau = next;
    }
    return tau;
}

// sigma of Weston-Watkins: Newton's step where it stays between the bounds on the root, otherwise half-way.
template <typename Real>
WIDEMARGIN_INLINE Real box_shift(const Real* v, std::int64_t stride, Real cost, Real total, Real most_total) {
    constexpr std::int64_t kStep = kAtOnce<Real>;
    const auto zero = all_of_type(Real(0)), one = all_of_type(Real(1)), upper = all_of_type(cost);
    Real low = -total, high = most_total - total, sigma = 0;
    for (int steps = 0; steps < kMostRootSteps; ++steps) {
        auto sum = zero, between = zero;
        for (std::int64_t m = 0; m < stride; m += kStep) {
            const auto over = load_all(v + m) - sigma;
            sum += lesser(larger(over, zero), upper);
            between += over > zero ? (over < upper ? one : zero) : zero;
        }
        const Real excess = sum_of(sum) - total - sigma;
        Real next = sigma + excess / (1 + sum_of(between));
        if (next == sigma) break;  // as near as rounding allows
        (excess > 0 ? low : high) = sigma;
        if (!(next > low && next < high)) next = low + (high - low) / 2;
        if (next == low || next == high) break;
        sigma = next;
    }
    return sigma;
}

// Moves u of a row that was measured; `change` is that of alpha. Returns the gain of D.
template <int parts, typename Real>
WIDEMARGIN_INLINE double move_row(ClassRow<Real>& row) {
    constexpr std::int64_t kStep = kAtOnce<Real>;
    const std::int64_t stride = stride_of<parts>(row);
    const auto zero = all_of_type(Real(0)), upper = all_of_type(row.cost);
    const Real scale = row.curvature > 0 ? row.relaxation / row.curvature : kNoClass<Real>;
    // Relative to the largest, so that a small curvature loses no digits.
    const Real reference = row.each_class ? Real(0) : row.xi;
    auto most = all_of_type(-kNoClass<Real>), total = zero;
    for (std::int64_t m = 0; m < stride; m += kStep) {
        const auto u = load_all(row.u + m), v = u + (load_all(row.h + m) - reference) * scale;
        store_all(row.change + m, v);
        most = larger(most, v);
        total += u;
    }
    const Real shift = row.each_class ? box_shift(row.change, stride, row.cost, sum_of(total), row.most)
                                      : simplex_threshold(row.change, stride, row.cost, largest_of(most));
    auto given = zero, slope = zero, squares = zero;
    for (std::int64_t m = 0; m < stride; m += kStep) {
        const auto u = load_all(row.u + m), moved = larger(load_all(row.change + m) - shift, zero);
        const auto next = lesser(moved, upper), change = u - next;
        store_all(row.u + m, next);
        store_all(row.change + m, change);
        given += change;
        slope += change * load_all(row.h + m);
        squares += change * change;
    }
    double squared = sum_of(squares);
    if (row.each_class) {
        const Real own = -sum_of(given);
        row.change[row.own] = own;
        squared += double(own) * double(own);
    }
    return -double(sum_of(slope)) - 0.5 * double(row.curvature) * squared;
}

// The places of a row's values.
struct ClassSpan {
    std::int64_t begin, end;
};

// The scores of `parts` vectors of classes from `first` on, two features at a time.
template <int parts, typename T, typename Real>
WIDEMARGIN_INLINE void score_classes(const ClassPass<T, Real>& p, std::int64_t stride, std::int64_t first,
                                     const ClassSpan& here, const ClassSpan& next) {
    constexpr std::int64_t kStep = kAtOnce<Real>;
    decltype(all_of_type(Real(0))) even[parts], odd[parts];
    const Real* const all_weights = p.w + first;
    for (int part = 0; part < parts; ++part) {
        even[part] = load_all(all_weights + p.bias_row * stride + part * kStep) * p.bias;
        odd[part] = all_of_type(Real(0));
    }
    std::int64_t ahead = next.begin;
    const auto ask = [&] {
        if (ahead >= next.end) return;
        const Real* const weights = all_weights + std::int64_t(p.indices[ahead++]) * stride;
        __builtin_prefetch(weights);
        if constexpr (parts > 1) __builtin_prefetch(weights + parts * kStep - 1);
    };
    std::int64_t k = here.begin;
    for (; k + 2 <= here.end; k += 2) {
        ask();
        ask();
        const Real* const a = all_weights + std::int64_t(p.indices[k]) * stride;
        const Real* const b = all_weights + std::int64_t(p.indices[k + 1]) * stride;
        const Real x = Real(p.values[k]), z = Real(p.values[k + 1]);
        for (int part = 0; part < parts; ++part) {
            even[part] += load_all(a + part * kStep) * x;
            odd[part] += load_all(b + part * kStep) * z;
        }
    }
    if (k < here.end) {
        const Real* const a = all_weights + std::int64_t(p.indices[k]) * stride;
        const Real x = Real(p.values[k]);
        for (int part = 0; part < parts; ++part) even[part] += load_all(a + part * kStep) * x;
    }
    for (int part = 0; part < parts; ++part)
        store_all(p.scores + first + part * kStep, even[part] + odd[part]);
}

// w += change x for `parts` vectors of classes.
template <int parts, typename T, typename Real>
WIDEMARGIN_INLINE void add_change(const ClassPass<T, Real>& p, std::int64_t stride, std::int64_t first,
                                  const ClassSpan& here) {
    constexpr std::int64_t kStep = kAtOnce<Real>;
    decltype(all_of_type(Real(0))) change[parts];
    Real* const all_weights = p.w + first;
    const auto add = [&](std::int64_t feature, Real x) {
        Real* const w = all_weights + feature * stride;
        for (int part = 0; part < parts; ++part)
            store_all(w + part * kStep, load_all(w + part * kStep) + change[part] * x);
    };
    for (int part = 0; part < parts; ++part) change[part] = load_all(p.row.change + first + part * kStep);
    for (std::int64_t k = here.begin; k < here.end; ++k) add(p.indices[k], Real(p.values[k]));
    add(p.bias_row, p.bias);
}

// All classes of a row in tiles of four vectors.
template <typename T, typename Real>
WIDEMARGIN_INLINE void score_tiles(const ClassPass<T, Real>& p, const ClassSpan& here,
                                   const ClassSpan& next) {
    constexpr std::int64_t kTile = 4 * kAtOnce<Real>;
    const std::int64_t stride = p.row.stride;
    std::int64_t first = 0;
    for (; first + kTile <= stride; first += kTile) score_classes<4>(p, stride, first, here, next);
    for (; first < stride; first += kAtOnce<Real>) score_classes<1>(p, stride, first, here, next);
}

// Only the vectors of classes that change.
template <typename T, typename Real>
WIDEMARGIN_INLINE void add_to_tiles(const ClassPass<T, Real>& p, const ClassSpan& here) {
    for (std::int64_t first = 0; first < p.row.stride; first += kAtOnce<Real>) {
        const auto change = load_all(p.row.change + first);
        if (largest_of(larger(change, -change)) > 0) add_change<1>(p, p.row.stride, first, here);
    }
}

template <int parts, typename T, typename Real>
WIDEMARGIN_INLINE void pass_over_rows(ClassPass<T, Real>& p) {
    ClassRow<Real>& row = p.row;
    const std::int64_t stride = stride_of<parts>(row);
    std::int64_t kept = 0;
    p.gain = 0;
    p.violation = 0;
    for (std::int64_t r = 0; r < p.n_rows; ++r) {
        const std::int32_t i = p.rows[r];
        if (r + 2 < p.n_rows) {
            const std::int64_t later = p.rows[r + 2];
            for (std::int64_t k = p.indptr[later]; k < p.indptr[later + 1]; k += 16) {
                __builtin_prefetch(p.indices + k);
                __builtin_prefetch(p.values + k);
            }
            __builtin_prefetch(p.u + later * stride);
        }
        const std::int64_t follower = r + 1 < p.n_rows ? p.rows[r + 1] : i;
        const ClassSpan here{p.indptr[i], p.indptr[i + 1]};
        const ClassSpan next{p.indptr[follower], p.indptr[follower + 1]};
        if constexpr (parts > 0) {
            score_classes<parts>(p, stride, 0, here, next);
        } else {
            score_tiles(p, here, next);
        }
        row.own = p.own[i];
        row.cost = p.costs[i];
        row.curvature = p.curvatures[i];
        row.scores = p.scores;
        row.u = p.u + i * stride;
        row.most = row.cost * Real(p.n_classes - 1);
        measure_row<parts>(row);
        if (row.room > p.shrink_beyond) {
            p.gaps[i] = 0;
            continue;
        }
        p.gaps[i] = row.gap;
        p.rows[kept++] = i;
        p.violation = row.violation > p.violation ? row.violation : p.violation;
        if (!(row.violation > 0)) continue;
        p.gain += move_row<parts>(row);
        if constexpr (parts > 0) {
            add_change<parts>(p, stride, 0, here);
        } else {
            add_to_tiles(p, here);
        }
    }
    p.n_rows = kept;
}

// The same loop, compiled for up to four vectors of classes, which stay in registers, and for any number.
template <typename T, typename Real>
static void pass_over_classes(ClassPass<T, Real>& p) {
    switch (p.row.stride / kAtOnce<Real>) {
        case 1:
            return pass_over_rows<1>(p);
        case 2:
            return pass_over_rows<2>(p);
        case 3:
            return pass_over_rows<3>(p);
        case 4:
            return pass_over_rows<4>(p);
        default:
            return pass_over_rows<0>(p);
    }
}

static void measure_classes(ClassRow<double>& row) { measure_row<0>(row); }
static double move_classes(ClassRow<double>& row) { return move_row<0>(row); }

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
