// Associations of words: positive pointwise mutual information, and products with it.
//
// Problem: word i and context j (some of the words are contexts) of documents d with L_d different words,
//
//     g_ij = sum of 1 / L_d over the documents d that contain both,
//     M_ij = max(0, log(g_ij / (sum_j g_ij  s_j))),
//
// where s_j is the smoothed share of context j (Levy, Goldberg, Dagan, "Improving distributional similarity
// with lessons learned from word embeddings", TACL 3, 2015): how much more often than elsewhere context j is
// drawn if a document of word i is drawn, and then one of its words. Inputs: the columns of a CSR matrix of
// documents x words, the number of each word as a context, or -1, and log s_j. Outputs: products M X and
// M'(M X) with dense columns, for subspace iteration.
//
// M is kept row by row, in single precision; the rows of 64 words together. Its row i needs only the
// documents of word i and one number per context, which stay in the cache. Rows are divided among threads,
// and so are 16 dense columns at a time: a thread adds up all rows for its columns, in order, so results
// depend neither on the number of threads nor, but for the rounding of g_ij, on the order of documents.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "large_array.hpp"
#include "parallel.hpp"
#include "simd/loops.hpp"

namespace widemargin {

struct DocumentWords {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    std::int64_t n_documents, n_words;
};

struct Contexts {
    const std::int32_t* numbers;  // one per word; -1 for words that are none
    const double* log_shares;     // one per context
    std::int64_t size;
};

class Associations {
  public:
    template <class Poll>
    Associations(const DocumentWords& x, const Contexts& contexts, int n_threads, Poll&& poll)
        : n_words_(x.n_words), n_contexts_(contexts.size), groups_((x.n_words + kGroup - 1) / kGroup) {
        const Inverted inverted(x, contexts);
        run_each(
            std::int64_t(groups_.size()), n_threads,
            [&](int, std::int64_t g, const StopFlag& stop) {
                std::vector<double> together(n_contexts_, 0.0);
                for (std::int64_t i = g * kGroup; i < last(g) && !stop; ++i)
                    add_row(i, inverted, contexts.log_shares, together, groups_[g]);
                groups_[g].indices.shrink_to_fit();
                groups_[g].values.shrink_to_fit();
            },
            poll);
    }

    std::int64_t n_words() const { return n_words_; }
    std::int64_t n_contexts() const { return n_contexts_; }

    std::int64_t n_values() const {
        std::int64_t n = 0;
        for (const Group& group : groups_) n += std::int64_t(group.values.size());
        return n;
    }

    // out = M'(M x), both contexts x n.
    template <class Poll>
    void gram_times(const double* x, std::int64_t n, double* out, int n_threads, Poll&& poll) const {
        each_lanes(x, n, n_threads, poll, [&](const Lanes& lanes, const StopFlag& stop) {
            const LoopsOver<float>& loops = vector_loops().over<float>();
            std::vector<double> sums(n_contexts_ * kLanes, 0.0);
            alignas(64) double product[kLanes];
            each_row(stop,
                     [&](std::int64_t, const std::int32_t* indices, const float* values, std::int64_t size) {
                         loops.score_row(indices, values, size, NextRow{indices, 0}, lanes.x.data(), kLanes,
                                         kNoIntercept, kLanes, product);
                         loops.add_lanes(indices, values, size, product, sums.data());
                     });
            for (std::int64_t j = 0; j < n_contexts_; ++j)
                std::copy_n(sums.data() + j * kLanes, lanes.size, out + j * n + lanes.first);
        });
    }

    // out = M x, words x n.
    template <class Poll>
    void times(const double* x, std::int64_t n, double* out, int n_threads, Poll&& poll) const {
        each_lanes(x, n, n_threads, poll, [&](const Lanes& lanes, const StopFlag& stop) {
            const LoopsOver<float>& loops = vector_loops().over<float>();
            alignas(64) double product[kLanes];
            each_row(stop, [&](std::int64_t i, const std::int32_t* indices, const float* values,
                               std::int64_t size) {
                loops.score_row(indices, values, size, NextRow{indices, 0}, lanes.x.data(), kLanes,
                                kNoIntercept, kLanes, product);
                std::copy_n(product, lanes.size, out + i * n + lanes.first);
            });
        });
    }

  private:
    static constexpr std::int64_t kGroup = 64;
    static constexpr double kRounding = 1e-9;  // a logarithm that is smaller is 0 but for rounding

    // The rows of up to 64 words.
    struct Group {
        std::int64_t ends[kGroup] = {};
        std::vector<std::int32_t> indices;
        std::vector<float> values;
    };

    // The documents of every word, the contexts in every document, and 1 / L_d.
    struct Inverted {
        Inverted(const DocumentWords& x, const Contexts& contexts)
            : begins(x.n_words + 1, 0), documents(x.indptr[x.n_documents]), ends(x.n_documents + 1, 0) {
            for (std::int64_t k = 0; k < std::int64_t(documents.size()); ++k) ++begins[x.indices[k] + 1];
            for (std::int64_t i = 0; i < x.n_words; ++i) begins[i + 1] += begins[i];
            std::vector<std::int64_t> next(begins.begin(), begins.end() - 1);
            for (std::int64_t d = 0; d < x.n_documents; ++d) {
                for (std::int64_t k = x.indptr[d]; k < x.indptr[d + 1]; ++k) {
                    documents[next[x.indices[k]]++] = std::int32_t(d);
                    const std::int32_t context = contexts.numbers[x.indices[k]];
                    if (context >= 0) in_documents.push_back(context);
                }
                ends[d + 1] = std::int64_t(in_documents.size());
                shares.push_back(1.0 / double(std::max<std::int64_t>(x.indptr[d + 1] - x.indptr[d], 1)));
            }
        }

        std::vector<std::int64_t> begins;
        LargeArray<std::int32_t> documents;
        std::vector<std::int64_t> ends;
        LargeArray<std::int32_t> in_documents;
        std::vector<double> shares;
    };

    // 16 columns side by side, padded with zeros.
    struct Lanes {
        std::vector<double> x;  // contexts x 16
        std::int64_t first, size;
    };

    std::int64_t last(std::int64_t g) const { return std::min((g + 1) * kGroup, n_words_); }

    // `together` is all 0 before and after.
    void add_row(std::int64_t i, const Inverted& inverted, const double* log_shares,
                 std::vector<double>& together, Group& group) const {
        for (std::int64_t k = inverted.begins[i]; k < inverted.begins[i + 1]; ++k) {
            const std::int32_t d = inverted.documents[k];
            const double share = inverted.shares[d];
            for (std::int64_t c = inverted.ends[d]; c < inverted.ends[d + 1]; ++c)
                together[inverted.in_documents[c]] += share;
        }
        double sum = 0;
        for (const double g : together) sum += g;
        const double log_sum = sum > 0 ? std::log(sum) : 0;
        for (std::int64_t j = 0; j < n_contexts_; ++j) {
            if (together[j] == 0) continue;
            const double value = std::log(together[j]) - log_sum - log_shares[j];
            if (value > kRounding) {
                group.indices.push_back(std::int32_t(j));
                group.values.push_back(float(value));
            }
            together[j] = 0;
        }
        group.ends[i % kGroup] = std::int64_t(group.indices.size());
    }

    template <class Work>
    void each_row(const StopFlag& stop, Work&& work) const {
        for (std::int64_t g = 0; g < std::int64_t(groups_.size()) && !stop; ++g) {
            const Group& group = groups_[g];
            std::int64_t begin = 0;
            for (std::int64_t i = g * kGroup; i < last(g); ++i) {
                const std::int64_t end = group.ends[i % kGroup];
                work(i, group.indices.data() + begin, group.values.data() + begin, end - begin);
                begin = end;
            }
        }
    }

    template <class Work, class Poll>
    void each_lanes(const double* x, std::int64_t n, int n_threads, Poll&& poll, Work&& work) const {
        run_each((n + kLanes - 1) / kLanes, n_threads,
                 [&](int, std::int64_t part, const StopFlag& stop) {
                     Lanes lanes{std::vector<double>(n_contexts_ * kLanes, 0.0), part * kLanes, 0};
                     lanes.size = std::min<std::int64_t>(kLanes, n - lanes.first);
                     for (std::int64_t j = 0; j < n_contexts_; ++j)
                         std::copy_n(x + j * n + lanes.first, lanes.size, lanes.x.data() + j * kLanes);
                     work(lanes, stop);
                 },
                 poll);
    }

    std::int64_t n_words_, n_contexts_;
    std::vector<Group> groups_;
};

}  // namespace widemargin
