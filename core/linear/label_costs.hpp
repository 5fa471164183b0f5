// What errors on the examples of one label cost, and what that makes of the dual problem: the one place that
// says so, for training and for leaving out. Letters as in linear/dual_cd.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace widemargin {

// One-vs-rest tasks over the same n examples. All arrays belong to the caller.
struct LabelTasks {
    std::int64_t n_labels;         // L
    const std::int8_t* signs;      // L x n
    const double* cost_positive;   // L; C times the weight of the class, infinite for a hard margin
    const double* cost_negative;   // L
    const double* sample_weights;  // n, or null
};

struct LinearProblem : LabelTasks {
    const double* start;  // L x n alphas to start from, or null; to leave out: the solution
};

class LabelCosts {
  public:
    LabelCosts(const LabelTasks& tasks, std::int64_t label, std::int64_t n, bool squared_loss)
        : signs_(tasks.signs + label * n),
          positive_(tasks.cost_positive[label]),
          negative_(tasks.cost_negative[label]),
          sample_weights_(tasks.sample_weights),
          squared_loss_(squared_loss) {}

    bool squared_loss() const { return squared_loss_; }
    bool hard() const { return std::max(positive_, negative_) == std::numeric_limits<double>::infinity(); }
    double sign(std::int64_t i) const { return signs_[i]; }
    double cost(std::int64_t i) const {
        const double c = signs_[i] > 0 ? positive_ : negative_;
        if (!sample_weights_) return c;
        // Without weight an example takes no part, even where errors cost infinitely much.
        return sample_weights_[i] > 0 ? c * sample_weights_[i] : 0.0;
    }
    // How far alpha_i may rise; 0 for an example that takes no part.
    double upper(std::int64_t i) const {
        const double c = cost(i);
        return squared_loss_ && c > 0 ? std::numeric_limits<double>::infinity() : c;
    }
    // What the squared hinge adds to the diagonal of the kernel matrix.
    double diagonal(std::int64_t i) const { return diagonal_of(cost(i)); }
    // Of an example of weight 1 and the class with the larger cost.
    double smallest_diagonal() const { return diagonal_of(std::max(positive_, negative_)); }

  private:
    double diagonal_of(double c) const { return squared_loss_ && c > 0 ? 0.5 / c : 0.0; }

    const std::int8_t* signs_;
    double positive_, negative_;
    const double* sample_weights_;
    bool squared_loss_;
};

// An example's share of the duality gap, from e = y_i f(x_i) - 1, without cancellation.
inline double slack_of(double e, double alpha, double cost, bool squared_loss) {
    if (!squared_loss) return e > 0 ? alpha * e : (alpha - cost) * e;
    if (cost <= 0) return 0;
    if (e >= 0) return alpha * alpha / (4 * cost) + alpha * e;
    const double apart = e + alpha / (2 * cost);
    return cost * apart * apart;
}

}  // namespace widemargin
