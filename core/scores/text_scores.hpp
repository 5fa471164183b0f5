// Texts to scores of linear rules in one pass: no matrix of all documents is made.
//
// For a few documents at a time, every block of terms is counted (text/counting.hpp) and weighted
// (text/weighing.hpp), the blocks are put side by side in one row, some columns are dropped, and the row is
// scored (sparse/scoring.hpp). Every step computes what it computes alone, in the same precision and order:
//
//   weights of a block     w_b = SMART weights of its counts, normalized, as float32
//   weights of a row       w_b * l_b / l, where l_b is the weight of block b (0 if w_b = 0) and l the length
//                          of (l_1, l_2, ...): its norm, the sum, or 1, as the normalization says
//   scores                 sum of weights[column] * value + intercept
//
// Rows do not depend on each other, so that results do not depend on threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "simd/loops.hpp"
#include "text/counting.hpp"
#include "text/weighing.hpp"

namespace widemargin {

// How counts become rows, and rows scores. weights: columns x labels. Arrays by term are null if there is
// nothing to multiply or to drop.
struct TextRules {
    DocumentComponent document = DocumentComponent::binary;
    Normalization normalization = Normalization::none;
    bool counts_only = false;               // rows are counts, which are not weighted
    const double* collection = nullptr;     // factors of the terms
    const std::int64_t* first = nullptr;    // the first term of every block
    const double* block_weights = nullptr;  // one per block; null if the only block is the row
    const std::int32_t* place = nullptr;    // the column of every term, ascending; -1: dropped
    const double* place_factors = nullptr;  // of the columns that are left
    const double* weights = nullptr;
    const double* intercept = nullptr;
};

// One block of terms: where it finds which terms. Blocks without terms are left out.
template <class Index>
struct TextBlock {
    const std::vector<TextView>* texts = nullptr;
    const TextRule* rule = nullptr;
    const Index* index = nullptr;
    const TokenMap* values = nullptr;
    const ConceptMap* concepts = nullptr;
};

// What one thread keeps from document to document.
template <class Index>
class TextScorer {
  public:
    // Most documents that are counted before they are scored. Many, since the tables of the terms and the
    // weights do not fit in the cache together; the counts of so many documents take about a megabyte.
    static constexpr std::int64_t kAtOnce = 2048;

    TextScorer(const TextRules& rules, std::int64_t n_labels, const std::vector<TextBlock<Index>>& blocks,
               bool many)
        : rules_(rules), n_labels_(n_labels), lengths_(blocks.size()) {
        parts_.reserve(blocks.size());
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const double* factors = rules.collection ? rules.collection + rules.first[b] : nullptr;
            parts_.emplace_back(blocks[b], Weigher(rules.document, factors, rules.normalization), many);
        }
    }

    // The documents from `begin` to `end`; scores: all documents x labels.
    void score(std::int64_t begin, std::int64_t end, double* scores) {
        std::size_t most = 0;
        for (Part& part : parts_) {
            part.count(begin, end);
            most += part.indices.size();
        }
        if (most > values_.size()) {
            values_.resize(most);
            indices_.resize(most);
        }
        indptr_.assign(1, 0);
        for (std::int64_t d = 0; d < end - begin; ++d) indptr_.push_back(add_row(d, indptr_.back()));
        const LoopsOver<float>& loops = vector_loops().over<float>();
        for (std::int64_t d = 0; d < end - begin; ++d) {
            const std::int64_t at = indptr_[d], next = std::min(d + 1, end - begin - 1);
            const NextRow ahead{indices_.data() + indptr_[next], indptr_[next + 1] - indptr_[next]};
            loops.score_row(indices_.data() + at, values_.data() + at, indptr_[d + 1] - at, ahead,
                            rules_.weights, n_labels_, rules_.intercept, n_labels_,
                            scores + (begin + d) * n_labels_);
        }
    }

  private:
    // The counts of one block in a few documents.
    struct Part {
        Part(const TextBlock<Index>& block, const Weigher& weigher, bool many)
            : block(block),
              weigher(weigher),
              normalizer(block.rule->tokens),
              tokenizer(block.rule->tokens),
              counter(*block.index, block.rule->ngrams, many) {}

        void count(std::int64_t begin, std::int64_t end) {
            const WordMap map{*block.values, block.concepts};
            for (std::int64_t d = begin; d < end; ++d) {
                normalizer.read((*block.texts)[d]);
                push_text(normalizer, tokenizer, block.rule->kind, *block.index, map, counter);
                counter.end_document(piece);
            }
            indptr.assign(end - begin + 1, 0);
            indices.resize(piece.non_zeros());
            counts.resize(piece.non_zeros());
            piece.release(0, indptr.data(), indices.data(), counts.data());
        }

        TextBlock<Index> block;
        Weigher weigher;
        Normalizer normalizer;
        Tokenizer tokenizer;
        OccurrenceCounter<Index> counter;
        RowPiece piece;
        std::vector<std::int64_t> indptr;
        std::vector<std::int32_t> indices, counts;
    };

    // Writes a row from `start` on; returns its end.
    std::int64_t add_row(std::int64_t d, const std::int64_t start) {
        std::int64_t end = start;
        for (std::size_t b = 0; b < parts_.size(); ++b) {
            Part& part = parts_[b];
            const std::int64_t from = part.indptr[d], size = part.indptr[d + 1] - from;
            const std::int32_t *const terms = part.indices.data() + from, *counts = part.counts.data() + from;
            if (rules_.counts_only)
                std::copy(counts, counts + size, values_.data() + end);
            else
                part.weigher.row(terms, counts, size, values_.data() + end);
            const auto first = static_cast<std::int32_t>(rules_.first[b]);
            for (std::int64_t k = 0; k < size; ++k) indices_[end + k] = terms[k] + first;
            end += size;
        }
        if (rules_.block_weights && !rules_.counts_only) scale_blocks(d, start);
        return rules_.place ? drop_columns(start, end) : end;
    }

    // Every block is as long as its weight, before the row is normalized.
    void scale_blocks(std::int64_t d, const std::int64_t start) {
        double squares = 0, sum = 0;
        const float* at = values_.data() + start;
        for (std::size_t b = 0; b < parts_.size(); ++b) {
            const float* const end = at + size_of(b, d);
            const bool some = std::any_of(at, end, [](float value) { return value != 0; });
            lengths_[b] = some ? rules_.block_weights[b] : 0;
            squares += lengths_[b] * lengths_[b];
            sum += lengths_[b];
            at = end;
        }
        const double whole = rules_.normalization == Normalization::length_2   ? std::sqrt(squares)
                             : rules_.normalization == Normalization::length_1 ? sum
                                                                               : 1.0;
        float* value = values_.data() + start;
        for (std::size_t b = 0; b < parts_.size(); ++b) {
            const auto scale = static_cast<float>(whole > 0 ? lengths_[b] / whole : 0.0);
            for (const float* const end = value + size_of(b, d); value < end; ++value) *value *= scale;
        }
    }

    std::int64_t size_of(std::size_t b, std::int64_t d) const {
        return parts_[b].indptr[d + 1] - parts_[b].indptr[d];
    }

    std::int64_t drop_columns(const std::int64_t start, const std::int64_t end) {
        std::int64_t to = start;
        for (std::int64_t k = start; k < end; ++k) {
            const std::int32_t column = rules_.place[indices_[k]];
            if (column < 0) continue;
            indices_[to] = column;
            values_[to] = values_[k];
            if (rules_.place_factors) values_[to] *= static_cast<float>(rules_.place_factors[column]);
            ++to;
        }
        return to;
    }

    TextRules rules_;
    std::int64_t n_labels_;
    std::vector<Part> parts_;
    std::vector<double> lengths_;
    std::vector<std::int64_t> indptr_;
    std::vector<std::int32_t> indices_;
    std::vector<float> values_;
};

// scores: documents x labels. `run` as in text/counting.hpp.
template <class Index, class Run>
void score_texts(const TextRules& rules, std::int64_t n_labels, const std::vector<TextBlock<Index>>& blocks,
                 std::int64_t n_documents, double* scores, int n_threads, Run&& run) {
    std::int64_t length = 0, n_columns = 0;
    for (const TextBlock<Index>& block : blocks) {
        for (const TextView& text : *block.texts) length += text.length;
        n_columns += block.index->n_columns();
    }
    const bool many = length / n_threads >= n_columns;
    // Several pieces for every thread, so that threads end together.
    const std::int64_t pieces = n_threads == 1 ? 1 : 3 * n_threads;
    const std::int64_t piece =
        std::clamp<std::int64_t>((n_documents + pieces - 1) / pieces, 1, TextScorer<Index>::kAtOnce);
    Pieces work(n_documents, piece);
    run([&](int, const StopFlag& stop) {
        TextScorer<Index> scorer(rules, n_labels, blocks, many);
        for (std::int64_t begin, end; !stop && work.next(begin, end);) scorer.score(begin, end, scores);
    });
}

}  // namespace widemargin
