// The threshold of one label during dual coordinate descent: a variable of its own, by the method of
// multipliers (Hestenes, "Multiplier and gradient methods", 1969).
//
// A bias feature of size B adds -1/2 S^2 with S = B sum_i alpha_i y_i to the dual. This term couples all
// alphas and adds B^2 to the curvature of every step: with B = 1 and documents of length 1, steps halve and
// passes double. Instead, the bias weight v is the multiplier of the constraint v = S. With 0 < theta <= 1,
//   - during a pass, v changes by theta times the change of S: a step has the curvature x_i.x_i + theta B^2;
//   - between passes, v changes by theta (S - v) or more.
// theta = 1 is coordinate descent on the dual, with v = S throughout.
//
// A pass that maximizes over the alphas exactly divides S - v by about 1 + theta B^2 K, where K says how fast
// S / B follows a change of the threshold; K is at most the sum of 1 / x_i.x_i over the alphas between their
// bounds, and less if the documents are similar. So theta may be small if there are many documents.
//
// For any v, the duality gap is P(w, v) - D(alpha) = (sum of the slacks at v) + 1/2 (S - v)^2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/label_costs.hpp"

namespace widemargin {

class ThresholdRate {
  public:
    // theta = 1
    ThresholdRate() = default;
    // For n examples whose mean of x_i.x_i + d_i is `curvature`.
    ThresholdRate(double bias, double curvature, std::int64_t n) {
        if (bias <= 0 || curvature <= 0) return;
        const double share = std::max(kSmallest, kExamples / static_cast<double>(n));
        theta_ = rate_ = std::min(1.0, share * (curvature / (bias * bias)));
    }

    double theta() const { return theta_; }

    // v for the next pass. While S - v makes up most of the gap and keeps its sign, few alphas follow v, and
    // the change doubles from pass to pass.
    double next(double v, double sum, double gap) {
        if (theta_ == 1) return sum;
        const double apart = sum - v;
        rate_ = apart * last_ > 0 && apart * apart > gap ? std::min(1.0, 2 * rate_) : theta_;
        last_ = apart;
        return v + rate_ * apart;
    }

  private:
    // theta B^2 is 3 percent of the curvature of a document, more if there are fewer than 1,000 of them: on
    // 20 Newsgroups, Reuters and Ohsumed, and samples of 100 to 1,000 of their documents, the number of
    // passes is then within 5 percent of its minimum over theta.
    static constexpr double kSmallest = 0.03, kExamples = 30;

    double theta_ = 1, rate_ = 1, last_ = 0;
};

// A dual-feasible step after which S = v, so that weights, threshold and gap are those of the alphas: moves
// up to 64 alphas between their bounds by a little each. (Setting v to S would change the scores of all
// examples.) If the alphas have no room, v changes. Returns S. w: the weights of the features, then v. rows:
// linear/label_rows.hpp.
template <class Rows>
double balance_threshold(const Rows& rows, std::int64_t n, const LabelCosts& problem, double bias, double sum,
                         std::vector<double>& alpha, std::vector<double>& w) {
    constexpr std::size_t kMost = 64;
    double& v = w.back();
    if (sum == v) return sum;
    std::vector<std::int32_t> free;
    for (std::int64_t i = 0; i < n; ++i) {
        if (alpha[i] > 0 && alpha[i] < problem.upper(i)) free.push_back(static_cast<std::int32_t>(i));
    }
    double missing = (v - sum) / bias;
    const std::size_t count = std::min(free.size(), kMost);
    for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t i = free[k * free.size() / count];
        const double y = problem.sign(i), before = alpha[i];
        const double step = missing / static_cast<double>(count - k);
        alpha[i] = std::min(std::max(before + y * step, 0.0), problem.upper(i));
        rows.add(i, y * (alpha[i] - before), w.data());
        missing -= y * (alpha[i] - before);
    }
    v = 0;
    for (std::int64_t i = 0; i < n; ++i) v += bias * problem.sign(i) * alpha[i];
    return v;
}

}  // namespace widemargin
