// What online/dual_updates.hpp learns from, and what it fills.
#pragma once

#include <cstdint>

#include "linear/label_costs.hpp"
#include "online/log_weights.hpp"

namespace widemargin {

struct DualOptions : LogWeightForm {
    bool additive;    // the SVM; otherwise Winnow in the form below
    double eta;       // 0: Newton steps
    double bias;      // size of the constant feature, 0 for none
    double tol;       // 0: no test of the gap
    double least_mu;  // the smallest mu_j
    std::int64_t max_passes;
    bool shuffle;
    std::uint64_t seed;
};

// n examples, L labels, d features (one more with a bias feature).
struct DualProblem : LabelTasks {
    const std::int64_t* first_row;  // L: first document of a label
};

struct DualState : LogWeightSums {
    bool from_start;  // the state is the initial one, so alpha determines it
    double* weights;  // features x labels
    double* logs;     // v, features x labels; null for the SVM
};

struct DualResults {
    double* alpha;      // L x n
    double* objective;  // L: primal
    double* gap;        // L
    double* margin;     // L: the smallest y_i w.x_i of examples with a cost, at most 1
    std::int64_t* passes;
    std::uint8_t* converged;
    std::int64_t*
        overshoots;  // L: steps of a fixed eta after which the dual of the SVM was lower than before
    double* scores;  // n x L before learning, or null
    std::int64_t* labels_done;
};

struct DualTask : DualProblem, DualState, DualResults {};

}  // namespace widemargin
