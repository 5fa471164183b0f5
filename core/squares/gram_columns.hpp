// A sparse matrix by rows and by columns, its columns in another order and those of one value set apart.
//
// For products with Z Z': a column with one value adds to the diagonal alone, own_i = sum z_ij^2 over such
// columns. Column j goes to place[j]; places below n_shared are columns of several values. `across` is the
// matrix of those by rows (its columns in no order within a row), `down` all columns by place, whose
// beginnings down_indptr the caller has counted.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace widemargin {

template <typename T>
struct OrderedColumns {
    std::int64_t* across_indptr;
    std::int32_t* across_indices;
    T* across_values;
    const std::int64_t* down_indptr;
    std::int32_t* down_indices;
    T* down_values;
    double* own;
};

template <typename T>
void order_columns(const CsrView<T>& x, const std::int32_t* place, std::int64_t n_shared,
                   const OrderedColumns<T>& out) {
    std::vector<std::int64_t> next(out.down_indptr, out.down_indptr + x.n_columns);
    std::int64_t filled = 0;
    out.across_indptr[0] = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const Row<T> row = x.row(i);
        double own = 0.0;
        for (std::int64_t k = 0; k < row.size; ++k) {
            const std::int32_t to = place[row.indices[k]];
            const std::int64_t at = next[to]++;
            out.down_indices[at] = std::int32_t(i);
            out.down_values[at] = row.values[k];
            if (to < n_shared) {
                out.across_indices[filled] = to;
                out.across_values[filled++] = row.values[k];
            } else {
                own += double(row.values[k]) * double(row.values[k]);
            }
        }
        out.across_indptr[i + 1] = filled;
        out.own[i] = own;
    }
}

}  // namespace widemargin
