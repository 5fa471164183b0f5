// What online/dual_updates.hpp learns from, and what it fills.
#pragma once

#include <cstdint>

#include "online/log_weights.hpp"

namespace widemargin {

struct DualOptions {
    bool additive;  // the SVM; otherwise Winnow in the form below
    LogWeightForm form;
    double eta;   // 0: Newton's step
    double bias;  // size of the constant feature, 0 for none
    double tol;   // 0: no test of the gap
    std::int64_t max_passes;
    bool shuffle;
    std::uint64_t seed;
};

// n examples, L labels, d features (one more with a bias feature).
struct DualTask {
    std::int64_t n_labels;
    const std::int8_t* signs;       // L x n
    const std::int64_t* first_row;  // L: where a label begins to learn
    const double* cost_positive;    // L
    const double* cost_negative;    // L
    const double* sample_weights;   // n, or null
    bool from_start;                // the state is the starting one: alpha explains all of it
    // State.
    double* weights;  // features x labels
    double* logs;     // v, features x labels; null for the SVM
    LogWeightSums log_sums;
    // Results.
    double* alpha;      // L x n
    double* objective;  // L: primal
    double* gap;        // L
    std::int64_t* passes;
    std::uint8_t* converged;
    std::int64_t*
        overshoots;  // L: steps of a fixed eta after which the dual of the SVM was lower than before
    double* scores;  // n x L before learning, or null
    std::int64_t* labels_done;
};

}  // namespace widemargin
