// An inverted index of documents of length 1, with bounds for the columns that many of them have.
//
// Columns stand in groups by the share of documents that have them. The columns of group 0 are rare: their
// postings are always read. The others hold most postings and little of the length of a document, and
// Cauchy-Schwarz bounds what they add to a cosine: for documents x and z, by |x_g| |z_g| in group g, where
// x_g are the columns of the group. So most of their postings need not be read (nearest.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace widemargin {

// Chosen on Reuters-21578: if rarer columns are bounded too, the bounds reject too few rows.
constexpr int kGroups = 3;
constexpr std::int64_t kOneIn[kGroups] = {0, 4, 2};  // group g > 0: columns of at least one in so many rows

struct Posting {
    std::int32_t row;
    float value;
};

class CosineIndex {
  public:
    static constexpr std::int64_t kStep = 16;  // so many numbers can be read from any place in `lengths`

    // Rows of length 1 or 0. `weights`: how often each row counts, or null; one of weight 0 is never found.
    CosineIndex(const CsrView<float>& rows, const double* weights)
        : rows_(rows), weights_(weights), begin_(rows.n_columns + 1, 0), group_(rows.n_columns, 0) {
        each_value([&](std::int64_t, std::int32_t column, float) { ++begin_[column + 1]; });
        for (std::int64_t j = 0; j < rows.n_columns; ++j) {
            for (int g = 1; g < kGroups; ++g)
                if (begin_[j + 1] * kOneIn[g] >= rows.n_rows) group_[j] = std::uint8_t(g);
            begin_[j + 1] += begin_[j];
        }
        postings_.resize(begin_[rows.n_columns]);
        for (int g = 1; g < kGroups; ++g) lengths_[g].assign(rows.n_rows + kStep, 0.0f);
        std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
        each_value([&](std::int64_t i, std::int32_t column, float value) {
            postings_[next[column]++] = {std::int32_t(i), value};
            if (group_[column]) lengths_[group_[column]][i] += value * value;
        });
        // Rounded up: a length adds up at most all columns of its row.
        for (int g = 1; g < kGroups; ++g) {
            for (std::int64_t i = 0; i < rows.n_rows; ++i) {
                const double rounding = 1 + 1e-7 * double(rows.indptr[i + 1] - rows.indptr[i] + 2);
                lengths_[g][i] = static_cast<float>(std::sqrt(double(lengths_[g][i])) * rounding);
            }
        }
    }

    const CsrView<float>& rows() const { return rows_; }
    double weight(std::int64_t i) const { return weights_ ? weights_[i] : 1.0; }
    int group(std::int32_t column) const { return group_[column]; }
    const Posting* begin(std::int32_t column) const { return postings_.data() + begin_[column]; }
    const Posting* end(std::int32_t column) const { return postings_.data() + begin_[column + 1]; }

    // The length of each row in the columns of group g > 0, at least.
    const float* lengths(int g) const { return lengths_[g].data(); }

    // What computing one cosine costs, in postings read.
    double exact_cost() const {
        return 20 + 1.5 * double(rows_.n_values()) / double(rows_.n_rows ? rows_.n_rows : 1);
    }

  private:
    template <class Work>
    void each_value(Work&& work) const {
        for (std::int64_t i = 0; i < rows_.n_rows; ++i) {
            if (weight(i) == 0) continue;
            const Row<float> row = rows_.row(i);
            for (std::int64_t k = 0; k < row.size; ++k)
                if (row.values[k] != 0) work(i, row.indices[k], row.values[k]);
        }
    }

    CsrView<float> rows_;
    const double* weights_;
    std::vector<std::int64_t> begin_;
    std::vector<std::uint8_t> group_;
    std::vector<Posting> postings_;
    std::vector<float> lengths_[kGroups];
};

}  // namespace widemargin
