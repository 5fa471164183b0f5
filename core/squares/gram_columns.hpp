// A sparse matrix by rows and by columns, with columns reordered and columns of a single value set apart.
//
// For products with Z Z': a column with one value adds only to the diagonal, own_i = sum z_ij^2 over such
// columns. Column j goes to place[j]; places below n_shared are for columns with several values.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace widemargin {

// The columns with several values as a matrix by rows (columns are unordered within a row), and `own`.
template <typename T>
void shared_columns(const CsrView<T>& x, const std::int32_t* place, std::int64_t n_shared,
                    std::int64_t* indptr, std::int32_t* indices, T* values, double* own) {
    std::int64_t filled = 0;
    indptr[0] = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const Row<T> row = x.row(i);
        own[i] = 0.0;
        for (std::int64_t k = 0; k < row.size; ++k) {
            const std::int32_t to = place[row.indices[k]];
            if (to < n_shared) {
                indices[filled] = to;
                values[filled++] = row.values[k];
            } else {
                own[i] += double(row.values[k]) * double(row.values[k]);
            }
        }
        indptr[i + 1] = filled;
    }
}

// All columns by place; `indptr`, where each begins, is counted by the caller.
template <typename T>
void columns_by_place(const CsrView<T>& x, const std::int32_t* place, const std::int64_t* indptr,
                      std::int32_t* indices, T* values) {
    std::vector<std::int64_t> next(indptr, indptr + x.n_columns);
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const Row<T> row = x.row(i);
        for (std::int64_t k = 0; k < row.size; ++k) {
            const std::int64_t at = next[place[row.indices[k]]]++;
            indices[at] = std::int32_t(i);
            values[at] = row.values[k];
        }
    }
}

}  // namespace widemargin
