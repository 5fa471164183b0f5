// Which of the compiled vector loops this process uses: those for AVX2 and FMA, or those for any CPU.
//
// WIDEMARGIN_AVX2 is defined where the loops for AVX2 are compiled (x86-64, unless CMake's option of that
// name is off). WIDEMARGIN_SIMD=baseline in the environment leaves them unused, so that tests can run both.
#pragma once

namespace widemargin {

// The environment is read once. Throws std::runtime_error where WIDEMARGIN_SIMD has an unknown value.
bool use_avx2();

}  // namespace widemargin
