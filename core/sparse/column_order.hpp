// Columns in order of frequency, so that the most used weights are adjacent in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace widemargin {

struct ColumnOrder {
    std::vector<std::int32_t> columns;  // most frequent first; ties by column number
    std::vector<std::int32_t> place;    // position of every column in `columns`
};

// `roughly`: frequencies with the same number of binary digits count as equal, so that neighboring columns
// stay together.
template <typename T>
ColumnOrder order_by_frequency(const CsrView<T>& x, bool roughly) {
    const std::int64_t d = x.n_columns, n_values = x.n_values();
    std::vector<std::int32_t> key(d, 0);
    for (std::int64_t k = 0; k < n_values; ++k) ++key[x.indices[k]];
    std::int32_t largest = 0;
    for (std::int32_t& frequency : key) {
        if (roughly) {
            int digits = 0;
            for (std::int32_t f = frequency; f > 0; f >>= 1) ++digits;
            frequency = digits;
        }
        largest = frequency > largest ? frequency : largest;
    }
    std::vector<std::int64_t> start(largest + 2, 0);  // by the difference from the largest frequency
    for (const std::int32_t frequency : key) ++start[largest - frequency + 1];
    for (std::size_t k = 1; k < start.size(); ++k) start[k] += start[k - 1];
    ColumnOrder order{std::vector<std::int32_t>(d), std::vector<std::int32_t>(d)};
    for (std::int64_t j = 0; j < d; ++j) {
        const std::int64_t place = start[largest - key[j]]++;
        order.place[j] = static_cast<std::int32_t>(place);
        order.columns[place] = static_cast<std::int32_t>(j);
    }
    return order;
}

}  // namespace widemargin
