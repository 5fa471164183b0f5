// Dual coordinate descent for up to 16 labels side by side: the passes that linear/dual_cd.hpp starts with.
//
// One-vs-rest problems share their rows. With the weights stored feature-major, the 16 weights of a feature
// are one cache line, so a row is read once and each of its non-zeros is one vector operation for all labels.
// Every lane computes exactly what it would compute alone, so results do not depend on which labels share a
// block.
//
// A lane in which example i takes no part (shrunk, settled, or padding) has sign 0 there: its step is
// multiplied by that sign, and a row whose 16 signs are all 0 need not be visited.
#pragma once

#include <cstdint>

#include "simd/simd_choice.hpp"

namespace widemargin {

constexpr int kLanes = 16;

// Steps go beyond the minimum over one alpha, to 1.4 times the way: successive over-relaxation, which
// converges for factors below 2 (Mangasarian, Musicant, "Successive overrelaxation for support vector
// machines", 1999) and needs a tenth to a third fewer passes on text.
constexpr float kRelaxation = 1.4f;

// What one pass over a block of labels reads and updates. Letters as in linear/dual_cd.hpp.
struct LanePass {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* values;
    const float* squared_norms;   // with the bias feature
    const float* sample_weights;  // or null: all ones
    const float* excess;          // y_i f(x_i) - 1 of a rule f that w is a change of, or null: w is the rule
    const std::int32_t* rows;     // in the order of the visits
    std::int64_t n_rows;
    std::int64_t bias_row;  // where in w the weights of the bias feature stand
    float bias;             // size of the bias feature, 0 for none
    bool squared_loss;

    float* w;           // (features + 1) x 16
    float* alpha;       // examples x 16
    std::int8_t* sign;  // examples x 16: +1, -1, or 0

    float cost_positive[kLanes], cost_negative[kLanes];
    float shrink_above[kLanes], shrink_below[kLanes];  // gradients beyond which a bounded alpha is left alone

    // What the pass found, by lane.
    float pg_max[kLanes], pg_min[kLanes];
    float gap[kLanes];   // sum of the examples' complementary slackness when they were visited
    float loss[kLanes];  // squared loss only: sum of C_i xi_i^2
};

// Sums over all examples and features, by lane.
struct LaneSums {
    float alpha[kLanes];
    float squared_weights[kLanes];
    float active[kLanes];
};

// The scores of a row, without the bias feature, in full precision: w is features x width, width 4, 8, 12
// or 16.
template <typename T>
using ScoreLanes = void (*)(const std::int32_t* indices, const T* values, std::int64_t size, const double* w,
                            int width, double* scores);

// The features of the row that will be scored next, if there is one.
struct NextRow {
    const std::int32_t* indices = nullptr;
    std::int64_t size = 0;
};

// The scores of a row by any number of labels: w is features x labels, a feature every `stride` numbers.
template <typename T>
using ScoreRow = void (*)(const std::int32_t* indices, const T* values, std::int64_t size, NextRow next,
                          const double* w, std::int64_t stride, const double* intercept,
                          std::int64_t n_labels, double* scores);

// The same in single precision, for 16 lanes.
using ScoreSingleLanes = void (*)(const std::int32_t* indices, const float* values, std::int64_t size,
                                  const float* w, float* scores);

// Adds 16 multiples of a row to the columns of w, features x 16.
template <typename T>
using AddLanes = void (*)(const std::int32_t* indices, const T* values, std::int64_t size,
                          const double* steps, double* w);

// By one label: w is a number a feature. `passing`: rows are read in their order and only once, so that what
// follows in memory may be asked for, and need not stay in the caches.
template <typename T>
using DotRow = double (*)(const std::int32_t* indices, const T* values, std::int64_t size, bool passing,
                          const double* w);

struct LaneKernels {
    void (*pass)(LanePass&);
    LaneSums (*sum)(const LanePass&, std::int64_t n_examples);
    ScoreLanes<float> score_single;
    ScoreLanes<double> score_double;
    ScoreSingleLanes score_roughly;
    AddLanes<float> add_single;
    AddLanes<double> add_double;
    ScoreRow<float> row_single;
    ScoreRow<double> row_double;
    DotRow<float> dot_single;
    DotRow<double> dot_double;
};

// simd/label_lanes_kernels.hpp is compiled once for any CPU and, on x86-64, once for AVX2 and FMA.
// (target_clones would not do: GCC takes vector types apart for the default CPU before it makes the clones.)
namespace baseline {
LaneKernels lane_kernels();
}
#if defined(WIDEMARGIN_AVX2)
namespace avx2 {
LaneKernels lane_kernels();
}
#endif

inline LaneKernels lane_kernels() {
#if defined(WIDEMARGIN_AVX2)
    if (use_avx2()) return avx2::lane_kernels();
#endif
    return baseline::lane_kernels();
}

}  // namespace widemargin
