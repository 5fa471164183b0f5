// Pessimistic pruning (Quinlan, C4.5, 1993, chapter 4).
//
// A leaf that has errors of weight e among examples of weight n is expected to err on n U(e, n) of n new
// ones, where U(e, n) is the upper confidence limit of the binomial distribution: the p for which e or fewer
// errors of n have the probability `confidence`. Bottom up, a subtree becomes a leaf if that is expected to
// err at most 0.1 more often, as in release 8.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "trees/tree.hpp"

namespace widemargin {

// How many more expected errors a smaller tree may have.
constexpr double kTolerance = 0.1;

// The regularized incomplete beta function I_x(a, b) by its continued fraction (Lentz's method).
inline double incomplete_beta(double x, double a, double b) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2))
        return 1 - incomplete_beta(1 - x, b, a);  // where the fraction converges fast
    const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) +
                                  b * std::log1p(-x)) /
                         a;
    constexpr double kTiny = 1e-300, kPrecision = 1e-14;
    double c = 1, d = 0, fraction = 1;
    for (int i = 0; i < 1000; ++i) {
        const int m = i / 2;
        const double term = i == 0       ? 1
                            : i % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                         : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + term * d;
        d = 1 / (std::abs(d) < kTiny ? kTiny : d);
        c = 1 + term / c;
        if (std::abs(c) < kTiny) c = kTiny;
        fraction *= c * d;
        if (std::abs(1 - c * d) < kPrecision) break;
    }
    return front * (fraction - 1);
}

// U(errors, n): the p with sum over k <= errors of (n over k) p^k (1-p)^(n-k) = confidence. Weights need not
// be whole.
inline double upper_error_rate(double errors, double n, double confidence) {
    if (errors >= n) return 1;
    if (errors <= 0) return 1 - std::pow(confidence, 1 / n);
    // The sum is 1 - I_p(errors + 1, n - errors), which falls with p.
    double low = errors / n, high = 1;
    for (int i = 0; i < 60 && high - low > 1e-12; ++i) {
        const double p = (low + high) / 2;
        (1 - incomplete_beta(p, errors + 1, n - errors) > confidence ? low : high) = p;
    }
    return (low + high) / 2;
}

// Whether U(errors, n) <= rate, which takes no search.
inline bool is_rate_up_to(double rate, double errors, double n, double confidence) {
    if (errors >= n || rate >= 1) return rate >= 1;
    return 1 - incomplete_beta(rate, errors + 1, n - errors) <= confidence;
}

inline double errors_of(const Mass& mass) { return std::min(mass.positive, mass.n - mass.positive); }

// The weight of the errors that a leaf is expected to make.
inline double expected_errors(const Mass& mass, double confidence) {
    return mass.n * upper_error_rate(errors_of(mass), mass.n, confidence);
}

// Turns subtrees that do not pay into leaves. in_preorder drops what they leave behind.
inline void prune(Tree& tree, double confidence) {
    std::vector<double> expected(tree.size());
    for (std::int32_t node = tree.size() - 1; node >= 0; --node) {  // children come after their parents
        expected[node] = expected_errors(tree.mass[node], confidence);
        if (tree.is_leaf(node)) continue;
        const double below = expected[tree.left[node]] + expected[tree.right[node]];
        if (expected[node] <= below + kTolerance) {
            tree.make_leaf(node);
        } else {
            expected[node] = below;
        }
    }
}

}  // namespace widemargin
