// One table of all loops of the core that are written for vector instructions.
//
// The loops are compiled twice: for any CPU (simd/baseline.cpp) and, on x86-64 unless CMake's option
// WIDEMARGIN_AVX2 is off, for AVX2 and FMA (simd/avx2.cpp). vector_loops() chooses by the CPU, once;
// WIDEMARGIN_SIMD=baseline in the environment forces the baseline. (target_clones does not work: GCC splits
// vector types for the default CPU before it makes the clones.)
//
// No result depends on how many examples, labels or features share a vector.
#pragma once

#include <cstdint>

namespace widemargin {

// Labels, or left-out examples, side by side. Weights are stored feature by feature, so the 16 weights of a
// feature are one cache line: a row is read once, and each of its non-zeros is one vector operation for all
// lanes. Every lane computes exactly what it would compute alone.
constexpr int kLanes = 16;
inline constexpr double kNoIntercept[kLanes] = {};

// Successive over-relaxation: a step is 1.3 times the step to the minimum over one alpha. It converges for
// factors below 2 (Mangasarian, Musicant, "Successive overrelaxation for support vector machines", 1999) and
// needs 10 to 33 percent fewer passes on text.
constexpr float kRelaxation = 1.3f;

// A row in single precision.
struct RowPlace {
    const std::int32_t* indices;
    const float* values;
    std::int64_t size;
};

// One pass of dual coordinate descent: what it reads and updates. Letters as in linear/dual_cd.hpp.
//
// If example i is not active in a lane (shrunk, settled, or padding), its sign there is 0. The step is
// multiplied by that sign, and a row with 16 signs of 0 is skipped.
struct LanePass {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* values;
    const RowPlace* places;       // of the examples, instead of one matrix; null: the matrix above
    const float* squared_norms;   // without the bias feature
    const float* sample_weights;  // or null: all ones
    const float* scales;          // examples x 16, or null: see w
    const float* excess;          // y_i f(x_i) - 1 if w is a change of a model f; null if w is the model
    const std::int32_t* rows;     // in visiting order
    std::int64_t n_rows;
    std::int64_t bias_row;  // row of w with the weights of the bias feature
    float bias;             // size of the bias feature, 0 for none
    bool squared_loss;

    // (features + 1) x 16. With scales, linear/label_weighted.hpp: 16 values v, then 16 squared factors, for
    // each feature; 1 for the bias feature.
    float* w;
    float* alpha;       // examples x 16
    std::int8_t* sign;  // examples x 16: +1, -1, or 0

    float cost_positive[kLanes], cost_negative[kLanes];
    float theta[kLanes];                               // linear/threshold.hpp; 1 by default
    float sum[kLanes];                                 // S there, updated like w and alpha
    float shrink_above[kLanes], shrink_below[kLanes];  // shrink bounded alphas with gradients beyond these

    // Results of the pass, per lane.
    float pg_max[kLanes], pg_min[kLanes];
    float gap[kLanes];   // sum over examples of the complementary slackness when visited
    float loss[kLanes];  // squared loss only: sum of C_i xi_i^2
};

// Sums over all examples and features, per lane.
struct LaneSums {
    float alpha[kLanes];
    float squared_weights[kLanes];
    float active[kLanes];
};

// One pass of dual coordinate descent for logistic regression in 16 lanes. Letters as in
// linear/logistic_dual.hpp. A sign of 0 excludes an example from a lane.
struct LogisticPass {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* values;
    const float* squared_norms;   // without the bias feature
    const float* sample_weights;  // or null: all ones
    const std::int32_t* rows;     // in visiting order
    std::int64_t n_rows;
    std::int64_t bias_row;  // row of w with the weights of the bias feature
    float bias;             // size of the bias feature, 0 for none

    float* w;                 // (features + 1) x 16
    float* u;                 // examples x 16: the margins at which the alphas are optimal
    const std::int8_t* sign;  // examples x 16: +1, -1, or 0
    float cost_positive[kLanes], cost_negative[kLanes];
    float theta[kLanes];  // linear/threshold.hpp
    float sum[kLanes];    // S there, updated like w and u

    // Results of the pass, per lane: sums over examples of their shares of the gap and of their losses when
    // visited, and w.w after the pass.
    float gap[kLanes], loss[kLanes], squared_weights[kLanes];
};

// One example of a multi-class machine (multiclass/multiclass_dual.hpp). All arrays have `stride` numbers,
// one for each class; padding up to a multiple of 8 has u = 0 and, as it is no class, the excess -kNoClass.
template <typename Real>
constexpr Real kNoClass = sizeof(Real) == sizeof(float) ? Real(1e30) : Real(1e250);

template <typename Real>
struct ClassRow {
    std::int64_t stride;
    bool each_class;  // Weston-Watkins
    std::int32_t own;
    Real cost, curvature;
    Real most;        // of the sum of u: Weston-Watkins
    Real relaxation;  // kRelaxation
    const Real *excess, *scores;
    Real* u;
    Real* h;       // workspace
    Real* change;  // of alpha, by a step

    // What measuring finds. `room` is how much h may change before u does; negative if u is between bounds.
    Real gap, xi, violation, room;
};

// One pass of a linear multi-class machine. Weights are stored feature by feature.
template <typename T, typename Real>
struct ClassPass {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const T* values;
    const Real *costs, *curvatures;
    const std::int32_t* own;
    std::int64_t n_classes;
    std::int64_t bias_row;  // row of w with the weights of the bias feature
    Real bias;
    Real *w, *u, *scores;
    Real* gaps;          // of every example, when it was visited last
    Real shrink_beyond;  // examples with more room are dropped from `rows`

    std::int32_t* rows;  // in visiting order
    std::int64_t n_rows;
    ClassRow<Real> row;

    // Results: sums over the visited examples, and their largest violation.
    double gain;
    Real violation;
};

// The features of the row that is scored next, if any.
struct NextRow {
    const std::int32_t* indices = nullptr;
    std::int64_t size = 0;
};

// The rules of labels with factors on their terms: v and the squared factors are features x labels.
struct FactoredWeights {
    const double* v;
    const float* squared_factors;
    const double* intercept;
    std::int64_t n_labels;
};

// Lower limit of the curvature of a step, which is 0 for some semi-definite kernels and negative for
// indefinite ones.
constexpr double kSmallestCurvature = 1e-12;

// The largest of rise - s and the smallest of fall - s, and their positions; -1 if no example may move.
struct Extremes {
    double highest, lowest;
    std::int64_t rising, falling;
};

constexpr int kColumns = 8;  // of sums in add_rows

// At most so many dense columns of a feature are added at a time in add_columns and add_shares.
constexpr std::int64_t kColumnsAtOnce = 16;

// Values whose fifth powers are doubles, and those of sums of two of them.
constexpr double kSmallestShared = 1e-60, kLargestShared = 1e60;

// The first of many quantities to reach its limit, and when; -1 if none does.
struct FirstLimit {
    std::int64_t who;
    float time;
};

struct LogWeightForm {
    double mu;
    bool balanced;
    bool normalized;
    double total;  // W
};

// What the stumps of a label may vote (trees/stumps.hpp).
enum class Votes { real, abstaining, discrete };

// The weights of the positive and of the negative examples of a label: of those that have each column, and of
// all. `scales` multiply them.
struct StumpSums {
    const double* present[2];  // padded with zeros to a multiple of 4 columns
    double all[2];
    double scales[2];
};

// Loops over values in single or double precision.
template <typename T>
struct LoopsOver {
    // A sparse row (simd/row_loops.hpp). w.x for one label, w being one number per feature. `passing`: rows
    // are read in order and only once, so the following memory is prefetched and need not stay in the caches.
    double (*dot)(const std::int32_t* indices, const T* values, std::int64_t size, bool passing,
                  const double* w);
    // The scores for any number of labels: w is features x labels, with `stride` numbers per feature.
    void (*score_row)(const std::int32_t* indices, const T* values, std::int64_t size, NextRow next,
                      const double* w, std::int64_t stride, const double* intercept, std::int64_t n_labels,
                      double* scores);
    // Adds 16 multiples of the row to the columns of w, features x 16.
    void (*add_lanes)(const std::int32_t* indices, const T* values, std::int64_t size, const double* steps,
                      double* w);

    // Factors of terms that differ by label (simd/factor_loops.hpp). The sums of x_j^2 f_j^2 in 16 lanes;
    // squared_factors is features x 16.
    void (*factored_squares)(const std::int32_t* indices, const T* values, std::int64_t size,
                             const float* squared_factors, double* squares);
    // The scores sum_j x_j v_j / sqrt(sum_j x_j^2 f_j^2) + b for any number of labels.
    void (*score_factored)(const std::int32_t* indices, const T* values, std::int64_t size,
                           const FactoredWeights& weights, double* scores);

    // Rows of a kernel matrix (simd/kernel_svm_loops.hpp). s += step_i * row_i + step_j * row_j, and the
    // extremes of the result.
    Extremes (*update)(const T* row_i, double step_i, const T* row_j, double step_j, const double* rise,
                       const double* fall, std::int64_t n, double* s);
    // The example that may decrease with the largest (highest - (fall - s))^2 / (own + diagonal - 2 row); -1
    // if there is none. Ties go to the smallest number.
    std::int64_t (*partner)(double highest, double own, const double* fall, const double* s, const T* row,
                            const T* diagonal, std::int64_t n);
    // sums += sum_k factors[k] * columns[k], in double precision.
    void (*add_columns)(const double* factors, const T* const* columns, std::int64_t count, std::int64_t n,
                        double* sums);
    // sums += sum_k 4 values[k] columns[k] / (values[k] + columns[k]), for positive values and columns that
    // are not negative (simd/chi_square_loops.hpp). If count is 4 or more, all of them are 0 or between
    // kSmallestShared and kLargestShared.
    void (*add_shares)(const double* values, const T* const* columns, std::int64_t count, std::int64_t n,
                       double* sums);
    // sums += row_a steps_a for several rows a; a step is kColumns numbers, one for each column of sums.
    void (*add_rows)(const T* const* rows, const double* steps, std::int64_t n_rows, std::int64_t n,
                     double* sums);
    // Multi-class machines (simd/class_loops.hpp): a pass over rows with these values, in double precision.
    void (*pass_over_classes)(ClassPass<T, double>&);

    // AROW (simd/online_loops.hpp), in four lanes; weights and information have `stride` numbers per feature.
    // The variances sum_j x_j^2 / (1 + s_j) of the scores.
    void (*score_variances)(const std::int32_t* indices, const T* values, std::int64_t size,
                            const double* information, std::int64_t stride, double* v);
    // w_j *= kept (1 + s_j) / (1 + kept s_j) and s_j *= kept; adds w.x to the scores.
    void (*forget_and_score)(const std::int32_t* indices, const T* values, std::int64_t size,
                             const double* kept, std::int64_t stride, double* w, double* information,
                             double* scores);
    // w_j += move x_j / (1 + s_j), then s_j += gain x_j^2.
    void (*move_confident)(const std::int32_t* indices, const T* values, std::int64_t size,
                           const double* moves, const double* gains, std::int64_t stride, double* w,
                           double* information);
};

struct Loops {
    LoopsOver<float> over_floats;
    LoopsOver<double> over_doubles;

    // Labels side by side (simd/label_loops.hpp).
    void (*pass)(LanePass&);
    LaneSums (*sum)(const LanePass&, std::int64_t n_examples);
    // The same for logistic regression (simd/logistic_loops.hpp).
    void (*logistic_pass)(LogisticPass&);
    // The scores of a row in single precision, in 16 lanes (simd/row_loops.hpp).
    void (*score_roughly)(const std::int32_t* indices, const float* values, std::int64_t size, const float* w,
                          float* scores);

    // Multi-class machines (simd/class_loops.hpp): a pass in single precision, and one example.
    void (*rough_pass_over_classes)(ClassPass<float, float>&);
    void (*measure_classes)(ClassRow<double>&);
    double (*move_classes)(ClassRow<double>&);

    // Kernel machines (simd/kernel_svm_loops.hpp).
    Extremes (*extremes)(const double* rise, const double* fall, const double* s, std::int64_t n);
    // sums += value * column
    void (*add_column)(float value, const float* column, std::int64_t n, float* sums);
    // values = gamma max(of_x + of_rows - 2 sums, 0)
    void (*rbf_exponents)(double gamma, double of_x, const double* of_rows, const double* sums,
                          std::int64_t n, float* values);
    // values = exp(-values) + offset, for values >= 0
    void (*exp_of_negative)(float offset, std::int64_t n, float* values);

    // Solution paths (simd/solution_path_loops.hpp). c -= u v over the lower triangle of c, rows x stride. u
    // is rows x depth, v depth x stride; rows is a multiple of 4 and stride of 8. The part above the diagonal
    // is undefined.
    void (*subtract_products)(const double* u, const double* v, std::int64_t depth, std::int64_t rows,
                              std::int64_t stride, double* c);
    // Quantities that move at constant rates between their limits. Ties go to the smallest number.
    FirstLimit (*first_limit)(const float* quantity, const float* rate, const float* low, const float* high,
                              std::int64_t n);

    // Winnow (simd/online_loops.hpp). Weights and sizes of n logarithms v, times exp(-shift). n is a multiple
    // of 4; v - shift is below 700, and so is -v - shift when balanced. Each result depends on its own v
    // alone.
    void (*weigh)(const LogWeightForm& form, double shift, const double* v, std::int64_t n, double* w,
                  double* size);
    // Sizes of n weights: sqrt(w^2 + floor) when balanced. n is a multiple of 4.
    void (*sizes)(const LogWeightForm& form, double floor, const double* w, std::int64_t n, double* size);

    // Boosted stumps (simd/stump_loops.hpp). Adds the loss of a label by the stump of each column. n is a
    // multiple of 4.
    void (*add_stump_losses)(Votes votes, const StumpSums& sums, std::int64_t n, double* losses);

    template <typename T>
    const LoopsOver<T>& over() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return over_floats;
        } else {
            return over_doubles;
        }
    }
};

// Throws std::runtime_error if WIDEMARGIN_SIMD has an unknown value.
const Loops& vector_loops();
bool uses_avx2();

}  // namespace widemargin
