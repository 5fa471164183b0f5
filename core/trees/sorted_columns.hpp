// A sparse matrix by columns, each sorted by value: made once, read by every tree.
//
// Zeros are not stored. A column with a single distinct value other than zero is binary: a term that is
// present or absent. All others are numeric.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

template <typename T>
struct SortedColumns {
    CsrView<T> x;                        // the same matrix by rows; must outlive the columns
    std::vector<std::int64_t> begin;     // columns + 1: where each column begins in `rows` and `values`
    std::vector<std::int32_t> rows;      // of a column: by value, then by row
    std::vector<T> values;               // of `rows`
    std::vector<std::int32_t> distinct;  // number of distinct values of each column, without zero

    bool is_binary(std::int32_t column) const { return distinct[column] == 1; }
    std::int64_t size(std::int32_t column) const { return begin[column + 1] - begin[column]; }
    // Whether no two values of the column have different signs.
    bool has_one_sign(std::int32_t column) const {
        return size(column) == 0 || (values[begin[column]] > 0) == (values[begin[column + 1] - 1] > 0);
    }

    // The greatest value of a column, zeros included, that is at most `limit`; there must be one.
    double greatest_up_to(std::int32_t column, double limit) const {
        const T *const first = values.data() + begin[column], *const end = values.data() + begin[column + 1];
        const T* const above =
            std::upper_bound(first, end, limit, [](double a, T b) { return a < double(b); });
        const bool has_zeros = size(column) < x.n_rows;
        if (above == first) return 0;
        const double found = double(above[-1]);
        return has_zeros && limit >= 0 && found < 0 ? 0 : found;
    }
};

template <typename T, class Poll>
SortedColumns<T> sort_columns(const CsrView<T>& x, int n_threads, Poll&& poll) {
    SortedColumns<T> columns{x, std::vector<std::int64_t>(x.n_columns + 1, 0), {}, {}, {}};
    std::vector<std::int64_t>& begin = columns.begin;
    for (std::int64_t k = 0; k < x.n_values(); ++k) begin[x.indices[k] + 1] += x.values[k] != 0;
    for (std::int64_t j = 0; j < x.n_columns; ++j) begin[j + 1] += begin[j];
    columns.rows.resize(begin[x.n_columns]);
    columns.values.resize(begin[x.n_columns]);
    columns.distinct.resize(x.n_columns, 0);
    std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const Row<T> row = x.row(i);
        for (std::int64_t k = 0; k < row.size; ++k) {
            if (row.values[k] == 0) continue;
            const std::int64_t at = next[row.indices[k]]++;
            columns.rows[at] = std::int32_t(i);
            columns.values[at] = row.values[k];
        }
    }
    Pieces pieces(x.n_columns, 64);
    run_work(
        n_threads, begin[x.n_columns] + x.n_columns, 100000,
        [&](int, const StopFlag& stop) {
            std::vector<std::pair<T, std::int32_t>> pairs;
            pieces.each(stop, [&](std::int64_t j) {
                T* const values = columns.values.data() + begin[j];
                std::int32_t* const rows = columns.rows.data() + begin[j];
                const std::int64_t n = begin[j + 1] - begin[j];
                const bool sorted = std::is_sorted(values, values + n);
                if (!sorted) {
                    pairs.resize(n);
                    for (std::int64_t k = 0; k < n; ++k) pairs[k] = {values[k], rows[k]};
                    std::sort(pairs.begin(), pairs.end());
                    for (std::int64_t k = 0; k < n; ++k) std::tie(values[k], rows[k]) = pairs[k];
                }
                std::int32_t distinct = n > 0;
                for (std::int64_t k = 1; k < n; ++k) distinct += values[k] != values[k - 1];
                columns.distinct[j] = distinct;
            });
        },
        poll);
    return columns;
}

}  // namespace widemargin
