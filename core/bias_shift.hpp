// The bias weight with the smallest duality gap, for given other weights: a convex function of one variable.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widemargin {

// The sum of slacks as a function of a shift of the bias weight: convex, with a kink where an example has
// margin
// 1. Examples that no shift up to kFurthest takes to the other side of their margin need not be added.
class SlacksOfShift {
  public:
    static constexpr double kFurthest = 0.02;  // of the scores

    void clear(double bias, bool squared_loss) {
        bias_ = squared_loss ? 0 : bias;  // the kinks are those of the hinge
        sum_ = slope_ = 0;
        kinks_.clear();
    }
    // An example with e = y f(x) - 1 and this slack.
    void add(double slack, double e, double y, double alpha, double cost) {
        sum_ += slack;
        if (bias_ == 0) return;
        slope_ += y * bias_ * (e < 0 ? alpha - cost : alpha);
        // At a kink the slope is that of e > 0, so that the kink lies on the other side.
        if (e == 0) e = std::numeric_limits<double>::min();
        if (std::abs(e) <= kFurthest) kinks_.push_back({-e * y / bias_, bias_ * cost});
    }
    // The shift with the smallest sum plus shift^2 / 2; `sum` becomes the sum there.
    double best(double& sum) {
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

  private:
    struct Kink {
        double at, rise;
    };
    double bias_ = 0, sum_ = 0, slope_ = 0;
    std::vector<Kink> kinks_;
};

}  // namespace widemargin
