// The rows of a matrix as one label sees them, in double precision, and what LabelBlock
// (linear/label_blocks.hpp) needs of them: PlainRows are those of the matrix, the same for all labels;
// FactoredRows have the label's own factors on the columns (linear/label_weighted.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"
#include "sparse/shared_rows.hpp"

namespace widemargin {

template <typename T>
class PlainRows {
  public:
    using Value = T;
    static constexpr bool kFactors = false;
    static constexpr std::int64_t kStride = kLanes;  // numbers of a feature in LanePass::w

    explicit PlainRows(const SharedRows<T>& shared) : shared_(&shared) {}

    double dot(std::int64_t i, const double* w) const { return shared_->x.row(i).dot(w); }
    void add(std::int64_t i, double step, double* w) const { shared_->x.row(i).axpy(step, w); }
    double squared_norm(std::int64_t i) const { return shared_->squared_norms[i]; }
    double mean_squared_norm() const { return shared_->mean_squared_norm; }
    // The score of row i, from the sum of its values times their weights.
    double scaled(std::int64_t, double score) const { return score; }
    // Of the first n weights.
    double squared_weights(const std::vector<double>& w, std::int64_t n) const {
        double sum = 0;
        for (std::int64_t j = 0; j < n; ++j) sum += w[j] * w[j];
        return sum;
    }
    void fill_lane(int, float*, float*) const {}

  private:
    const SharedRows<T>* shared_;
};

// Row i is x_i f / |x_i f|; a row without columns that count is empty. Instead of the weights w of these
// rows, v = f w is kept, so that a row is multiplied by v without its factors.
template <typename T>
class FactoredRows {
  public:
    using Value = T;
    static constexpr bool kFactors = true;
    static constexpr std::int64_t kStride = 2 * kLanes;

    // squared_factors: of renumbered columns; scales: 1 / |x_i f|, or 0 for an empty row
    FactoredRows(const SharedRows<T>& shared, std::vector<float> squared_factors, std::vector<double> scales)
        : shared_(&shared), squared_factors_(std::move(squared_factors)), scales_(std::move(scales)) {}

    double dot(std::int64_t i, const double* v) const { return scales_[i] * shared_->x.row(i).dot(v); }
    void add(std::int64_t i, double step, double* v) const {
        if (scales_[i] == 0) return;  // the step may be infinite
        const Row<T> row = shared_->x.row(i);
        const float* const f2 = squared_factors_.data();
        const double scaled_step = scales_[i] * step;
        for (std::int64_t k = 0; k < row.size; ++k) {
            const std::int32_t j = row.indices[k];
            v[j] += scaled_step * double(row.values[k]) * double(f2[j]);
        }
    }
    double squared_norm(std::int64_t i) const { return scales_[i] > 0 ? 1.0 : 0.0; }
    double mean_squared_norm() const { return 1.0; }
    double scaled(std::int64_t i, double score) const { return scales_[i] * score; }
    // Of w = v / f; the weight after the last column is that of the bias feature, which has no factor.
    double squared_weights(const std::vector<double>& v, std::int64_t n) const {
        double sum = 0;
        const std::int64_t d = shared_->x.n_columns;
        for (std::int64_t j = 0; j < d; ++j) {
            if (v[j] != 0) sum += v[j] * v[j] / double(squared_factors_[j]);
        }
        return n > d ? sum + v[d] * v[d] : sum;
    }
    // The label's lane of the squared factors in LanePass::w, and of LanePass::scales.
    void fill_lane(int lane, float* w, float* scales) const {
        const std::int64_t n = shared_->x.n_rows, d = shared_->x.n_columns;
        for (std::int64_t j = 0; j < d; ++j) w[j * kStride + kLanes + lane] = squared_factors_[j];
        w[d * kStride + kLanes + lane] = 1.0f;
        for (std::int64_t i = 0; i < n; ++i) scales[i * kLanes + lane] = static_cast<float>(scales_[i]);
    }

  private:
    const SharedRows<T>* shared_;
    std::vector<float> squared_factors_;
    std::vector<double> scales_;
};

// The rows as up to 16 labels see them; squared_factors is columns x n_labels.
template <typename T>
std::vector<FactoredRows<T>> factored_rows(const SharedRows<T>& shared, const float* squared_factors,
                                           std::int64_t n_labels, const std::int64_t* labels, int count) {
    const std::int64_t n = shared.x.n_rows, d = shared.x.n_columns;
    AlignedBuffer<float> lanes(d * kLanes);
    std::vector<std::vector<float>> of_label(count, std::vector<float>(d));
    for (std::int64_t j = 0; j < d; ++j) {
        const float* const from = squared_factors + j * n_labels;
        const std::int64_t column = shared.column_of[j];
        for (int lane = 0; lane < count; ++lane) {
            lanes[column * kLanes + lane] = of_label[lane][column] = from[labels[lane]];
        }
    }
    std::vector<std::vector<double>> scales(count, std::vector<double>(n));
    const LoopsOver<T>& loops = vector_loops().over<T>();
    double squares[kLanes];
    for (std::int64_t i = 0; i < n; ++i) {
        const Row<T> row = shared.x.row(i);
        loops.factored_squares(row.indices, row.values, row.size, lanes.data(), squares);
        for (int lane = 0; lane < count; ++lane) {
            const double length = std::sqrt(squares[lane]);
            // Too large for a number: NaN, which the caller of the core reports.
            const bool finite = length < std::numeric_limits<double>::infinity();
            scales[lane][i] = !finite       ? std::numeric_limits<double>::quiet_NaN()
                              : length == 0 ? 0.0
                                            : 1 / length;
        }
    }
    std::vector<FactoredRows<T>> rows;
    for (int lane = 0; lane < count; ++lane) {
        rows.emplace_back(shared, std::move(of_label[lane]), std::move(scales[lane]));
    }
    return rows;
}

}  // namespace widemargin
