// How a mistake changes the weight of one active feature: the update rules of online/mistake_driven.hpp.
//
// A rule works on one block of labels (online/state_blocks.hpp). `up` is true after a false negative
// (promotion) and false after a false positive (demotion); x is the document, or one feature of it.
// `scale(lane)` is the factor from stored weights to the weights of the model.
//
//   additive         w += rate * x * y          Perceptron as Zhang has it (section 2.1), or
//                    w += rate * y              as Dagan, Karov, Roth have it (section 3), whatever the
//                    strength
//   positive Winnow  w *= promotion or demotion
//   balanced Winnow  plus and minus are multiplied by the one and the other, w = plus - minus
//   Winnow           v += rate * x * y in log form (online/log_weights.hpp)
//   complements      positive Winnow over x_j and 1 - x_j, binary: see ComplementWinnowRule
//
// `offset(lane)` is what every score contains besides w.x.
//
// A weight beyond kLargestWeight throws std::overflow_error with the number of the label. A factor never
// falls below kSmallestFactor, from where promotions can still raise it.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "online/log_weights.hpp"

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

// A document with a single feature.
inline Row<double> lone_feature(const std::int32_t& place, const double& x) { return {&place, &x, 1}; }

// The two parts of a weight of balanced Winnow, side by side since every update needs both.
struct BalancedParts {
    double plus, minus;
};

struct AdditiveRule {
    double rate;
    bool by_strength;
    LabelRange range;
    Cells<double>& w;

    double scale(int) const { return 1.0; }
    double offset(int) const { return 0.0; }
    template <typename T>
    void update(const Row<T>& x, int lane, bool up) {
        const double step = up ? rate : -rate;
        const LaneOf<double> weights(w, lane);
        for (std::int64_t k = 0; k < x.size; ++k) {
            if (x.values[k] == 0) continue;
            double& weight = weights[x.indices[k]];
            weight = bounded(weight + (by_strength ? step * double(x.values[k]) : step), range, lane);
        }
    }
    void set(std::int64_t place, int lane, double weight, BalancedParts) { w(place, lane) = weight; }
};

struct PositiveWinnowRule {
    double promotion, demotion;
    LabelRange range;
    Cells<double>& w;

    double scale(int) const { return 1.0; }
    double offset(int) const { return 0.0; }
    template <typename T>
    void update(const Row<T>& x, int lane, bool up) {
        const double factor = up ? promotion : demotion;
        const LaneOf<double> weights(w, lane);
        for (std::int64_t k = 0; k < x.size; ++k) {
            if (x.values[k] == 0) continue;
            double& weight = weights[x.indices[k]];
            weight = bounded(std::max(weight * factor, kSmallestFactor), range, lane);
        }
    }
    void set(std::int64_t place, int lane, double weight, BalancedParts) { w(place, lane) = weight; }
};

struct BalancedWinnowRule {
    double promotion, demotion;
    LabelRange range;
    Cells<double>& w;
    Cells<BalancedParts>& parts;

    double scale(int) const { return 1.0; }
    double offset(int) const { return 0.0; }
    template <typename T>
    void update(const Row<T>& x, int lane, bool up) {
        const double of_plus = up ? promotion : demotion, of_minus = up ? demotion : promotion;
        const LaneOf<double> weights(w, lane);
        const LaneOf<BalancedParts> both(parts, lane);
        // All loads of a piece come before its stores: unlike the weights, which were just read for the
        // score, the parts are not in the cache, and many loads can be in flight at once.
        constexpr std::int64_t kMany = 256;
        BalancedParts part[kMany];
        for (std::int64_t first = 0; first < x.size; first += kMany) {
            const std::int64_t n = std::min(kMany, x.size - first);
            const std::int32_t* const places = x.indices + first;
            for (std::int64_t k = 0; k < n; ++k) part[k] = both[places[k]];
            double largest = 0;
            for (std::int64_t k = 0; k < n; ++k) {
                part[k].plus = std::max(part[k].plus * of_plus, kSmallestFactor);
                part[k].minus = std::max(part[k].minus * of_minus, kSmallestFactor);
                largest = std::max(largest, std::max(part[k].plus, part[k].minus));
            }
            bounded(largest, range, lane);
            for (std::int64_t k = 0; k < n; ++k) {
                if (x.values[first + k] == 0) continue;
                both[places[k]] = part[k];
                weights[places[k]] = part[k].plus - part[k].minus;
            }
        }
    }
    void set(std::int64_t place, int lane, double weight, BalancedParts part) {
        w(place, lane) = weight;
        parts(place, lane) = part;
    }
};

// Littlestone's Winnow with negative weights by twice as many features (dagan 3): x_j and its complement
// 1 - x_j, in {0, 1}, have the positive weights plus_j and minus_j. Exactly one of the two is active, so that
// every mistake multiplies one weight of each feature. With w_j = plus_j - minus_j, the score
//
//   sum_j plus_j x_j + minus_j (1 - x_j) = w.x + M,    M = sum_j minus_j,
//
// is linear in x. The block must hold all features. `unseen` is the minus of a feature that no document has
// had yet, for features that come later.
struct ComplementWinnowRule {
    double promotion, demotion;
    LabelRange range;
    Cells<double>& w;
    Cells<BalancedParts>& parts;
    double sum[kLanes], unseen[kLanes];

    double scale(int) const { return 1.0; }
    double offset(int lane) const { return sum[lane]; }
    template <typename T>
    void update(const Row<T>& x, int lane, bool up) {
        const double factor = up ? promotion : demotion;
        const LaneOf<double> weights(w, lane);
        const LaneOf<BalancedParts> both(parts, lane);
        const std::int64_t n = w.n_rows();
        double M = 0;
        std::int64_t k = 0, active = next_active(x, k);
        for (std::int64_t row = 0; row < n; ++row) {
            BalancedParts& part = both[row];
            double& one = row == active ? part.plus : part.minus;
            one = bounded(std::max(one * factor, kSmallestFactor), range, lane);
            if (row == active) active = next_active(x, k);
            weights[row] = part.plus - part.minus;
            M += part.minus;
        }
        sum[lane] = bounded(M, range, lane);
        unseen[lane] = bounded(std::max(unseen[lane] * factor, kSmallestFactor), range, lane);
    }
    void set(std::int64_t, int, double, BalancedParts) {}  // all features are linked, none is discarded

  private:
    // The position of the next feature of x that is not 0, -1 after the last one.
    template <typename T>
    static std::int64_t next_active(const Row<T>& x, std::int64_t& k) {
        while (k < x.size && x.values[k] == 0) ++k;
        return k < x.size ? x.indices[k++] : -1;
    }
};

struct LogWinnowRule {
    double rate;
    LogWeights weights;

    double scale(int lane) const { return weights.scale(lane); }
    double offset(int) const { return 0.0; }
    template <typename T>
    void update(const Row<T>& x, int lane, bool up) {
        weights.add_exactly(x, lane, up ? rate : -rate);
    }
    void set(std::int64_t, int, double, BalancedParts) {}  // all features are linked, none is discarded
};

}  // namespace widemargin
