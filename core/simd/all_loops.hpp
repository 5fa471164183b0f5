// The table of simd/loops.hpp, in the namespace WIDEMARGIN_TARGET of the file that includes this one.
#pragma once

#include "simd/chi_square_loops.hpp"
#include "simd/class_loops.hpp"
#include "simd/factor_loops.hpp"
#include "simd/kernel_svm_loops.hpp"
#include "simd/label_loops.hpp"
#include "simd/logistic_loops.hpp"
#include "simd/online_loops.hpp"
#include "simd/row_loops.hpp"
#include "simd/solution_path_loops.hpp"
#include "simd/stump_loops.hpp"

namespace widemargin {
namespace WIDEMARGIN_TARGET {

template <typename T>
constexpr LoopsOver<T> kLoopsOver{dot<T>,
                                  score_row<T>,
                                  add_lanes<T>,
                                  factored_squares<T>,
                                  score_factored<T>,
                                  update<T>,
                                  partner<T>,
                                  add_columns<T>,
                                  add_shares<T>,
                                  add_rows<T>,
                                  pass_over_classes<T, double>,
                                  score_variances<T>,
                                  forget_and_score<T>,
                                  move_confident<T>};

extern const Loops kLoops;
constexpr Loops kLoops{kLoopsOver<float>,
                       kLoopsOver<double>,
                       pass_over_lanes,
                       sum_lanes,
                       pass_over_logistic_lanes,
                       score_roughly,
                       pass_over_classes<float, float>,
                       measure_classes,
                       move_classes,
                       extremes,
                       add_column,
                       rbf_exponents,
                       exp_of_negative,
                       subtract_products,
                       first_limit,
                       weigh,
                       sizes,
                       add_stump_losses};

}  // namespace WIDEMARGIN_TARGET
}  // namespace widemargin
