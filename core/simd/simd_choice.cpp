#include "simd/simd_choice.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace widemargin {

static bool cpu_has_avx2() {
#if defined(WIDEMARGIN_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static bool baseline_forced() {
    const char* const value = std::getenv("WIDEMARGIN_SIMD");
    const std::string wanted = value ? value : "";
    if (wanted == "baseline") return true;
    if (wanted.empty() || wanted == "auto") return false;
    throw std::runtime_error("WIDEMARGIN_SIMD=" + wanted +
                             " is unknown. Set it to baseline or auto, or unset it.");
}

bool use_avx2() {
    static const bool chosen = !baseline_forced() && cpu_has_avx2();
    return chosen;
}

}  // namespace widemargin
