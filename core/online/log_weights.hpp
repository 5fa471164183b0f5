// The weights of Winnow in log form: w_j = mu exp(v_j), balanced by the embedding [x, -x] without storing it.
//
// Let v be the combination of examples that the updates have added. The positive weights of [x, -x] are mu
// exp(v) and mu exp(-v), so the model for x itself has
//
//   w_j = 2 mu sinh(v_j),    sizes s_j = 2 mu cosh(v_j) = sqrt(w_j^2 + 4 mu^2),    Z = sum_j s_j,
//
// and without balancing w_j = s_j = mu exp(v_j). The normalized rule is w_j W / Z. (Zhang, "Large Margin
// Winnow Methods for Text Categorization", section 2.2.) Z changes by the sizes of the features that change.
//
// Everything is stored times exp(-shift), with one shift per label. The shift follows the largest exponent
// where that would overflow, and does not change the normalized model. Without normalization the weights
// themselves overflow: there, and if a learner keeps no shifts, add() throws std::overflow_error with the
// number of the label.
//
// With a prior vector mu_j, `prior` holds mu_j / mu for every feature; w_j and s_j are then this many times
// what they would be with mu.
//
// If Z becomes small, little but rounding errors would be left of it. When Z falls to a millionth of its
// peak, it is summed again over all features in order, so that results do not depend on how documents were
// cut into batches.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "online/state_blocks.hpp"
#include "simd/loops.hpp"

namespace widemargin {

// exp(600) leaves room for sums over all features.
constexpr double kLargestExponent = 600.0;
constexpr double kExponentAfterShift = 300.0;
constexpr double kSmallestShare = 1e-6;  // of its peak; below it, Z is summed again

// mu exp(v - shift). If balanced: minus the same for -v (the weight) and plus it (the size).
struct LogWeight {
    double w, size;

    LogWeight(double w, double size) : w(w), size(size) {}
    LogWeight times(double ratio) const { return {w * ratio, size * ratio}; }
    LogWeight(const LogWeightForm& form, double v, double shift) {
        if (!form.balanced) {
            w = size = form.mu * std::exp(v - shift);
            return;
        }
        const double u = std::fabs(v);
        const double large = std::exp(u - shift), small = shift == 0 ? 1 / large : std::exp(-u - shift);
        w = std::copysign(form.mu * (large - small), v);
        size = form.mu * (large + small);
    }
};

// A change of v. Small changes need one exponential for all features that change equally: with sizes s,
//   2 mu sinh(v + t) = cosh(t) w + sinh(t) s,    2 mu cosh(v + t) = cosh(t) s + sinh(t) w.
// For larger changes the two terms would cancel.
struct LogStep {
    double change;
    bool is_small;
    double up, cosh, sinh;  // up = exp(change)

    explicit LogStep(double t) : change(t), is_small(std::fabs(t) < 1) {
        up = is_small ? std::exp(t) : 0.0;
        const double down = 1 / up;
        cosh = 0.5 * (up + down);
        sinh = 0.5 * (up - down);
    }

    LogWeight applied(const LogWeightForm& form, double w, double s) const {
        if (!form.balanced) return {w * up, s * up};
        return {cosh * w + sinh * s, cosh * s + sinh * w};
    }
};

// What is stored per label.
struct LogWeightSums {
    double* normalizer;   // Z exp(-shift)
    double* peak;         // the largest Z exp(-shift) since it was last summed
    double* shift;        // or null: no shifts
    const double* prior;  // features: mu_j / mu, or null: 1
};

// Writes the weights of all features (features x labels) for one label: those outside of a batch are also
// stored times exp(-shift).
inline void weigh_label(const LogWeightForm& form, const LogWeightSums& sums, std::int64_t label,
                        std::int64_t n_labels, std::int64_t n_features, const double* logs, double* weights) {
    for (std::int64_t j = 0; j < n_features; ++j) {
        const double ratio = sums.prior ? sums.prior[j] : 1.0;
        weights[j * n_labels + label] =
            LogWeight(form, logs[j * n_labels + label], sums.shift[label]).w * ratio;
    }
}

// The log weights of one block of labels.
class LogWeights {
  public:
    LogWeights(const LogWeightForm& form, const LabelRange& range, const FeatureList& features,
               std::int64_t n_features, const LogWeightSums& sums, Cells<double>& v, Cells<double>& w)
        : form_(form),
          range_(range),
          features_(features),
          n_features_(n_features),
          v_(v),
          w_(w),
          prior_(sums.prior),
          may_shift_(form.normalized && sums.shift) {
        for (int lane = 0; lane < range.count; ++lane) {
            const std::int64_t label = range.first + lane;
            normalizer_[lane] = sums.normalizer[label];
            peak_[lane] = sums.peak[label];
            shift_[lane] = sums.shift ? sums.shift[label] : 0.0;
            set_floor(lane);
        }
    }

    void write_back(const LogWeightSums& sums) const {
        for (int lane = 0; lane < range_.count; ++lane) {
            const std::int64_t label = range_.first + lane;
            sums.normalizer[label] = normalizer_[lane];
            sums.peak[label] = peak_[lane];
            if (sums.shift) sums.shift[label] = shift_[lane];
        }
    }

    double normalizer(int lane) const { return normalizer_[lane]; }
    double shift(int lane) const { return shift_[lane]; }

    // The factor from a stored weight to the weight of the model.
    double scale(int lane) const { return form_.normalized ? form_.total / normalizer_[lane] : 1.0; }

    // s_j from w_j
    double size(std::int64_t row, double w, int lane) const {
        if (!form_.balanced) return w;
        const double ratio = this->ratio(row);
        return std::sqrt(w * w + floor_[lane] * (ratio * ratio));
    }

    // s_j after a change of v_j
    double size_after(std::int64_t row, int lane, double change) const {
        return LogWeight(form_, v_(row, lane) + change, shift_[lane]).size * ratio(row);
    }

    // v_j += step.change
    void add(std::int64_t row, int lane, const LogStep& step) {
        double Z = normalizer_[lane];
        add_one(row, lane, step, Z);
        settle(lane, Z);
    }

    // v += change * x, with weights recomputed from v: those that return to 0 are exactly 0.
    template <typename T>
    void add_exactly(const Row<T>& x, int lane, double change) {
        const LaneOf<double> logs(v_, lane), weights(w_, lane);
        double Z = normalizer_[lane];
        constexpr std::int64_t kMany = 256;
        double v[kMany], w[kMany], before[kMany], after[kMany];
        for (std::int64_t first = 0; first < x.size; first += kMany) {
            const std::int64_t n = std::min(kMany, x.size - first), padded = (n + 3) / 4 * 4;
            const std::int32_t* const places = x.indices + first;
            double largest = 0;
            for (std::int64_t k = 0; k < n; ++k) {
                v[k] = logs[places[k]] + change * double(x.values[first + k]);
                w[k] = weights[places[k]] / ratio(places[k]);
                largest = std::max(largest, form_.balanced ? std::fabs(v[k]) : v[k]);
            }
            std::fill(v + n, v + padded, 0.0);
            std::fill(w + n, w + padded, 0.0);
            loops_.sizes(form_, floor_[lane], w, padded, before);
            if (largest - shift_[lane] < kLargestExponent) {
                loops_.weigh(form_, shift_[lane], v, padded, w, after);
                for (std::int64_t k = 0; k < n; ++k) {
                    const double ratio = this->ratio(places[k]);
                    logs[places[k]] = v[k];
                    weights[places[k]] = w[k] * ratio;
                    Z += (after[k] - before[k]) * ratio;
                }
            } else {
                for (std::int64_t k = 0; k < n; ++k) logs[places[k]] = v[k];
                renew(lane);
                Z = normalizer_[lane];
            }
        }
        settle(lane, Z);
    }

    // v += change * x
    template <typename T>
    void add(const Row<T>& x, int lane, double change) {
        double Z = normalizer_[lane];
        LogStep step(0.0);
        for (std::int64_t k = 0; k < x.size; ++k) {
            const double t = change * double(x.values[k]);
            if (t != step.change) step = LogStep(t);  // equal values need only one exponential
            add_one(x.indices[k], lane, step, Z);
        }
        settle(lane, Z);
    }

    // Recomputes shift, weights and Z from v.
    void renew(int lane) {
        double largest = 0;
        for_each_log(lane, [&](double v, std::int64_t) {
            largest = std::max(largest, form_.balanced ? std::fabs(v) : v);
        });
        if (!(largest < (may_shift_ ? 1e300 : kLargestExponent))) {
            throw std::overflow_error(std::to_string(range_.first + lane));
        }
        shift_[lane] = may_shift_ ? std::max(0.0, largest - kExponentAfterShift) : 0.0;
        set_floor(lane);
        double sum = 0;
        for_each_log(lane, [&](double v, std::int64_t feature) {
            sum += LogWeight(form_, v, shift_[lane]).size * (prior_ ? prior_[feature] : 1.0);
        });
        normalizer_[lane] = peak_[lane] = sum;
        for (std::int64_t row = 0; row < features_.size(); ++row) {
            const double v[4] = {v_(row, lane)};
            double w[4], sizes[4];
            loops_.weigh(form_, shift_[lane], v, 4, w, sizes);
            w_(row, lane) = w[0] * ratio(row);
        }
    }

  private:
    void add_one(std::int64_t row, int lane, const LogStep& step, double& Z) {
        double &v = v_(row, lane), &w = w_(row, lane);
        v += step.change;
        const double exponent = (form_.balanced ? std::fabs(v) : v) - shift_[lane];
        if (!(exponent < kLargestExponent)) {
            renew(lane);
            Z = normalizer_[lane];
            return;
        }
        const double s = size(row, w, lane);
        const LogWeight next =
            step.is_small ? step.applied(form_, w, s) : LogWeight(form_, v, shift_[lane]).times(ratio(row));
        Z += next.size - s;
        w = next.w;
    }

    void settle(int lane, double Z) {
        normalizer_[lane] = Z;
        if (Z > peak_[lane]) peak_[lane] = Z;
        if (!(Z > kSmallestShare * peak_[lane])) renew(lane);
    }

    // mu_j / mu
    double ratio(std::int64_t row) const { return prior_ ? prior_[features_[row]] : 1.0; }

    void set_floor(int lane) { floor_[lane] = 4 * form_.mu * form_.mu * std::exp(-2 * shift_[lane]); }

    // Visits v and the number of all features in order, with the current values of those in the block; or in
    // the block's order if it has all features.
    template <class Visit>
    void for_each_log(int lane, Visit&& visit) const {
        const std::int64_t rows = features_.size();
        if (rows == n_features_) {
            for (std::int64_t row = 0; row < rows; ++row) visit(v_(row, lane), features_[row]);
            return;
        }
        for (std::int64_t j = 0, row = 0; j < n_features_; ++j) {
            if (row < rows && features_[row] == j) {
                visit(v_(row++, lane), j);
            } else {
                visit(v_.original(j, lane), j);
            }
        }
    }

    LogWeightForm form_;
    LabelRange range_;
    const FeatureList& features_;
    std::int64_t n_features_;  // including the constant feature
    Cells<double>&v_, &w_;
    const double* prior_;
    bool may_shift_;
    const Loops& loops_ = vector_loops();
    double normalizer_[kLanes] = {}, peak_[kLanes] = {}, shift_[kLanes] = {};
    double floor_[kLanes] = {};  // (2 mu exp(-shift))^2
};

}  // namespace widemargin
