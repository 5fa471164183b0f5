// What has to hold of a compressed-sparse-row matrix before any solver reads it, and what learners ask of its
// values, each array read once.
//
// A matrix is sound when its row pointers start at 0, never fall and end within its arrays, and when every
// column number lies in [0, n_columns). It is canonical when, besides, column numbers rise strictly within
// each row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace widemargin {

enum class CsrState : int { kCanonical = 0, kUnordered = 1, kDamaged = 2 };

// Whether [first, last) of a row lies in [0, n_columns); the row's numbers rise.
inline bool row_in_range(const std::int32_t* indices, std::int64_t begin, std::int64_t end,
                         std::int64_t n_columns) {
    return indices[begin] >= 0 && indices[end - 1] < n_columns;
}

// At how many places of [0, n - 1) the number does not rise to the next. Plain loops over blocks, so that
// compilers make vector instructions of them.
inline std::int64_t count_descents(const std::int32_t* indices, std::int64_t n) {
    constexpr std::int64_t kBlock = 1 << 14;
    std::int64_t total = 0;
    for (std::int64_t begin = 0; begin + 1 < n; begin += kBlock) {
        const std::int64_t end = std::min(begin + kBlock, n - 1);
        std::int32_t descents = 0;
        for (std::int64_t k = begin; k < end; ++k) descents += indices[k + 1] <= indices[k];
        total += descents;
    }
    return total;
}

// indptr has n_rows + 1 entries, indices n_values.
inline CsrState check_csr(const std::int64_t* indptr, std::int64_t n_rows, const std::int32_t* indices,
                          std::int64_t n_values, std::int64_t n_columns) {
    if (indptr[0] != 0 || indptr[n_rows] != n_values) return CsrState::kDamaged;
    std::int64_t falls = 0;
    for (std::int64_t i = 0; i < n_rows; ++i) falls += indptr[i + 1] < indptr[i];
    if (falls) return CsrState::kDamaged;
    // Numbers may fall from the last of a row to the first of the next, and nowhere else.
    std::int64_t between_rows = 0;
    bool in_range = true;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const std::int64_t begin = indptr[i], end = indptr[i + 1];
        if (begin == end) continue;
        if (begin > 0) between_rows += indices[begin] <= indices[begin - 1];
        in_range &= row_in_range(indices, begin, end, n_columns);
    }
    if (!in_range) return CsrState::kDamaged;
    if (count_descents(indices, n_values) == between_rows) return CsrState::kCanonical;
    const auto [least, greatest] = std::minmax_element(indices, indices + n_values);
    return *least >= 0 && *greatest < n_columns ? CsrState::kUnordered : CsrState::kDamaged;
}

struct ValueSurvey {
    bool all_finite;
    double least, greatest;  // 0 when there are none
    std::int64_t n_nonzero;
};

template <typename T>
ValueSurvey survey(const T* values, std::int64_t n) {
    // Lanes that know nothing of each other become vector instructions. A product with 0 is 0 unless a value
    // is infinite or no number; such a product stays in the sum.
    constexpr int kAtOnce = 16;
    T least[kAtOnce], greatest[kAtOnce], sum[kAtOnce] = {};
    std::int32_t zeros[kAtOnce] = {};
    std::fill(least, least + kAtOnce, n > 0 ? values[0] : T(0));
    std::copy(least, least + kAtOnce, greatest);
    std::int64_t i = 0;
    const auto look = [&](int lane, T value) {
        least[lane] = value < least[lane] ? value : least[lane];
        greatest[lane] = value > greatest[lane] ? value : greatest[lane];
        sum[lane] += value * T(0);
        zeros[lane] += value == 0;
    };
    for (; i + kAtOnce <= n; i += kAtOnce) {
        for (int lane = 0; lane < kAtOnce; ++lane) look(lane, values[i + lane]);
    }
    for (; i < n; ++i) look(0, values[i]);
    ValueSurvey found{true, double(least[0]), double(greatest[0]), n};
    for (int lane = 0; lane < kAtOnce; ++lane) {
        found.all_finite &= std::isfinite(sum[lane]);
        found.least = std::min(found.least, double(least[lane]));
        found.greatest = std::max(found.greatest, double(greatest[lane]));
        found.n_nonzero -= zeros[lane];
    }
    return found;
}

}  // namespace widemargin
