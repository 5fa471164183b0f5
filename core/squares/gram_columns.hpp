// A sparse matrix by rows and by columns, its columns in another order and those of one value set apart.
//
// For products with Z Z': a column with one value adds to the diagonal alone, own_i = sum z_ij^2 over such
// columns. Column j goes to place[j]; places below n_shared are columns of several values.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace widemargin {

// The matrix of the columns of several values by rows (its columns in no order within a row), and `own`.
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

// All columns by place, whose beginnings `indptr` the caller has counted.
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
