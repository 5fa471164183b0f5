// Which terms each document has, and which documents have each term. A term is present if its value is above
// 0. Eight bytes for each positive value.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace widemargin {

class Presence {
  public:
    struct List {
        const std::int32_t *first, *last;
        const std::int32_t* begin() const { return first; }
        const std::int32_t* end() const { return last; }
    };

    template <typename T>
    explicit Presence(const CsrView<T>& x)
        : n_rows(x.n_rows), n_columns(x.n_columns), row_start_(x.n_rows + 1), column_start_(x.n_columns + 1) {
        columns_.reserve(x.n_values());
        for (std::int64_t i = 0; i < n_rows; ++i) {
            const Row<T> row = x.row(i);
            for (std::int64_t k = 0; k < row.size; ++k) {
                if (!(row.values[k] > T(0))) continue;
                columns_.push_back(row.indices[k]);
                ++column_start_[row.indices[k] + 1];
            }
            row_start_[i + 1] = std::int64_t(columns_.size());
        }
        for (std::int64_t j = 0; j < n_columns; ++j) column_start_[j + 1] += column_start_[j];
        rows_.resize(columns_.size());
        std::vector<std::int64_t> next(column_start_.begin(), column_start_.end() - 1);
        for (std::int64_t i = 0; i < n_rows; ++i)
            for (const std::int32_t j : terms_of(i)) rows_[next[j]++] = std::int32_t(i);
    }

    List terms_of(std::int64_t row) const { return part(columns_, row_start_, row); }
    List rows_with(std::int64_t column) const { return part(rows_, column_start_, column); }
    std::int64_t n_values() const { return std::int64_t(columns_.size()); }

    const std::int64_t n_rows, n_columns;

  private:
    static List part(const std::vector<std::int32_t>& all, const std::vector<std::int64_t>& start,
                     std::int64_t k) {
        return {all.data() + start[k], all.data() + start[k + 1]};
    }

    std::vector<std::int64_t> row_start_, column_start_;
    std::vector<std::int32_t> columns_, rows_;
};

}  // namespace widemargin
