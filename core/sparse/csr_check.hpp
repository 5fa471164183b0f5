// The checks that a compressed-sparse-row matrix must pass before any solver reads it, and the properties of
// its values that learners require. Each array is read once.
//
// A matrix is sound if its row pointers start at 0, never decrease and end within its arrays, and every
// column number is in [0, n_columns). It is canonical if, in addition, column numbers strictly increase
// within each row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace widemargin {

enum class CsrState : int { kCanonical = 0, kUnordered = 1, kDamaged = 2 };

// The number of positions in [0, n - 1) whose number is not smaller than the next. A plain loop, which
// compilers vectorize.
inline std::int64_t count_descents(const std::int32_t* indices, std::int64_t n) {
    std::int32_t descents = 0;
    for (std::int64_t k = 0; k + 1 < n; ++k) descents += indices[k + 1] <= indices[k];
    return descents;
}

// indptr has n_rows + 1 entries, indices n_values (below 2^31).
inline CsrState check_csr(const std::int64_t* indptr, std::int64_t n_rows, const std::int32_t* indices,
                          std::int64_t n_values, std::int64_t n_columns) {
    if (indptr[0] != 0 || indptr[n_rows] != n_values) return CsrState::kDamaged;
    std::int64_t falls = 0;
    for (std::int64_t i = 0; i < n_rows; ++i) falls += indptr[i + 1] < indptr[i];
    if (falls) return CsrState::kDamaged;
    // Blocks of rows, so that the second loop finds in the L1 cache what the first one read.
    constexpr std::int64_t kAtOnce = 4096;
    bool in_range = true, rising = true;
    for (std::int64_t i = 0; i < n_rows && in_range;) {
        std::int64_t last = i + 1;
        while (last < n_rows && indptr[last + 1] - indptr[i] <= kAtOnce) ++last;
        std::int64_t descents = count_descents(indices + indptr[i], indptr[last] - indptr[i]);
        // Column numbers may decrease only from the end of a row to the start of the next. Where they
        // increase within a row, its two ends tell whether all are in range.
        const std::int64_t block = indptr[i];
        for (; i < last; ++i) {
            const std::int64_t begin = indptr[i], end = indptr[i + 1];
            if (begin == end) continue;
            if (begin > block) descents -= indices[begin] <= indices[begin - 1];
            in_range &= indices[begin] >= 0 && indices[end - 1] < n_columns;
        }
        rising &= descents == 0;
    }
    if (!in_range) return CsrState::kDamaged;
    if (rising) return CsrState::kCanonical;
    const auto [least, greatest] = std::minmax_element(indices, indices + n_values);
    return *least >= 0 && *greatest < n_columns ? CsrState::kUnordered : CsrState::kDamaged;
}

struct ValueCheck {
    bool all_finite;
    double least, greatest;  // 0 if there are no values
    std::int64_t n_nonzero;
};

template <typename T>
ValueCheck check_values(const T* values, std::int64_t n) {
    // Independent lanes, which compilers vectorize. A product with 0 is 0 unless the value is infinite or
    // NaN; such a product stays in the sum.
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
    ValueCheck found{true, double(least[0]), double(greatest[0]), n};
    for (int lane = 0; lane < kAtOnce; ++lane) {
        found.all_finite &= std::isfinite(sum[lane]);
        found.least = std::min(found.least, double(least[lane]));
        found.greatest = std::max(found.greatest, double(greatest[lane]));
        found.n_nonzero -= zeros[lane];
    }
    return found;
}

}  // namespace widemargin
