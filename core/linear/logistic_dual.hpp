// The dual problem of one label of a logistic regression, and the step of one example. How it is solved
// stands in linear/logistic.hpp, which also explains the letters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "linear/label_costs.hpp"

namespace widemargin {

struct LogisticOptions {
    double bias;  // size of the bias feature, 0 for none
    double tol;   // of the duality gap, relative to the objective
    std::int64_t max_passes;
    std::uint64_t seed;
};

// All arrays belong to the caller; n examples, L labels, d features.
struct LogisticResults {
    double* coef;       // d x L: the order in which documents are scored
    double* intercept;  // L
    double* alpha;      // L x n
    double* xi;         // L x n: what the margins lack to 1
    double* objective;  // L
    double* gap;        // L
    std::int64_t* passes;
    std::uint8_t* converged;
    std::int64_t* labels_done;  // progress, one element, read by another thread
};

struct LogisticTask : LinearProblem, LogisticResults {};

// The u of an alpha of 0: its sigma(-u) is 0 next to any other number, also in single precision.
constexpr double kNoAlpha = 80;

// sigma(-t) = 1 / (1 + exp(t)), without overflow
inline double sigmoid_of_negative(double t) {
    const double small = std::exp(-std::abs(t));
    return t > 0 ? small / (1 + small) : 1 / (1 + small);
}

// log(1 + exp(-t)), without overflow
inline double logistic_loss(double t) { return std::max(-t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

// The u of a share alpha / C between 0 and 1
inline double margin_of_share(double share) {
    if (!(share > 0)) return kNoAlpha;
    const double most = 1 - 1e-12;
    return std::min(std::log1p(-std::min(share, most)) - std::log(std::min(share, most)), kNoAlpha);
}

// An example's share of the duality gap divided by C: loss(m) - loss(u) + sigma(-u) (m - u), what the loss at
// m is above its tangent at u.
inline double logistic_slack(double m, double loss_of_m, double u) {
    const double small = std::exp(-std::abs(u)), apart = m - u;
    const double p = (u > 0 ? small : 1.0) / (1 + small);
    if (std::abs(apart) < 1e-4) return 0.5 * p * (1 - p) * apart * apart;  // without cancellation
    return std::max(loss_of_m - (std::max(-u, 0.0) + std::log1p(small)) + p * apart, 0.0);
}

// The u after the step of one example: the t between u and m with t = m + scale (sigma(-t) - sigma(-u)),
// where scale = C q. The difference of both sides increases with t, and is convex below 0 and concave above:
// from the end where Newton's steps cannot leave the interval, or from 0, they approach t from one side.
inline double logistic_step(double m, double u, double p, double scale) {
    constexpr int kMostSteps = 50;
    constexpr double kEnough = 1e-14;
    const double offset = m - scale * p, low = std::min(u, m), high = std::max(u, m);
    double t = offset + 0.5 * scale > 0 ? std::max(low, 0.0) : std::min(high, 0.0);
    for (int step = 0; step < kMostSteps; ++step) {
        const double s = sigmoid_of_negative(t);
        const double next = t - (t - offset - scale * s) / (1 + scale * s * (1 - s));
        const double change = std::min(std::max(next, low), high) - t;
        t += change;
        if (!(std::abs(change) > kEnough * (1 + std::abs(t)))) break;
    }
    return t;
}

}  // namespace widemargin
