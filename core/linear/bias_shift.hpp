// The bias weight with the smallest duality gap, for given other weights: a convex function of one variable.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rounding.hpp"

namespace widemargin {

// The sum of slacks as a function of a shift of the bias weight: convex, with a kink where an example has
// margin 1. Examples that no shift up to kFurthest takes to the other side of their margin need not be added.
//
// Rounding. A slack changes with e by at most its slope: alpha or cost - alpha, or the larger of them where a
// shift can cross the kink. The sum along the way from kink to kink is that of slacks and of slopes times
// shifts, whose sizes are added up in `size_`; there are at most three operations on each.
class SlacksOfShift {
  public:
    static constexpr double kFurthest = 0.02;  // of the scores

    void clear(double bias, bool squared_loss) {
        bias_ = squared_loss ? 0 : bias;  // the kinks are those of the hinge
        sum_ = slope_ = uncertain_ = size_ = 0;
        count_ = 0;
        kinks_.clear();
    }
    // An example with e = y f(x) - 1 up to `error`; its slack, and the largest within that error.
    void add(double slack, double largest_slack, double e, double error, double y, double alpha,
             double cost) {
        ++count_;
        if (bias_ == 0) {
            sum_ += largest_slack;
            uncertain_ += largest_slack - slack;
            size_ += largest_slack;
            return;
        }
        const double steepest = std::max(alpha, cost - alpha);
        const bool near = std::abs(e) <= kFurthest + 2 * error;
        sum_ += slack;
        uncertain_ += error * (near ? steepest : (e > 0 ? alpha : cost - alpha));
        size_ += slack + steepest * kFurthest;
        slope_ += y * bias_ * (e < 0 ? alpha - cost : alpha);
        // At a kink the slope is that of e > 0, so that the kink lies on the other side.
        if (e == 0) e = std::numeric_limits<double>::min();
        if (std::abs(e) <= kFurthest) kinks_.push_back({-e * y / bias_, bias_ * cost});
    }
    // The shift with the smallest sum plus shift^2 / 2; `sum` becomes no less than the sum there.
    double best(double& sum) {
        const double shift = find(sum);
        sum = std::max(sum, 0.0) + (bias_ == 0 ? 0.0 : uncertain_) + lost();
        return shift;
    }
    // The part of `sum` that no better solution makes smaller.
    double rounding() const { return uncertain_ + lost(); }

  private:
    struct Kink {
        double at, rise;
    };

    double lost() const { return rounding_of(3 * static_cast<double>(count_) + 16) * size_; }

    double find(double& sum) const {
        sum = sum_;
        if (bias_ == 0 || slope_ == 0) return 0;
        const double way = slope_ < 0 ? 1 : -1, last = kFurthest / bias_;
        std::vector<Kink> ahead;
        for (const Kink& kink : kinks_) {
            if (kink.at * way > 0) ahead.push_back({kink.at * way, kink.rise});
        }
        const auto further = [](const Kink& a, const Kink& b) { return a.at > b.at; };
        std::make_heap(ahead.begin(), ahead.end(), further);
        double slope = -std::abs(slope_), at = 0;
        while (true) {
            const double end = ahead.empty() ? last : std::min(ahead.front().at, last);
            if (slope + end >= 0 || end >= last) {
                const double stop = std::max(std::min(-slope, end), at);
                sum += slope * (stop - at);
                return way * stop;
            }
            sum += slope * (end - at);
            at = end;
            slope += ahead.front().rise;
            if (slope + at >= 0) return way * at;
            std::pop_heap(ahead.begin(), ahead.end(), further);
            ahead.pop_back();
        }
    }

    double bias_ = 0, sum_ = 0, slope_ = 0, uncertain_ = 0, size_ = 0;
    std::int64_t count_ = 0;
    std::vector<Kink> kinks_;
};

}  // namespace widemargin
