// Rows of several blocks that are visited together, as dual coordinate descent reads them: frequent columns
// first, in single precision for shared passes, with their norms, labels and weights.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace widemargin {

// The labels of the rows of a block: columns of row i are columns[first[i]] up to columns[first[i + 1]].
struct RowLabels {
    const std::int64_t* first;
    const std::int32_t* columns;
    const double* weights;  // of the rows, or null
};

template <typename T>
class RowBatch {
  public:
    // Without rows, but with room for so many and their values.
    void clear(std::int64_t n_rows, std::int64_t n_values) {
        const auto empty = [](auto& values, std::int64_t room) {
            values.clear();
            values.reserve(room);
        };
        blocks.clear();
        weights.clear();
        label_columns.clear();
        empty(which, n_rows);
        empty(indptr, n_rows + 1);
        empty(first_label, n_rows + 1);
        empty(squared_norms, n_rows);
        empty(single_norms, n_rows);
        empty(indices, n_values);
        empty(values, n_values);
        empty(single_values, sizeof(T) == sizeof(float) ? 0 : n_values);
        indptr.push_back(0);
        first_label.push_back(0);
    }

    // Adds rows of a block. x: these rows, their columns renumbered; which: their numbers within the block,
    // ascending; known: of all rows of the block.
    void append(std::int64_t block, const CsrView<T>& x, const std::int32_t* which, const RowLabels& known) {
        const std::int64_t nnz = x.n_values(), before = indptr.back();
        blocks.push_back({block, size(), size() + x.n_rows});
        for (std::int64_t i = 0; i < x.n_rows; ++i) {
            const std::int32_t row = which[i];
            this->which.push_back(row);
            indptr.push_back(before + x.indptr[i + 1]);
            label_columns.insert(label_columns.end(), known.columns + known.first[row],
                                 known.columns + known.first[row + 1]);
            first_label.push_back(static_cast<std::int64_t>(label_columns.size()));
            if (known.weights) weights.push_back(known.weights[row]);
            squared_norms.push_back(x.row(i).squared_norm());
            single_norms.push_back(static_cast<float>(squared_norms.back()));
        }
        indices.insert(indices.end(), x.indices, x.indices + nnz);
        values.insert(values.end(), x.values, x.values + nnz);
        if constexpr (sizeof(T) != sizeof(float)) {
            single_values.insert(single_values.end(), x.values, x.values + nnz);
        }
    }

    // A block of which no row is needed.
    void skip(std::int64_t block) { blocks.push_back({block, size(), size()}); }

    std::int64_t size() const { return static_cast<std::int64_t>(which.size()); }
    Row<T> row(std::int64_t k) const {
        return {indices.data() + indptr[k], values.data() + indptr[k], indptr[k + 1] - indptr[k]};
    }
    const float* values32() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return values.data();
        } else {
            return single_values.data();
        }
    }

    // The rows of one block, by their positions in the batch.
    struct Piece {
        std::int64_t block, begin, end;
    };
    std::vector<Piece> blocks;
    std::vector<std::int32_t> which;  // number within the block
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<T> values;
    std::vector<float> single_values, single_norms;
    std::vector<double> squared_norms, weights;  // no weights: all are 1
    std::vector<std::int64_t> first_label{0};
    std::vector<std::int32_t> label_columns;
};

}  // namespace widemargin
