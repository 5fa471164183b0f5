// What a learner asks of all values before it begins, in one pass over them: are they finite, is one
// negative, how many are not 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace widemargin {

struct ValueSurvey {
    bool all_finite;
    double least;  // 0 when there are none
    std::int64_t n_nonzero;
};

template <typename T>
ValueSurvey survey(const T* values, std::int64_t n) {
    // Lanes that know nothing of each other become vector instructions. A product with 0 is 0 unless a value
    // is infinite or no number; such a product stays in the sum.
    constexpr int kAtOnce = 16;
    T least[kAtOnce], sum[kAtOnce] = {};
    std::int32_t zeros[kAtOnce] = {};
    std::fill(least, least + kAtOnce, n > 0 ? values[0] : T(0));
    std::int64_t i = 0;
    const auto look = [&](int lane, T value) {
        least[lane] = value < least[lane] ? value : least[lane];
        sum[lane] += value * T(0);
        zeros[lane] += value == 0;
    };
    for (; i + kAtOnce <= n; i += kAtOnce) {
        for (int lane = 0; lane < kAtOnce; ++lane) look(lane, values[i + lane]);
    }
    for (; i < n; ++i) look(0, values[i]);
    ValueSurvey found{true, double(least[0]), n};
    for (int lane = 0; lane < kAtOnce; ++lane) {
        found.all_finite &= std::isfinite(sum[lane]);
        found.least = std::min(found.least, double(least[lane]));
        found.n_nonzero -= zeros[lane];
    }
    return found;
}

}  // namespace widemargin
