// Rows of several blocks that are visited together, as dual coordinate descent reads them: frequent columns
// first, in single precision for shared passes, with their norms, labels and weights.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simd/loops.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

// The labels of the rows of a block: columns of row i are columns[first[i]] up to columns[first[i + 1]].
struct RowLabels {
    const std::int64_t* first;
    const std::int32_t* columns;
    const double* weights;  // of the rows, or null
};

// Some rows of a block. What they view belongs to the caller, and stays where it is.
template <typename T>
class BlockRows {
  public:
    // x: the rows, their columns renumbered; which: their numbers within the block, ascending; known: of all
    // rows of the block
    BlockRows(const CsrView<T>& x, const std::int32_t* which, const RowLabels& known)
        : x(x), which(which), known(known) {
        if constexpr (sizeof(T) != sizeof(float)) single_values_.assign(x.values, x.values + x.n_values());
        squared_norms.reserve(x.n_rows);
        for (std::int64_t i = 0; i < x.n_rows; ++i) squared_norms.push_back(x.row(i).squared_norm());
    }

    RowPlace place(std::int64_t i) const {
        const std::int64_t begin = x.indptr[i];
        const float* values;
        if constexpr (sizeof(T) == sizeof(float)) {
            values = x.values;
        } else {
            values = single_values_.data();
        }
        return {x.indices + begin, values + begin, x.indptr[i + 1] - begin};
    }

    // Whether all rows that are marked are here. marks: of all rows of the block.
    bool hold(const std::uint8_t* marks, std::int64_t n_marks) const {
        std::int64_t i = 0;
        for (std::int64_t row = 0; row < n_marks; ++row) {
            const bool here = i < x.n_rows && which[i] == row;
            if (marks[row] && !here) return false;
            i += here;
        }
        return true;
    }

    CsrView<T> x;
    const std::int32_t* which;
    RowLabels known;
    std::vector<double> squared_norms;

  private:
    std::vector<float> single_values_;
};

template <typename T>
class RowBatch {
  public:
    void clear() {
        blocks.clear();
        which.clear();
        places.clear();
        values_.clear();
        squared_norms.clear();
        single_norms.clear();
        weights.clear();
        label_columns.clear();
        first_label.assign(1, 0);
    }

    // Adds the rows of a block that are marked.
    void append(std::int64_t block, const BlockRows<T>& rows, const std::uint8_t* marks) {
        const std::int64_t before = size();
        for (std::int64_t i = 0; i < rows.x.n_rows; ++i) {
            const std::int32_t row = rows.which[i];
            if (!marks[row]) continue;
            which.push_back(row);
            places.push_back(rows.place(i));
            if constexpr (sizeof(T) != sizeof(float)) values_.push_back(rows.x.values + rows.x.indptr[i]);
            squared_norms.push_back(rows.squared_norms[i]);
            single_norms.push_back(static_cast<float>(rows.squared_norms[i]));
            label_columns.insert(label_columns.end(), rows.known.columns + rows.known.first[row],
                                 rows.known.columns + rows.known.first[row + 1]);
            first_label.push_back(static_cast<std::int64_t>(label_columns.size()));
            if (rows.known.weights) weights.push_back(rows.known.weights[row]);
        }
        blocks.push_back({block, before, size()});
    }

    // A block of which no row is needed.
    void skip(std::int64_t block) { blocks.push_back({block, size(), size()}); }

    std::int64_t size() const { return static_cast<std::int64_t>(which.size()); }
    Row<T> row(std::int64_t k) const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return {places[k].indices, places[k].values, places[k].size};
        } else {
            return {places[k].indices, values_[k], places[k].size};
        }
    }

    // The rows of one block, by their positions in the batch.
    struct Piece {
        std::int64_t block, begin, end;
    };
    std::vector<Piece> blocks;
    std::vector<std::int32_t> which;  // number within the block
    std::vector<RowPlace> places;     // in single precision
    std::vector<float> single_norms;
    std::vector<double> squared_norms, weights;  // no weights: all are 1
    std::vector<std::int64_t> first_label{0};
    std::vector<std::int32_t> label_columns;

  private:
    std::vector<const T*> values_;  // in double precision
};

}  // namespace widemargin
