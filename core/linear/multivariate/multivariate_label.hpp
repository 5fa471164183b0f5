// One label of a support vector machine with a multivariate loss. What is solved, and the letters, stand in
// linear/multivariate/multivariate.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "linear/multivariate/cutting_planes.hpp"
#include "linear/multivariate/most_violated.hpp"
#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

struct MultivariateOptions {
    double bias;  // size of the bias feature, 0 for none
    bool f1;      // F1 instead of PRBEP
    double tol;   // of the relative gap
    std::int64_t max_rounds;
};

// All arrays belong to the caller; n examples, L labels, d features.
struct MultivariateProblem {
    std::int64_t n_labels;       // L
    const std::int8_t* signs;    // L x n
    const double* cost;          // L
    const std::int32_t* copies;  // n: how often each example counts, or null for once
};

struct MultivariateResults {
    double* weights;    // L x d
    double* intercept;  // L
    double* objective;  // L
    double* gap;        // L
    std::int64_t* rounds;
    std::uint8_t* converged;
    std::int64_t* labels_done;  // progress, one element, read by another thread
};

struct MultivariateTask : MultivariateProblem, MultivariateResults {};

template <typename T>
class MultivariateLabel {
  public:
    MultivariateLabel(const CsrView<T>& x, const MultivariateTask& task, const MultivariateOptions& options,
                      std::int64_t label)
        : x_(x),
          task_(task),
          options_(options),
          label_(label),
          C_(task.cost[label]),
          finder_(of_sign(1), of_sign(-1), options.f1),
          planes_(C_),
          coefficients_(1),
          best_alpha_{C_},
          best_(x.n_rows, 0.0),
          w_(x.n_columns) {}

    void solve(const StopFlag& stop) {
        std::int64_t round = 0;
        bool converged = finder_.n_positive() == 0;  // no labeling has a loss
        double lower = 0, upper = 0;
        if (!converged) {
            Labeling cut = finder_.find(best_);
            upper = C_ * cut.violation;
            while (upper - lower > options_.tol * upper && round < options_.max_rounds &&
                   exactly_ > kRounding) {
                if (stop) throw Interrupted();
                if (exactly_ == kExactly) add(cut);
                planes_.solve(exactly_ * std::max(upper - lower, options_.tol * upper));
                lower = std::max(lower, planes_.dual());
                upper = search(upper, cut);
                forget();
                ++round;
            }
            converged = upper - lower <= options_.tol * upper;
        }
        double* const weights = task_.weights + label_ * x_.n_columns;
        const double bias = combine(best_alpha_);
        std::copy(w_.begin(), w_.end(), weights);
        task_.intercept[label_] = threshold(bias);
        task_.objective[label_] = upper;
        task_.gap[label_] = std::max(upper - lower, 0.0);
        task_.rounds[label_] = round;
        task_.converged[label_] = converged;
    }

  private:
    // How exactly the planes are solved, as a share of what is missing.
    static constexpr double kExactly = 0.1;
    // Steps of the search between the best point and that of the planes, and where the next plane is cut.
    static constexpr int kSteps = 4;
    static constexpr double kBetween = 0.1;
    // A plane has to cut off this share of what the most violated one cuts off.
    static constexpr double kCutsOff = 0.1;
    // What errors of rounding amount to.
    static constexpr double kRounding = 1e-13;
    // Rounds after which a plane that is not used is dropped.
    static constexpr int kIdle = 30;

    Indices of_sign(int sign) const {
        const std::int8_t* const signs = task_.signs + label_ * x_.n_rows;
        Indices found;
        for (std::int64_t i = 0; i < x_.n_rows; ++i)
            if ((signs[i] > 0) == (sign > 0))
                found.insert(found.end(), task_.copies ? task_.copies[i] : 1, static_cast<std::int32_t>(i));
        return found;
    }

    // Sets w_ to X' beta, and returns the score that the bias feature adds.
    double times_rows(const std::vector<double>& beta) {
        std::fill(w_.begin(), w_.end(), 0.0);
        double sum = 0;
        for (std::int64_t i = 0; i < x_.n_rows; ++i) {
            if (beta[i] == 0) continue;
            sum += beta[i];
            x_.row(i).axpy(beta[i], w_.data());
        }
        return options_.bias * options_.bias * sum;
    }

    // Sets w_ to the combination of planes.
    double combine(const std::vector<double>& alpha) {
        beta_.assign(x_.n_rows, 0.0);
        for (std::size_t j = 0; j < alpha.size(); ++j) {
            if (alpha[j] == 0) continue;
            for (const auto& [i, value] : coefficients_[j]) beta_[i] += alpha[j] * value;
        }
        return times_rows(beta_);
    }

    void score(double bias, std::vector<double>& scores) const {
        scores.resize(x_.n_rows);
        for (std::int64_t i = 0; i < x_.n_rows; ++i) scores[i] = x_.row(i).dot(w_.data()) + bias;
    }

    // The plane of a labeling.
    void add(const Labeling& labeling) {
        beta_.assign(x_.n_rows, 0.0);
        for (const std::int32_t i : labeling.missed) beta_[i] += 1;
        for (const std::int32_t i : labeling.added) beta_[i] -= 1;
        std::vector<std::pair<std::int32_t, double>> plane;
        for (std::int64_t i = 0; i < x_.n_rows; ++i)
            if (beta_[i] != 0) plane.emplace_back(static_cast<std::int32_t>(i), beta_[i]);
        score(times_rows(beta_), scores_);
        coefficients_.push_back(std::move(plane));
        std::vector<double> products;
        for (const auto& each : coefficients_) {
            double sum = 0;
            for (const auto& [i, value] : each) sum += value * scores_[i];
            products.push_back(sum);
        }
        planes_.add(labeling.loss, products);
        best_alpha_.push_back(0.0);
    }

    // Moves the best point toward that of the planes, as far as the objective falls, and sets the labeling of
    // the next plane. Returns the objective of the best point. The derivative along the way is
    // w.direction - C g.direction, so its sign tells on which side the least value is.
    double search(double upper, Labeling& cut) {
        const std::vector<double>& alpha = planes_.alpha();
        score(combine(alpha), scores_);
        const double bb = planes_.product(best_alpha_, best_alpha_), bm = planes_.product(best_alpha_, alpha),
                     mm = planes_.product(alpha, alpha);
        double low = 0, high = 1, at = 1, best_at = 0;
        Labeling of_planes;  // the most violated at the point of the planes
        for (int step = 0; step < kSteps; ++step) {
            const Labeling here = finder_.find(between(at));
            if (step == 0) of_planes = here;
            const double ww = (1 - at) * (1 - at) * bb + 2 * at * (1 - at) * bm + at * at * mm;
            const double value = 0.5 * ww + C_ * here.violation;
            if (value < upper) {
                upper = value;
                best_at = at;
            }
            double slope = at * (mm - bm) - (1 - at) * (bb - bm);
            for (const std::int32_t i : here.missed) slope -= C_ * (scores_[i] - best_[i]);
            for (const std::int32_t i : here.added) slope += C_ * (scores_[i] - best_[i]);
            if (slope > 0)
                high = at;
            else
                low = at;
            if (low >= high) break;
            at = 0.5 * (low + high);
        }
        best_ = std::vector<double>(between(best_at));
        for (std::size_t j = 0; j < alpha.size(); ++j)
            best_alpha_[j] += best_at * (alpha[j] - best_alpha_[j]);
        cut = finder_.find(between(kBetween));
        // A plane that does not cut off the point of the planes would change nothing.
        double violation = cut.loss;
        for (const std::int32_t i : cut.missed) violation -= scores_[i];
        for (const std::int32_t i : cut.added) violation += scores_[i];
        const double slack = planes_.slack();
        // If no labeling cuts it off, the planes themselves have to be solved more exactly.
        const bool is_new = of_planes.violation - slack > kRounding * of_planes.violation;
        exactly_ = is_new ? kExactly : 0.1 * exactly_;
        if (violation - slack < kCutsOff * (of_planes.violation - slack)) cut = std::move(of_planes);
        return upper;
    }

    const std::vector<double>& between(double share) {
        mixed_.resize(best_.size());
        for (std::size_t i = 0; i < best_.size(); ++i) mixed_[i] = best_[i] + share * (scores_[i] - best_[i]);
        return mixed_;
    }

    void forget() {
        std::vector<std::size_t> idle = planes_.idle(kIdle, best_alpha_);
        for (auto j = idle.rbegin(); j != idle.rend(); ++j) {
            planes_.remove(*j);
            coefficients_.erase(coefficients_.begin() + static_cast<std::ptrdiff_t>(*j));
            best_alpha_.erase(best_alpha_.begin() + static_cast<std::ptrdiff_t>(*j));
        }
    }

    // The intercept. A constant does not change PRBEP, so it is set to have n+ positive scores on the
    // examples: the rule by which the loss is defined.
    double threshold(double bias) {
        if (finder_.n_positive() == 0) return -1;
        if (options_.f1 || options_.bias == 0) return bias;
        if (finder_.n_negative() == 0) return 1;
        std::vector<double> ordered;
        for (std::int64_t i = 0; i < x_.n_rows; ++i)
            ordered.insert(ordered.end(), task_.copies ? task_.copies[i] : 1, best_[i] - bias);
        const auto last = ordered.begin() + static_cast<std::ptrdiff_t>(finder_.n_positive());
        std::nth_element(ordered.begin(), last, ordered.end(), std::greater<double>());
        return -0.5 * (*last + *std::min_element(ordered.begin(), last));
    }

    const CsrView<T>& x_;
    const MultivariateTask& task_;
    const MultivariateOptions& options_;
    std::int64_t label_;
    double C_;
    MostViolated finder_;
    CuttingPlanes planes_;
    std::vector<std::vector<std::pair<std::int32_t, double>>> coefficients_;  // of examples, for each plane
    std::vector<double> best_alpha_, best_;  // the best point: combination of planes, scores
    std::vector<double> w_, beta_, scores_, mixed_;
    double exactly_ = kExactly;
};

}  // namespace widemargin
