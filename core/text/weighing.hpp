// SMART weights of a CSR matrix of counts, one row at a time (Joachims 2000, Table 2.1).
//
// weight = document component (of the count) * collection component (given per column) * normalization.
// Each row is computed in double precision and rounded once. A row whose norm is zero stays zero.
//
// In a stream, the collection component of a document is that of a collection that ends with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace widemargin {

enum class DocumentComponent : uint8_t { binary, term_frequency, augmented, logarithmic, square_root };
enum class Normalization : uint8_t { none, length_2, length_1 };

class Weigher {
  public:
    // `collection` has one factor per column, or is null for none.
    Weigher(DocumentComponent document, const double* collection, Normalization normalization)
        : document_(document), collection_(collection), normalization_(normalization) {
        for (int tf = 0; tf < kKnown; ++tf) known_[tf] = component(tf, 1);
    }

    void row(const int32_t* columns, const int32_t* counts, int64_t n, float* weights) {
        row_.resize(n);
        if (document_ == DocumentComponent::augmented) {
            const int32_t most = n ? *std::max_element(counts, counts + n) : 1;
            for (int64_t i = 0; i < n; ++i) row_[i] = component(counts[i], most);
        } else {
            for (int64_t i = 0; i < n; ++i)
                row_[i] =
                    uint32_t(counts[i]) < uint32_t(kKnown) ? known_[counts[i]] : component(counts[i], 1);
        }
        if (collection_)
            for (int64_t i = 0; i < n; ++i) row_[i] *= collection_[columns[i]];
        const double norm = norm_of(n);
        const double scale = norm != 0 ? 1 / norm : 0;
        for (int64_t i = 0; i < n; ++i) weights[i] = static_cast<float>(row_[i] * scale);
    }

  private:
    static constexpr int kKnown = 64;  // components of small counts, the most common ones, are computed once

    double component(int32_t tf, int32_t most) const {
        if (tf <= 0) return 0;
        switch (document_) {
            case DocumentComponent::binary:
                return 1;
            case DocumentComponent::term_frequency:
                return tf;
            case DocumentComponent::augmented:
                return 0.5 + 0.5 * tf / most;
            case DocumentComponent::logarithmic:
                return 1 + std::log(static_cast<double>(tf));
            case DocumentComponent::square_root:
                return std::sqrt(static_cast<double>(tf));
        }
        return 0;
    }

    double norm_of(int64_t n) const {
        double sum = 0;
        switch (normalization_) {
            case Normalization::none:
                return 1;
            case Normalization::length_2:
                for (int64_t i = 0; i < n; ++i) sum += row_[i] * row_[i];
                return std::sqrt(sum);
            case Normalization::length_1:
                // Absolute values, since probabilistic frequencies can be negative and their plain sum near
                // zero.
                for (int64_t i = 0; i < n; ++i) sum += std::abs(row_[i]);
                return sum;
        }
        return 1;
    }

    DocumentComponent document_;
    const double* collection_;
    Normalization normalization_;
    double known_[kKnown];
    std::vector<double> row_;
};

// Collection components that change from row to row.
class RunningFactors {
  public:
    // frequencies: of the terms in the n_documents rows so far, counted on. probabilistic: log((N - DF) / DF)
    // instead of log(N / DF).
    RunningFactors(bool probabilistic, double power, int64_t n_documents, int64_t* frequencies)
        : probabilistic_(probabilistic), power_(power), n_(n_documents), frequencies_(frequencies) {}

    // Adds a row to the collection; `factors` gets one number for each of its columns.
    void row(const int32_t* columns, int64_t size, double* factors) {
        const auto n = static_cast<double>(++n_);
        for (int64_t k = 0; k < size; ++k) {
            const auto df = static_cast<double>(++frequencies_[columns[k]]);
            const double ratio = (probabilistic_ ? n - df : n) / df;
            const double log = ratio > 0 ? std::log(ratio) : 0.0;
            factors[k] = power_ == 1 ? log : std::copysign(std::pow(std::abs(log), power_), log);
        }
    }

  private:
    bool probabilistic_;
    double power_;
    int64_t n_;
    int64_t* frequencies_;
};

}  // namespace widemargin
