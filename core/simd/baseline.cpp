// The loops for any CPU, and the choice between them and those for AVX2.
#include <cstdlib>
#include <stdexcept>
#include <string>

#define WIDEMARGIN_TARGET baseline
#include "simd/all_loops.hpp"

namespace widemargin {

static bool baseline_is_forced() {
    const char* const value = std::getenv("WIDEMARGIN_SIMD");
    const std::string wanted = value ? value : "";
    if (wanted == "baseline") return true;
    if (wanted.empty() || wanted == "auto") return false;
    throw std::runtime_error("WIDEMARGIN_SIMD=" + wanted +
                             " is unknown. Set it to baseline or auto, or unset it.");
}

#if defined(WIDEMARGIN_AVX2)
namespace avx2 {
extern const Loops kLoops;
}
static const Loops& fastest_loops() {
    const bool here = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return here ? avx2::kLoops : baseline::kLoops;
}
#else
static const Loops& fastest_loops() { return baseline::kLoops; }
#endif

const Loops& vector_loops() {
    static const Loops& chosen = baseline_is_forced() ? baseline::kLoops : fastest_loops();
    return chosen;
}

bool uses_avx2() { return &vector_loops() != &baseline::kLoops; }

}  // namespace widemargin
