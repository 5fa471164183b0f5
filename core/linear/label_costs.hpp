// What errors on the examples of one label cost, and what that makes of the dual problem: the one place that
// says so, for training and for leaving out.
#pragma once

#include <cstdint>
#include <limits>

namespace widemargin {

struct LabelCosts {
    const std::int8_t* signs;      // n
    double positive, negative;     // C times the weight of the class; infinite for a hard margin
    const double* sample_weights;  // n, or null
    bool squared_loss;             // squared hinge instead of hinge

    double sign(std::int64_t i) const { return signs[i]; }
    double cost(std::int64_t i) const {
        const double c = signs[i] > 0 ? positive : negative;
        if (!sample_weights) return c;
        // Without weight an example takes no part, even where errors cost infinitely much.
        return sample_weights[i] > 0 ? c * sample_weights[i] : 0.0;
    }
    // How far alpha_i may rise; 0 for an example that takes no part.
    double upper(std::int64_t i) const {
        const double c = cost(i);
        return squared_loss && c > 0 ? std::numeric_limits<double>::infinity() : c;
    }
    // What the squared hinge adds to the diagonal of the kernel matrix.
    double diagonal(std::int64_t i) const {
        const double c = cost(i);
        return squared_loss && c > 0 ? 0.5 / c : 0.0;
    }
};

}  // namespace widemargin
