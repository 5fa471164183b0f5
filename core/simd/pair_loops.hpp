// The loops over all examples that kernel machines spend their time in, as vector instructions.
//
// A step of decomposition on a pair looks at every example three times: to update s (8.37), to find who
// violates the optimality conditions most, and to find the partner that promises the largest gain. Bounds are
// in the targets: rise[i] is y_i while y_i alpha_i may grow and -infinity otherwise, fall[i] is y_i while it
// may fall and +infinity otherwise, so that rise - s and fall - s (both -omega) need no conditions.
//
// Ties go to the smallest number, and no result depends on how many examples are looked at together.
#pragma once

#include <cstdint>

#include "simd/simd_choice.hpp"

namespace widemargin {

// The smallest curvature of a step: of what has none (semi-definite kernels) or less (indefinite ones).
constexpr double kSmallestCurvature = 1e-12;

// The largest of rise - s and the smallest of fall - s, and whose they are; -1 where nobody may move.
struct Extremes {
    double highest, lowest;
    std::int64_t rising, falling;
};

template <typename Real>
struct PairLoopsOf {
    // s += step_i * row_i + step_j * row_j, and the extremes of the result.
    Extremes (*update)(const Real* row_i, double step_i, const Real* row_j, double step_j, const double* rise,
                       const double* fall, std::int64_t n, double* s);
    // Who may fall and has the largest (highest - (fall - s))^2 / (own + diagonal - 2 row); -1: nobody.
    std::int64_t (*partner)(double highest, double own, const double* fall, const double* s, const Real* row,
                            const Real* diagonal, std::int64_t n);
    // sums += sum_k factors[k] * columns[k], in double precision.
    void (*add_columns)(const double* factors, const Real* const* columns, std::int64_t count, std::int64_t n,
                        double* sums);
};

struct PairLoops {
    Extremes (*extremes)(const double* rise, const double* fall, const double* s, std::int64_t n);
    PairLoopsOf<float> with_floats;
    PairLoopsOf<double> with_doubles;
    // sums += value * column
    void (*add_column)(float value, const float* column, std::int64_t n, float* sums);
    // values = gamma max(of_x + of_rows - 2 sums, 0)
    void (*rbf_exponents)(double gamma, double of_x, const double* of_rows, const double* sums,
                          std::int64_t n, float* values);
    // values = exp(-values) + offset, of values >= 0
    void (*exp_of_negative)(float offset, std::int64_t n, float* values);

    const PairLoopsOf<float>& with(const float*) const { return with_floats; }
    const PairLoopsOf<double>& with(const double*) const { return with_doubles; }
};

// simd/pair_loops_kernels.hpp is compiled once for any CPU and, on x86-64, once for AVX2 and FMA.
namespace baseline {
PairLoops pair_loops();
}
#if defined(WIDEMARGIN_AVX2)
namespace avx2 {
PairLoops pair_loops();
}
#endif

inline PairLoops pair_loops() {
#if defined(WIDEMARGIN_AVX2)
    if (use_avx2()) return avx2::pair_loops();
#endif
    return baseline::pair_loops();
}

}  // namespace widemargin
