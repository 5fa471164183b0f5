// The dual problem of one label of a linear support vector machine: costs, bounds, objective and gap. What is
// solved, and the letters, stand in linear/dual_cd.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "linear/label_costs.hpp"

namespace widemargin {

struct LinearSvmOptions {
    double bias;        // size of the bias feature, 0 for none
    bool squared_loss;  // squared hinge instead of hinge
    bool stop_on_gap;   // tol bounds the relative duality gap, otherwise the spread of projected gradients
    double tol;
    std::int64_t max_passes;
    std::uint64_t seed;
};

// All arrays belong to the caller; n examples, L labels, d features.
struct LinearSvmResults {
    double* coef;       // d x L: the order in which documents are scored
    double* intercept;  // L
    double* alpha;      // L x n
    double* xi;         // L x n
    double* objective;  // L
    double* gap;        // L
    std::int64_t* passes;
    std::uint8_t* converged;
    std::int64_t* labels_done;  // progress, one element, read by another thread
};

struct LinearSvmTask : LinearProblem, LinearSvmResults {};

class LinearSvmDual : public LabelCosts {
  public:
    LinearSvmDual(const LinearSvmTask& task, bool squared_loss, std::int64_t n, std::int64_t label)
        : LabelCosts(task, label, n, squared_loss), n_(n) {}

    // D(alpha), given w.w
    double objective(const std::vector<double>& alpha, double squared_weights) const {
        double sum = 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            if (alpha[i] != 0) sum += alpha[i] - 0.5 * diagonal(i) * alpha[i] * alpha[i];
        }
        return sum - 0.5 * squared_weights;
    }

    // The relative gap, and P, from the sum of slacks or (hard margin) from the smallest margin.
    double relative_gap(double slacks, double smallest_margin, double dual, double squared_weights,
                        double* primal, double* gap) const {
        if (hard()) {
            *primal = smallest_margin > 0 ? 0.5 * squared_weights / (smallest_margin * smallest_margin)
                                          : std::numeric_limits<double>::infinity();
            *gap = *primal - dual;
        } else {
            *gap = slacks;
            *primal = dual + slacks;
        }
        // A label whose costs are all zero has nothing to fit: P = D = 0.
        return *gap <= 0 ? 0.0 : *gap / *primal;
    }

  private:
    std::int64_t n_;
};

}  // namespace widemargin
