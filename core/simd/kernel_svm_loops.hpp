// The loops over all examples in which kernel machines spend most of their time.
//
// A decomposition step on a pair visits every example three times: to update s (8.37), to find the most
// violating example, and to find the partner with the largest gain. The targets encode the bounds: rise[i] is
// y_i if y_i alpha_i may increase and -infinity otherwise; fall[i] is y_i if it may decrease and +infinity
// otherwise. So rise - s and fall - s (both -omega) need no conditions.
//
// The best example is found in two steps: the best value of each block of examples, then its position in the
// first block that has it.
#pragma once
#include "simd/vectors.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

constexpr std::int64_t kBlock = 256;
constexpr double kInfinity = __builtin_inf();

WIDEMARGIN_INLINE std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// The first position where target - s is `value`.
WIDEMARGIN_INLINE std::int64_t place_of(double value, const double* target, const double* s,
                                        std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
        if (target[i] - s[i] == value) return i;
    }
    return -1;
}

template <class Change>
WIDEMARGIN_INLINE Extremes changed_extremes(const double* rise, const double* fall, std::int64_t n,
                                            const double* s, Change&& change) {
    double highest = -kInfinity, lowest = kInfinity;
    std::int64_t highest_block = -1, lowest_block = -1;
    for (std::int64_t begin = 0; begin < n; begin += kBlock) {
        const std::int64_t end = smaller(begin + kBlock, n);
        Double4 high = all4(-kInfinity), low = all4(kInfinity);
        std::int64_t i = begin;
        for (; i + 4 <= end; i += 4) {
            const Double4 values = change.four(i);
            high = max4(high, load4(rise + i) - values);
            low = min4(low, load4(fall + i) - values);
        }
        double block_high = largest(high), block_low = smallest(low);
        for (; i < end; ++i) {
            const double value = change.one(i);
            if (rise[i] - value > block_high) block_high = rise[i] - value;
            if (fall[i] - value < block_low) block_low = fall[i] - value;
        }
        if (block_high > highest) highest = block_high, highest_block = begin;
        if (block_low < lowest) lowest = block_low, lowest_block = begin;
    }
    Extremes result{highest, lowest, -1, -1};
    if (highest_block >= 0)
        result.rising = place_of(highest, rise, s, highest_block, smaller(highest_block + kBlock, n));
    if (lowest_block >= 0)
        result.falling = place_of(lowest, fall, s, lowest_block, smaller(lowest_block + kBlock, n));
    return result;
}

struct Unchanged {
    const double* s;
    inline __attribute__((always_inline)) Double4 four(std::int64_t i) const { return load4(s + i); }
    inline __attribute__((always_inline)) double one(std::int64_t i) const { return s[i]; }
};

template <typename Real>
struct TwoRows {
    const Real *row_i, *row_j;
    double step_i, step_j;
    double* s;
    inline __attribute__((always_inline)) Double4 four(std::int64_t i) const {
        const Double4 values = load4(s + i) + step_i * load4(row_i + i) + step_j * load4(row_j + i);
        store4(s + i, values);
        return values;
    }
    inline __attribute__((always_inline)) double one(std::int64_t i) const {
        return s[i] += step_i * double(row_i[i]) + step_j * double(row_j[i]);
    }
};

static Extremes extremes(const double* rise, const double* fall, const double* s, std::int64_t n) {
    return changed_extremes(rise, fall, n, s, Unchanged{s});
}

template <typename Real>
Extremes update(const Real* row_i, double step_i, const Real* row_j, double step_j, const double* rise,
                const double* fall, std::int64_t n, double* s) {
    return changed_extremes(rise, fall, n, s, TwoRows<Real>{row_i, row_j, step_i, step_j, s});
}

// As many numbers as a vector of 32 bytes holds.
WIDEMARGIN_INLINE Float8 load_all(const float* from) { return load8(from); }
WIDEMARGIN_INLINE Double4 load_all(const double* from) { return load4(from); }
WIDEMARGIN_INLINE void store_all(float* to, Float8 v) { store8(to, v); }
WIDEMARGIN_INLINE void store_all(double* to, Double4 v) { store4(to, v); }
template <typename Real>
constexpr std::int64_t kAtOnce = 32 / sizeof(Real);

// highest - (fall - s), rounded to the type of the last argument.
WIDEMARGIN_INLINE Double4 differences(double highest, const double* fall, const double* s, double) {
    return highest - (load4(fall) - load4(s));
}
WIDEMARGIN_INLINE Float8 differences(double highest, const double* fall, const double* s, float) {
    return joined(__builtin_convertvector(differences(highest, fall, s, 0.0), Float4),
                  __builtin_convertvector(differences(highest, fall + 4, s + 4, 0.0), Float4));
}

// The gain that every partner promises; 0 for those that may not fall or would gain nothing.
template <typename Real>
WIDEMARGIN_INLINE void promises(double highest, Real own, const double* fall, const double* s,
                                const Real* row, const Real* diagonal, Real* gains, std::int64_t n) {
    constexpr Real least = static_cast<Real>(kSmallestCurvature);
    std::int64_t i = 0;
    for (; i + kAtOnce<Real> <= n; i += kAtOnce<Real>) {
        const auto difference = differences(highest, fall + i, s + i, Real(0));
        auto curvature = own + load_all(diagonal + i) - 2 * load_all(row + i);
        const decltype(curvature) nothing = {};
        curvature = curvature > least ? curvature : nothing + least;
        store_all(gains + i, difference > 0 ? difference * difference / curvature : nothing);
    }
    for (; i < n; ++i) {
        const Real difference = static_cast<Real>(highest - (fall[i] - s[i]));
        const Real curvature = own + diagonal[i] - 2 * row[i];
        gains[i] = difference > 0 ? difference * difference / (curvature > least ? curvature : least) : 0;
    }
}

template <typename Real>
WIDEMARGIN_INLINE Real largest_of(const Real* values, std::int64_t n) {
    decltype(load_all(values)) best = {};
    std::int64_t i = 0;
    for (; i + kAtOnce<Real> <= n; i += kAtOnce<Real>) {
        const auto some = load_all(values + i);
        best = some > best ? some : best;
    }
    Real result = 0;
    for (int lane = 0; lane < kAtOnce<Real>; ++lane) result = best[lane] > result ? best[lane] : result;
    for (; i < n; ++i) result = values[i] > result ? values[i] : result;
    return result;
}

template <typename Real>
std::int64_t partner(double highest, double own, const double* fall, const double* s, const Real* row,
                     const Real* diagonal, std::int64_t n) {
    Real gains[kBlock], best = 0;
    std::int64_t result = -1;
    for (std::int64_t begin = 0; begin < n; begin += kBlock) {
        const std::int64_t size = smaller(kBlock, n - begin);
        promises(highest, static_cast<Real>(own), fall + begin, s + begin, row + begin, diagonal + begin,
                 gains, size);
        const Real block_best = largest_of(gains, size);
        if (!(block_best > best)) continue;
        best = block_best;
        for (std::int64_t i = 0; i < size; ++i) {
            if (gains[i] == best) {
                result = begin + i;
                break;
            }
        }
    }
    return result;
}

static void add_column(float value, const float* column, std::int64_t n, float* sums) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) store8(sums + i, load8(sums + i) + value * load8(column + i));
    for (; i < n; ++i) sums[i] += value * column[i];
}

// Sums stay in registers while all columns are added to them.
template <typename Real>
void add_columns(const double* factors, const Real* const* columns, std::int64_t count, std::int64_t n,
                 double* sums) {
    std::int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        Double4 a = load4(sums + i), b = load4(sums + i + 4), c = load4(sums + i + 8),
                d = load4(sums + i + 12);
        for (std::int64_t k = 0; k < count; ++k) {
            const double factor = factors[k];
            const Real* const column = columns[k] + i;
            a += factor * load4(column);
            b += factor * load4(column + 4);
            c += factor * load4(column + 8);
            d += factor * load4(column + 12);
        }
        store4(sums + i, a);
        store4(sums + i + 4, b);
        store4(sums + i + 8, c);
        store4(sums + i + 12, d);
    }
    for (; i < n; ++i) {
        for (std::int64_t k = 0; k < count; ++k) sums[i] += factors[k] * double(columns[k][i]);
    }
}

// exp(x) for x <= 0, to one or two units in the last place: 2^n times a polynomial (Cephes, expf) on half an
// octave around 0.
WIDEMARGIN_INLINE Float8 exp_of_negative(Float8 x) {
    const Float8 least = Float8{} - 87.0f;
    x = x > least ? x : least;
    const Float8 n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;  // rounds to an integer
    const Float8 r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    Float8 p = Float8{} + 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    const Int8 bits = (__builtin_convertvector(n, Int8) + 127) << 23;
    return p * reinterpret_cast<Float8>(bits);
}

static void rbf_exponents(double gamma, double of_x, const double* of_rows, const double* sums,
                          std::int64_t n, float* values) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const Double4 distance = of_x + load4(of_rows + i) - 2.0 * load4(sums + i);
        const Float4 exponent = __builtin_convertvector(gamma * max4(distance, Double4{}), Float4);
        *reinterpret_cast<MemoryFloat4*>(values + i) = exponent;
    }
    for (; i < n; ++i) {
        const double distance = of_x + of_rows[i] - 2 * sums[i];
        values[i] = static_cast<float>(gamma * (distance > 0 ? distance : 0.0));
    }
}

static void exp_of_negative(float offset, std::int64_t n, float* values) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) store8(values + i, exp_of_negative(-load8(values + i)) + offset);
    if (i == n) return;
    float rest[8] = {};
    for (std::int64_t k = i; k < n; ++k) rest[k - i] = values[k];
    store8(rest, exp_of_negative(-load8(rest)) + offset);
    for (std::int64_t k = i; k < n; ++k) values[k] = rest[k - i];
}

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
