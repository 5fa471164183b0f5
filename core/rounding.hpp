// How much rounding errors can add to a bound. Every leave-one-out certificate is computed with the functions
// in this file. A certificate holds for the exact solution of the problem as given; where none can be given,
// the accuracy is infinite.
//
// Model. u is the unit roundoff. Each operation has a relative error of at most u; a sum of n products, in
// any order and with or without fused operations, is off by at most gamma_n = n u / (1 - n u) times the sum
// of their sizes (Higham, Accuracy and Stability of Numerical Algorithms, 2002, 3.1). exp, pow and tanh of
// the C library are trusted to be within 4 u. Underflow in double precision is not counted: it adds less than
// 1e-300 for each operation.
//
// A linear machine scores with a computed weight vector w, which need not be the exact combination of its
// alphas: any w is a point of the primal problem, and the duality gap of (w, alpha) is the sum of the slacks
// at w plus half the squared distance of w from that combination. So only these two count:
//   the score w.x_i of a row of m values                                gamma_m |w| |x_i|               (R1)
//   w, of p rows, from the combination: with W = sum_j alpha_j |x_j|    gamma_(p + 1) W                 (R2)
// P is strongly convex in w and -D in the w of its alphas: if the gap is g and the distance rho, the exact
// rule is within sqrt(g) + rho / 2 of w, and within sqrt(g - rho^2 / 4) of the middle between w and the
// combination.
//
// A kernel machine keeps s_i = sum_j alpha_j y_j K(x_i, x_j). With r_i = sqrt(K(x_i, x_i)), |K(x_i, x_j)| <=
// r_i r_j and W = sum_j alpha_j r_j, it is at most W r_i, and the errors of s_i are
//   of kernel values that are off by at most eps r_i r_j                eps W r_i                       (R3)
//   of a step on q rows, if s was at most W r_i before and after        (q + 1) u W r_i
//                                                 + gamma_(q + m + 4) (sum of the steps' |.| r_j) r_i   (R4)
//
// Slacks. An example's share of the duality gap is convex in its score, so that its largest value over an
// interval of scores is at one of the ends.
//
// Kernel values, with m the largest number of values in a row, R2 = max |x|^2 and T the largest sum of a row:
//   linear      x.z, by Cauchy and Schwarz                              eps = gamma_(m + 2)             (R5)
//   polynomial  the base is off by gamma_(m + 3) of (gamma |x| |z| + coef0) <= r_i^(1/d) r_j^(1/d), which a
//               power d multiplies by d:                                eps = gamma_(d (m + 4) + 8)
//   RBF         |x|^2 + |z|^2 - 2 x.z is off by 4 gamma_(m + 4) R2; where gamma times that is more than
//   1e-11,
//               the sum of (x_k - z_k)^2 is taken, whose relative error is an absolute one of the value:
//                                          eps = min(exp(4 gamma gamma_(m + 4) R2) - 1, 1.1e-11)
//                                                + gamma_(2 m + 16)
//   chi-square  2 (sum x + sum z - shared) is off by t = 8 gamma_(m + 8) T, its power p <= 1 by t^p;
//   likewise:
//                                          eps = min(exp(gamma t^p) - 1, 1.1e-11) + gamma_(2 m + 24)
// A constant that is added to all values (the square of a bias feature) adds 2 u to eps.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace widemargin {

constexpr double kUnit = 0x1p-53, kSingleUnit = 0x1p-24;

// gamma_n; infinite if n roundings can lose every digit.
inline double rounding_of(double n, double unit = kUnit) {
    const double lost = n * unit;
    return lost < 0.25 ? lost / (1 - lost) * (1 + 4 * kUnit) : std::numeric_limits<double>::infinity();
}

// Rounds up by more than a few thousand operations on numbers of one sign can lose.
inline double rounded_up(double value) { return value * (1 + 0x1p-40); }

// At least the square root of a computed sum of m squares.
inline double length_of(double squares, std::int64_t m) {
    return rounded_up(std::sqrt(squares) * (1 + rounding_of(static_cast<double>(m) + 4)));
}

// Below this, errors of a sum in single precision are absolute, not relative.
constexpr double kSingleUnderflow = 0x1p-149;

// (R1) for a product of m values in single precision with weights rounded to single precision.
inline double single_product_error(std::int64_t m, double weights, double length) {
    const double n = static_cast<double>(m);
    return rounded_up(rounding_of(n + 8, kSingleUnit) * weights * length +
                      (n + 4) * kSingleUnderflow * (1 + weights + length));
}

// Bound on the drift of the stored scores s_i, relative to r_i (R4). `values`: the largest number of values
// in a row.
struct ScoreDrift {
    double values, weight, error;  // weight: an upper bound on W over time

    void from_scratch(std::int64_t rows) {
        error += rounded_up(rounding_of(static_cast<double>(rows) + values + 4) * weight);
    }
    void step(std::int64_t rows, double size) {
        weight = rounded_up(weight + size);
        const double q = static_cast<double>(rows);
        error += rounded_up((q + 1) * kUnit * (weight + error) + rounding_of(q + values + 4) * size);
    }
};

// An interval that contains a score: its middle and its half-width.
struct ScoreInterval {
    double low, high;

    double middle() const { return 0.5 * (low + high); }
    double half() const {
        const double m = middle(), wide = std::fmax(high - m, m - low);
        return std::isfinite(m) && std::isfinite(wide) ? rounded_up(wide)
                                                       : std::numeric_limits<double>::infinity();
    }
};

}  // namespace widemargin
