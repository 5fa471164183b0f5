// The loops of left_out/solution_path.hpp as vector instructions.
#pragma once

#include <cstdint>

#include "simd/simd_choice.hpp"

namespace widemargin {

constexpr int kColumns = 8;  // that add_rows adds to

// The first of many quantities to reach a limit, after how much time; -1: none.
struct FirstLimit {
    std::int64_t who;
    float time;
};

struct TableauLoops {
    // c -= u v over the lower triangle of c, rows x stride. u is rows x depth, v depth x stride; rows is a
    // multiple of 4 and stride of 8. What lies above the diagonal is undefined.
    void (*subtract_products)(const double* u, const double* v, std::int64_t depth, std::int64_t rows,
                              std::int64_t stride, double* c);
    // sums += row_a steps_a for all of several rows; a step is kColumns numbers, one for each column of sums.
    void (*add_rows)(const float* const* rows, const double* steps, std::int64_t n_rows, std::int64_t n,
                     double* sums);
    void (*add_double_rows)(const double* const* rows, const double* steps, std::int64_t n_rows,
                            std::int64_t n, double* sums);
    // Quantities that move at constant rates between their limits. Ties go to the smallest number.
    FirstLimit (*first_limit)(const float* quantity, const float* rate, const float* low, const float* high,
                              std::int64_t n);
};

// simd/tableau_loops_kernels.hpp is compiled once for any CPU and, on x86-64, once for AVX2 and FMA.
namespace baseline {
TableauLoops tableau_loops();
}
#if defined(WIDEMARGIN_AVX2)
namespace avx2 {
TableauLoops tableau_loops();
}
#endif

inline TableauLoops tableau_loops() {
#if defined(WIDEMARGIN_AVX2)
    if (use_avx2()) return avx2::tableau_loops();
#endif
    return baseline::tableau_loops();
}

}  // namespace widemargin
