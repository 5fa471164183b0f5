// The passes over a collection: distinct tokens, then counts of n-grams; or counts of known terms at once.
//
// `run(task)` everywhere calls task(thread, stop) for each of n_threads threads, see parallel.hpp. Documents
// are handed out in pieces; which thread gets which changes nothing in the results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "ngram_terms.hpp"
#include "ngrams.hpp"
#include "normalizer.hpp"
#include "occurrences.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "text_view.hpp"
#include "tokenizer.hpp"
#include "units.hpp"
#include "vocabulary.hpp"

namespace widemargin {

// How a text becomes units, and units n-grams.
struct TextRule {
    UnitKind kind = UnitKind::words;
    TokenRule tokens;
    NgramRule ngrams;
};

// Enough pieces that no thread waits long for the last one.
inline constexpr int64_t kPiecesPerThread = 24;

// The texts as sequences of token numbers, and all distinct tokens sorted.
class TokenPass {
  public:
    template <class Run>
    TokenPass(const std::vector<TextView>& texts, const TokenRule& rule, int n_threads, Run&& run) {
        const std::vector<int64_t> begins = cut(texts, kPiecesPerThread * n_threads);
        pieces.resize(begins.size() - 1);
        std::vector<TokenTable> tables(n_threads);
        Pieces work(static_cast<int64_t>(pieces.size()), 1);
        run([&](int thread, const StopFlag& stop) {
            Normalizer normalizer(rule.alphabet);
            Tokenizer tokenizer(rule);
            for (int64_t p, end; work.next(p, end);) {
                Piece& piece = pieces[p];
                piece.owner = thread;
                piece.first_row = begins[p];
                for (int64_t d = begins[p]; d < begins[p + 1]; ++d) {
                    if (stop) return;
                    normalizer.read(texts[d]);
                    const size_t before = piece.tokens.size();
                    add_tokens(normalizer, tokenizer, tables[thread], piece.tokens);
                    piece.lengths.push_back(static_cast<uint32_t>(piece.tokens.size() - before));
                }
            }
        });
        std::vector<std::vector<SortableToken>> sorted(n_threads);
        run([&](int thread, const StopFlag&) { sorted[thread] = sorted_tokens(tables[thread]); });
        distinct = merge_tokens(sorted, ranks);
    }

    struct Piece {
        int64_t first_row = 0;
        int owner = 0;
        std::vector<uint32_t> tokens;   // numbers of the owner's table
        std::vector<uint32_t> lengths;  // tokens in each document
    };

    // Appends the numbers of a text's tokens.
    static void add_tokens(const Normalizer& text, Tokenizer& tokenizer, TokenTable& table,
                           std::vector<uint32_t>& numbers) {
        tokenizer.read(text, [&](const Token* tokens, size_t n) {
            for (size_t i = 0; i < n; ++i) table.fetch(tokens[i]);
            const size_t before = numbers.size();
            numbers.resize(before + n);
            for (size_t i = 0; i < n; ++i) numbers[before + i] = table.add(tokens[i]);
        });
    }

    Strings distinct;
    std::vector<std::vector<uint32_t>> ranks;  // by owner and number: the place in `distinct`
    std::vector<Piece> pieces;
};

// A collection's counts: rows that know their terms.
class CollectionCounts {
  public:
    // Words. unit_of[place in pass.distinct] is a unit's number or -1 (left out); `units` are sorted. Empties
    // the pass.
    template <class Run>
    CollectionCounts(TokenPass& pass, Strings units, const std::vector<int32_t>& unit_of,
                     const NgramRule& rule, bool totals, int n_threads, Run&& run)
        : terms_(Strings(), {}, rule) {
        std::vector<NgramCounter> counters = make_counters(rule, units.size(), totals, n_threads);
        // Within the counters, units are numbered as they first appear: frequent ones are neighbors then, and
        // stay in the cache.
        std::vector<uint32_t> number_of(units.size(), kNone), rank_of;
        std::vector<std::vector<uint32_t>> units_of(pass.ranks.size());
        size_t most = 0;
        for (size_t t = 0; t < units_of.size(); ++t) {
            units_of[t].assign(pass.ranks[t].size(), kNone);
            most = std::max(most, pass.ranks[t].size());
        }
        for (size_t i = 0; i < most; ++i)
            for (size_t t = 0; t < units_of.size(); ++t) {
                if (i >= pass.ranks[t].size()) continue;
                const int32_t unit = unit_of[pass.ranks[t][i]];
                if (unit < 0) continue;
                if (number_of[unit] == kNone) {
                    number_of[unit] = static_cast<uint32_t>(rank_of.size());
                    rank_of.push_back(unit);
                }
                units_of[t][i] = number_of[unit];
            }
        for (size_t u = 0; u < number_of.size(); ++u)  // units that no token became
            if (number_of[u] == kNone) rank_of.push_back(static_cast<uint32_t>(u));
        terms_ = NgramTerms(std::move(units), std::move(rank_of), rule);
        count(pass.pieces.size(), counters, run, [&](int64_t p, NgramCounter& counter, const StopFlag& stop) {
            TokenPass::Piece& piece = pass.pieces[p];
            rows_.pieces[p].first_row = piece.first_row;
            const std::vector<uint32_t>& unit = units_of[piece.owner];
            const uint32_t* token = piece.tokens.data();
            for (const uint32_t length : piece.lengths) {
                if (stop) return;
                for (const uint32_t* end = token + length; token < end; ++token) {
                    if (unit[*token] != kNone) counter.push(unit[*token]);
                    if (counter.full()) counter.flush();
                }
                counter.end_document(rows_.pieces[p]);
            }
            piece = TokenPass::Piece();
        });
        terms_.merge(counters, totals, run);
    }

    // Characters.
    template <class Run>
    CollectionCounts(const std::vector<TextView>& texts, const TextRule& rule, bool totals, int n_threads,
                     Run&& run)
        : terms_(Strings(), {}, rule.ngrams) {
        std::vector<NgramCounter> counters =
            make_counters(rule.ngrams, unicode::kCodePoints, totals, n_threads);
        const std::vector<int64_t> begins = cut(texts, kPiecesPerThread * n_threads);
        count(begins.size() - 1, counters, run, [&](int64_t p, NgramCounter& counter, const StopFlag& stop) {
            Normalizer normalizer(rule.tokens.alphabet);
            Tokenizer tokenizer(rule.tokens);
            rows_.pieces[p].first_row = begins[p];
            for (int64_t d = begins[p]; d < begins[p + 1]; ++d) {
                if (stop) return;
                normalizer.read(texts[d]);
                if (rule.kind == UnitKind::characters) {
                    push_characters(normalizer, counter);
                } else {
                    push_characters_in_words(normalizer, tokenizer, counter);
                }
                counter.end_document(rows_.pieces[p]);
            }
        });
        terms_.merge(counters, totals, run);
    }

    NgramTerms& terms() { return terms_; }

    // Turns the threads' numbers into columns. Once, when the terms are final.
    template <class Run>
    Rows& finish(Run&& run) {
        std::vector<std::vector<int32_t>> columns(terms_.n_threads());
        Pieces threads(static_cast<int64_t>(columns.size()), 1);
        run([&](int, const StopFlag&) {
            for (int64_t t, end; threads.next(t, end);) columns[t] = terms_.columns(t);
        });
        const auto max_column = static_cast<uint32_t>(terms_.n_terms());
        Pieces work(static_cast<int64_t>(rows_.pieces.size()), 1);
        run([&](int, const StopFlag& stop) {
            for (int64_t p, end; !stop && work.next(p, end);)
                rows_.pieces[p].map_columns(columns[rows_.pieces[p].owner], max_column);
        });
        return rows_;
    }

  private:
    static std::vector<NgramCounter> make_counters(const NgramRule& rule, int64_t n_units, bool totals,
                                                   int n_threads) {
        std::vector<NgramCounter> counters;
        for (int t = 0; t < n_threads; ++t)
            counters.emplace_back(rule, static_cast<uint32_t>(n_units), totals);
        return counters;
    }

    template <class Run, class Count>
    void count(int64_t n_pieces, std::vector<NgramCounter>& counters, Run&& run, Count&& count_piece) {
        rows_.pieces.resize(n_pieces);
        Pieces work(n_pieces, 1);
        run([&](int thread, const StopFlag& stop) {
            for (int64_t p, end; !stop && work.next(p, end);) {
                rows_.pieces[p].owner = thread;
                count_piece(p, counters[thread], stop);
            }
        });
    }

    NgramTerms terms_;
    Rows rows_;
};

template <class Index>
void push_text(const Normalizer& text, Tokenizer& tokenizer, UnitKind kind, const Index& index,
               const TokenMap& map, OccurrenceCounter<Index>& counter) {
    switch (kind) {
        case UnitKind::words:
            return push_words(text, tokenizer, index, map, counter);
        case UnitKind::characters:
            return push_characters(text, counter);
        case UnitKind::characters_in_words:
            return push_characters_in_words(text, tokenizer, counter);
    }
}

// Counts the index's terms. Words are looked up in `map`.
template <class Index, class Run>
Rows count_known(const std::vector<TextView>& texts, const TextRule& rule, const Index& index,
                 const TokenMap& map, int n_threads, Run&& run) {
    const std::vector<int64_t> begins = cut(texts, n_threads == 1 ? 1 : kPiecesPerThread * n_threads);
    Rows rows;
    rows.pieces.resize(begins.size() - 1);
    Pieces work(static_cast<int64_t>(rows.pieces.size()), 1);
    run([&](int, const StopFlag& stop) {
        Normalizer normalizer(rule.tokens.alphabet);
        Tokenizer tokenizer(rule.tokens);
        OccurrenceCounter<Index> counter(index, rule.ngrams);
        for (int64_t p, end; work.next(p, end);) {
            rows.pieces[p].first_row = begins[p];
            for (int64_t d = begins[p]; d < begins[p + 1]; ++d) {
                if (stop) return;
                normalizer.read(texts[d]);
                push_text(normalizer, tokenizer, rule.kind, index, map, counter);
                counter.end_document(rows.pieces[p]);
            }
        }
    });
    return rows;
}

// Every occurrence of the index's terms in one text.
template <class Index>
Occurrences locate_known(const TextView& text, const TextRule& rule, const Index& index,
                         const TokenMap& map) {
    Normalizer normalizer(rule.tokens.alphabet);
    Tokenizer tokenizer(rule.tokens);
    Origins origins;
    normalizer.read(text, &origins);
    OccurrenceCounter<Index> counter(index, rule.ngrams);
    counter.locate(&origins);
    push_text(normalizer, tokenizer, rule.kind, index, map, counter);
    counter.end_document();
    return counter.occurrences();
}

}  // namespace widemargin
