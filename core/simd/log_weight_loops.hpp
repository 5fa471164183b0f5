// Many log weights at once: the exponentials of online/log_weights.hpp as vector instructions.
#pragma once

#include <cstdint>

#include "simd/simd_choice.hpp"

namespace widemargin {

struct LogWeightForm {
    double mu;
    bool balanced;
    bool normalized;
    double total;  // W
};

struct LogWeightLoops {
    // Weights and sizes of n logarithms v, times exp(-shift). n is a multiple of 4; v - shift is below 700,
    // and so is -v - shift when balanced. Each result depends on its own v alone.
    void (*weigh)(const LogWeightForm& form, double shift, const double* v, std::int64_t n, double* w,
                  double* size);
    // Sizes of n weights: sqrt(w^2 + floor) when balanced. n is a multiple of 4.
    void (*sizes)(const LogWeightForm& form, double floor, const double* w, std::int64_t n, double* size);
};

// simd/log_weight_loops_kernels.hpp is compiled once for any CPU and, on x86-64, once for AVX2 and FMA.
namespace baseline {
LogWeightLoops log_weight_loops();
}
#if defined(WIDEMARGIN_AVX2)
namespace avx2 {
LogWeightLoops log_weight_loops();
}
#endif

inline LogWeightLoops log_weight_loops() {
#if defined(WIDEMARGIN_AVX2)
    if (use_avx2()) return avx2::log_weight_loops();
#endif
    return baseline::log_weight_loops();
}

}  // namespace widemargin
