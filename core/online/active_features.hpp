// The features that a batch of documents uses, for learners that copy only these (online/state_blocks.hpp).
//
// A batch uses few of all features, a document a few dozen. Feature numbers are replaced by positions among
// the features in use, so that the state of a batch is as small as the batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sparse/column_order.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

// Which features to include. kAll: also those without a value in the batch. kByFrequency: all, the most
// frequent first. This pays off if rows are visited often, since the weights in use then share cache lines
// and pages.
enum class Features { kUsed, kAll, kByFrequency };

// Feature numbers: a list, or all from 0 on without a list.
class FeatureList {
  public:
    static FeatureList first(std::int64_t n) {
        FeatureList list;
        list.size_ = n;
        list.is_everything_ = true;
        return list;
    }
    void assign(std::vector<std::int32_t>&& features) {
        features_ = std::move(features);
        size_ = static_cast<std::int64_t>(features_.size());
    }

    std::int64_t size() const { return size_; }
    // Whether feature j is at position j.
    bool is_everything() const { return is_everything_; }
    std::int32_t operator[](std::int64_t place) const {
        return is_everything_ ? static_cast<std::int32_t>(place) : features_[place];
    }

  private:
    std::vector<std::int32_t> features_;
    std::int64_t size_ = 0;
    bool is_everything_ = false;
};

// The features with a value in some row of x (or all: on request, and if most have one), and for every value
// the position of its feature among them. With a bias feature, feature n_columns comes last.
template <typename T>
class ActiveFeatures {
  public:
    ActiveFeatures(const CsrView<T>& x, bool with_bias, Features which) : n_columns(x.n_columns) {
        std::vector<std::int32_t> found;
        // The features of a few documents are sorted; for more documents, one mark per feature is faster.
        if (which == Features::kUsed) found = x.n_values() < x.n_columns / 32 ? sorted(x) : marked(x);
        if (which == Features::kByFrequency) found = ordered_by_frequency(x);
        if (which == Features::kAll ||
            (which == Features::kUsed && std::int64_t(found.size()) > x.n_columns / 2)) {
            rows = x;
            bias_row = x.n_columns;
            features = FeatureList::first(x.n_columns + with_bias);
            return;
        }
        bias_row = static_cast<std::int64_t>(found.size());
        rows = {x.indptr, places_.data(), x.values, x.n_rows, bias_row};
        if (with_bias) found.push_back(static_cast<std::int32_t>(x.n_columns));
        features.assign(std::move(found));
    }
    ActiveFeatures(const ActiveFeatures&) = delete;  // `rows` points into it

    std::int64_t size() const { return features.size(); }

    FeatureList features;
    std::int64_t n_columns;  // of x
    CsrView<T> rows;         // x with places instead of feature numbers
    std::int64_t bias_row;   // position of the bias feature

  private:
    std::vector<std::int32_t> sorted(const CsrView<T>& x) {
        const std::int64_t n_values = x.n_values();
        std::vector<std::int32_t> features(x.indices, x.indices + n_values);
        std::sort(features.begin(), features.end());
        features.erase(std::unique(features.begin(), features.end()), features.end());
        places_.resize(n_values);
        for (std::int64_t k = 0; k < n_values; ++k) {
            places_[k] = static_cast<std::int32_t>(
                std::lower_bound(features.begin(), features.end(), x.indices[k]) - features.begin());
        }
        return features;
    }

    std::vector<std::int32_t> marked(const CsrView<T>& x) {
        const std::int64_t n_values = x.n_values();
        std::vector<std::int32_t> features, place(x.n_columns, -1);
        for (std::int64_t k = 0; k < n_values; ++k) place[x.indices[k]] = 0;
        for (std::int64_t column = 0; column < x.n_columns; ++column) {
            if (place[column] < 0) continue;
            place[column] = static_cast<std::int32_t>(features.size());
            features.push_back(static_cast<std::int32_t>(column));
        }
        fill_places(x, place);
        return features;
    }

    std::vector<std::int32_t> ordered_by_frequency(const CsrView<T>& x) {
        ColumnOrder order = order_by_frequency(x, true);
        fill_places(x, order.place);
        return std::move(order.columns);
    }

    void fill_places(const CsrView<T>& x, const std::vector<std::int32_t>& place) {
        const std::int64_t n_values = x.n_values();
        places_.resize(n_values);
        for (std::int64_t k = 0; k < n_values; ++k) places_[k] = place[x.indices[k]];
    }

    std::vector<std::int32_t> places_;
};

// How to lay out the features of a batch for this number of passes. A fresh state is used in place: taking
// all of it costs nothing, and no search for the features in use is needed.
template <typename T>
Features choose_features(const CsrView<T>& x, std::int64_t passes, bool all, bool fresh) {
    const bool dense = x.n_values() >= x.n_columns;
    if (passes >= 8 && dense) return Features::kByFrequency;
    return all || (fresh && dense) ? Features::kAll : Features::kUsed;
}

}  // namespace widemargin
