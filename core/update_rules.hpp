// What a mistake does to the weight of one active feature: the update rules of mistake_driven.hpp.
//
// A rule works on one block of labels (label_blocks.hpp). `at` is the place row * width + lane; `up` says
// that a positive example was missed (promotion), otherwise a negative one was taken (demotion); x is the
// strength of the feature. `scale(lane)` is what stored weights are multiplied by in the rule.
//
//   additive         w += rate * x * y          Perceptron as Zhang has it (section 2.1), or
//                    w += rate * y              as Dagan, Karov, Roth have it (section 3), whatever the
//                    strength
//   positive Winnow  w *= promotion or demotion
//   balanced Winnow  plus and minus are multiplied by the one and the other, w = plus - minus
//   Winnow           v += rate * x * y in log form (log_weights.hpp)
//
// A weight beyond kLargestWeight throws std::overflow_error with the number of the label. A factor that
// has fallen below kSmallestFactor stays there, from where promotions can still bring it back.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "log_weights.hpp"

namespace widemargin {

constexpr double kLargestWeight = 1e250;
constexpr double kSmallestFactor = 1e-250;

[[noreturn]] WIDEMARGIN_RARE inline void refuse_weight(std::int64_t label) {
    throw std::overflow_error(std::to_string(label));
}

inline double bounded(double w, const LabelRange& range, int lane) {
    if (!(std::fabs(w) < kLargestWeight)) refuse_weight(range.first + lane);
    return w;
}

struct AdditiveRule {
    double rate;
    bool by_strength;
    LabelRange range;
    Cells<double>& w;

    double scale(int) const { return 1.0; }
    void prefetch(std::int64_t, int) const {}  // weights are there, since the row was scored
    void update(std::int64_t row, int lane, bool up, double x) {
        const double step = by_strength ? rate * x : rate;
        double& weight = w(row, lane);
        weight = bounded(up ? weight + step : weight - step, range, lane);
    }
    void set(std::int64_t row, int lane, double weight, double, double) { w(row, lane) = weight; }
};

struct PositiveWinnowRule {
    double promotion, demotion;
    LabelRange range;
    Cells<double>& w;

    double scale(int) const { return 1.0; }
    void prefetch(std::int64_t, int) const {}  // weights are there, since the row was scored
    void update(std::int64_t row, int lane, bool up, double) {
        double& weight = w(row, lane);
        weight = bounded(std::max(weight * (up ? promotion : demotion), kSmallestFactor), range, lane);
    }
    void set(std::int64_t row, int lane, double weight, double, double) { w(row, lane) = weight; }
};

struct BalancedWinnowRule {
    double promotion, demotion;
    LabelRange range;
    Cells<double>&w, &plus, &minus;

    double scale(int) const { return 1.0; }
    void prefetch(std::int64_t row, int lane) const {
        widemargin::prefetch(&plus(row, lane));
        widemargin::prefetch(&minus(row, lane));
    }
    void update(std::int64_t row, int lane, bool up, double) {
        double &a = plus(row, lane), &b = minus(row, lane);
        a = bounded(std::max(a * (up ? promotion : demotion), kSmallestFactor), range, lane);
        b = bounded(std::max(b * (up ? demotion : promotion), kSmallestFactor), range, lane);
        w(row, lane) = a - b;
    }
    void set(std::int64_t row, int lane, double weight, double up, double down) {
        w(row, lane) = weight;
        plus(row, lane) = up;
        minus(row, lane) = down;
    }
};

struct LogWinnowRule {
    double rate;
    LogWeights weights;

    double scale(int lane) const { return weights.scale(lane); }
    void prefetch(std::int64_t row, int lane) const { weights.prefetch(row, lane); }
    void update(std::int64_t row, int lane, bool up, double x) {
        // Exactly: weights that come back to 0 are 0, and ties at the threshold stay ties.
        weights.add(row, lane, LogStep(up ? rate * x : -rate * x, true));
    }
    void set(std::int64_t, int, double, double, double) {}  // all features are linked, none is discarded
};

}  // namespace widemargin
