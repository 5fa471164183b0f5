// The sums of the rows of each label: the product Y' X of an indicator of labels and a sparse matrix.
//
// Problem: sums[l][t] = sum over the rows i of label l of c_i x_it, as sparse rows with sorted columns. Naive
// Bayes counts terms with it (joachims (2.19)). Inputs: a CSR matrix of documents, for each label the rows of
// its documents, concatenated, a weight for each row, or none, and where there is room for the sums of each
// label: the number of its values, or of all columns, is always enough. Outputs: columns, sums, and where
// those of each label end. The sums of a label stay in the cache, and are added in the order of its rows, so
// they do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

struct LabelRows {
    std::int64_t n_labels;
    const std::int64_t* indptr;
    const std::int32_t* rows;
};

struct TermSums {
    std::int64_t* places;  // labels x 2: where the room of each label begins, and where its sums end
    std::int32_t* indices;
    double* values;
};

// Sums of one label: all columns, and which blocks of 64 columns may have any.
class SumOfRows {
  public:
    explicit SumOfRows(std::int64_t n_columns)
        : sums_((n_columns / 64 + 1) * 64, 0.0), touched_(n_columns / 64 + 1, 0) {}

    template <typename T>
    void add(const Row<T>& row, double weight) {
        for (std::int64_t j = 0; j < row.size; ++j) {
            const std::int32_t column = row.indices[j];
            sums_[column] += weight * double(row.values[j]);
            touched_[column >> 6] = 1;
        }
    }

    // Writes columns and sums other than 0 in order, and returns how many; all sums are 0 again afterwards.
    std::int64_t take(std::int32_t* indices, double* values) {
        std::int64_t size = 0;
        for (std::size_t block = 0; block < touched_.size(); ++block) {
            if (!touched_[block]) continue;
            for (std::size_t column = 64 * block; column < 64 * block + 64; ++column) {
                if (sums_[column] == 0.0) continue;
                indices[size] = std::int32_t(column);
                values[size++] = sums_[column];
                sums_[column] = 0.0;
            }
            touched_[block] = 0;
        }
        return size;
    }

  private:
    std::vector<double> sums_;
    std::vector<std::uint8_t> touched_;
};

// `row_weights` may be null: every row then counts once.
template <typename T, class Poll>
void sums_by_label(const CsrView<T>& x, const LabelRows& labels, const double* row_weights,
                   const TermSums& sums, int n_threads, Poll&& poll) {
    Pieces pieces(labels.n_labels, 1);
    run_work(
        static_cast<int>(std::max<std::int64_t>(std::min<std::int64_t>(n_threads, labels.n_labels), 1)),
        x.n_values(), 100000,
        [&](int, const StopFlag& stop) {
            SumOfRows sum(x.n_columns);
            pieces.each(stop, [&](std::int64_t label) {
                for (std::int64_t k = labels.indptr[label]; k < labels.indptr[label + 1]; ++k) {
                    const std::int32_t i = labels.rows[k];
                    sum.add(x.row(i), row_weights ? row_weights[i] : 1.0);
                }
                const std::int64_t begin = sums.places[2 * label];
                sums.places[2 * label + 1] = begin + sum.take(sums.indices + begin, sums.values + begin);
            });
        },
        poll);
}

}  // namespace widemargin
