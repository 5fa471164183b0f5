// The passes over a collection: distinct tokens, then counts of n-grams; or counts of known terms in one
// pass.
//
// `run(task)` calls task(thread, stop) on each of n_threads threads, see parallel.hpp. Documents are handed
// out in pieces; results do not depend on which thread gets which piece.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "text/count_rows.hpp"
#include "text/ngram_terms.hpp"
#include "text/ngrams.hpp"
#include "text/normalizer.hpp"
#include "text/occurrences.hpp"
#include "text/text_view.hpp"
#include "text/tokenizer.hpp"
#include "text/units.hpp"
#include "text/vocabulary.hpp"

namespace widemargin {

// How a text is split into units, and units are joined into n-grams.
struct TextRule {
    UnitKind kind = UnitKind::words;
    TokenRule tokens;
    NgramRule ngrams;
};

// Enough pieces that the last one ends soon after the others.
inline constexpr int64_t kPiecesPerThread = 24;

// Calls use(numbers, n) with the numbers of the tokens of `text`, in batches. The table's memory is
// prefetched.
template <class Use>
void number_tokens(const Normalizer& text, Tokenizer& tokenizer, TokenTable& table, Use&& use) {
    tokenizer.read(text, [&](const Token* tokens, size_t n) {
        uint32_t numbers[Tokenizer::kBatch];
        for (size_t i = 0; i < n; ++i) table.fetch(tokens[i]);
        for (size_t i = 0; i < n; ++i) numbers[i] = table.add(tokens[i]);
        use(numbers, n);
    });
}

// The sorted union of the tables' tokens, except the first n_skipped of each table; ranks as in merge_tokens.
template <class Run>
Strings merge_tables(const std::vector<TokenTable>& tables, uint32_t n_skipped,
                     std::vector<std::vector<uint32_t>>& ranks, Run&& run) {
    std::vector<std::vector<SortableToken>> sorted(tables.size());
    run([&](int thread, const StopFlag&) { sorted[thread] = sorted_tokens(tables[thread], n_skipped); });
    ranks.resize(tables.size());
    for (size_t t = 0; t < tables.size(); ++t) ranks[t].assign(tables[t].size(), kNone);
    return merge_tokens(sorted, ranks);
}

// The texts as sequences of token numbers, and all distinct tokens sorted: for tokens that are replaced (by
// stems) before they are counted.
class TokenPass {
  public:
    template <class Run>
    TokenPass(const std::vector<TextView>& texts, const TokenRule& rule, int n_threads, Run&& run) {
        const std::vector<int64_t> begins = cut(texts, kPiecesPerThread * n_threads);
        pieces.resize(begins.size() - 1);
        std::vector<TokenTable> tables(n_threads);
        Pieces work(static_cast<int64_t>(pieces.size()), 1);
        run([&](int thread, const StopFlag& stop) {
            Normalizer normalizer(rule);
            Tokenizer tokenizer(rule);
            for (int64_t p, end; work.next(p, end);) {
                Piece& piece = pieces[p];
                piece.owner = thread;
                piece.first_row = begins[p];
                for (int64_t d = begins[p]; d < begins[p + 1]; ++d) {
                    if (stop) return;
                    normalizer.read(texts[d]);
                    const size_t before = piece.tokens.size();
                    number_tokens(normalizer, tokenizer, tables[thread],
                                  [&](const uint32_t* numbers, size_t n) {
                                      piece.tokens.insert(piece.tokens.end(), numbers, numbers + n);
                                  });
                    piece.lengths.push_back(static_cast<uint32_t>(piece.tokens.size() - before));
                }
            }
        });
        distinct = merge_tables(tables, 0, ranks, run);
    }

    int64_t n_documents() const {
        int64_t n = 0;
        for (const Piece& piece : pieces) n += static_cast<int64_t>(piece.lengths.size());
        return n;
    }
    int64_t n_tokens() const {
        int64_t n = 0;
        for (const Piece& piece : pieces) n += static_cast<int64_t>(piece.tokens.size());
        return n;
    }

    // The number of tokens of every document, and the tokens as positions in `distinct`.
    void sequences(int64_t* lengths, int32_t* tokens) const {
        for (const Piece& piece : pieces) {
            lengths = std::copy(piece.lengths.begin(), piece.lengths.end(), lengths);
            for (const uint32_t token : piece.tokens)
                *tokens++ = static_cast<int32_t>(ranks[piece.owner][token]);
        }
    }

    struct Piece {
        int64_t first_row = 0;
        int owner = 0;
        std::vector<uint32_t> tokens;   // numbers in the owner's table
        std::vector<uint32_t> lengths;  // tokens per document
    };

    Strings distinct;
    std::vector<std::vector<uint32_t>> ranks;  // by owner and number: the position in `distinct`
    std::vector<Piece> pieces;
};

// The counts of a collection: its rows and its terms.
class CollectionCounts {
  public:
    // Counts words, characters or bytes in one pass; the words in `skipped` are removed first.
    template <class Run>
    CollectionCounts(const std::vector<TextView>& texts, const TextRule& rule, const Strings& skipped,
                     bool totals, int n_threads, Run&& run)
        : terms_(rule.ngrams) {
        make_counters(rule.ngrams, totals, n_threads);
        const bool words = rule.kind == UnitKind::words;
        // Skipped words have the first numbers in every table.
        std::vector<TokenTable> tables(words ? n_threads : 0);
        for (TokenTable& table : tables)
            for (int64_t i = 0; i < skipped.size(); ++i) table.add(skipped.token(i));
        const auto first = static_cast<uint32_t>(skipped.size());
        const std::vector<int64_t> begins = cut(texts, kPiecesPerThread * n_threads);
        count(begins.size() - 1, run, [&](int64_t p, int thread, const StopFlag& stop) {
            NgramCounter& counter = counters_[thread];
            Normalizer normalizer(rule.tokens);
            Tokenizer tokenizer(rule.tokens);
            if (!words) counter.expect_characters(n_characters(rule.kind));
            rows_.pieces[p].first_row = begins[p];
            for (int64_t d = begins[p]; d < begins[p + 1]; ++d) {
                if (stop) return;
                normalizer.read(texts[d]);
                if (words) {
                    TokenTable& table = tables[thread];
                    number_tokens(normalizer, tokenizer, table, [&](const uint32_t* numbers, size_t n) {
                        counter.expect_units(table.size());
                        counter.push_all(numbers, n, first);
                    });
                } else if (rule.kind == UnitKind::characters) {
                    push_characters(normalizer, counter);
                } else if (rule.kind == UnitKind::bytes) {
                    push_bytes(normalizer, counter);
                } else {
                    push_characters_in_words(normalizer, tokenizer, counter);
                }
                counter.end_document(rows_.pieces[p]);
            }
        });
        if (words) {
            std::vector<std::vector<uint32_t>> ranks;
            Strings units = merge_tables(tables, first, ranks, run);
            tables.clear();
            terms_.set_words(std::move(units), std::move(ranks));
        } else {
            terms_.set_characters(n_threads, n_characters(rule.kind));
        }
        merge(totals, run);
    }

    // Counts the tokens of a pass after replacement (by stems, or by the concepts of a thesaurus). Empties
    // the pass.
    template <class Run>
    CollectionCounts(TokenPass& pass, UnitMap map, const NgramRule& rule, bool totals, int n_threads,
                     Run&& run)
        : terms_(rule) {
        make_counters(rule, totals, n_threads);
        count(pass.pieces.size(), run, [&](int64_t p, int thread, const StopFlag& stop) {
            counters_[thread].expect_units(map.units.size());
            count_piece(pass.pieces[p], pass.ranks[pass.pieces[p].owner], map, counters_[thread],
                        rows_.pieces[p], stop);
            pass.pieces[p] = TokenPass::Piece();
        });
        std::vector<uint32_t> same(map.units.size());
        std::iota(same.begin(), same.end(), 0u);
        terms_.set_words(std::move(map.units), std::vector<std::vector<uint32_t>>(n_threads, same));
        merge(totals, run);
    }

    NgramTerms& terms() { return terms_; }

    // Replaces the threads' numbers by columns. Call it once, when the terms are final.
    template <class Run>
    Rows& finish(Run&& run) {
        std::vector<ColumnMap> columns(terms_.n_threads());
        Pieces threads(static_cast<int64_t>(columns.size()), 1);
        run([&](int, const StopFlag&) {
            for (int64_t t, end; threads.next(t, end);) columns[t] = terms_.columns(t);
        });
        Pieces work(static_cast<int64_t>(rows_.pieces.size()), 1);
        run([&](int, const StopFlag& stop) {
            for (int64_t p, end; !stop && work.next(p, end);)
                rows_.pieces[p].map_columns(columns[rows_.pieces[p].owner]);
        });
        return rows_;
    }

  private:
    // The documents of one piece of a pass.
    static void count_piece(const TokenPass::Piece& piece, const std::vector<uint32_t>& rank,
                            const UnitMap& map, NgramCounter& counter, RowPiece& rows, const StopFlag& stop) {
        rows.first_row = piece.first_row;
        const auto push = [&](int32_t unit, int64_t, int64_t) {
            if (unit < 0) return;
            counter.push(static_cast<uint32_t>(unit));
            if (counter.full()) counter.flush();
        };
        const uint32_t* token = piece.tokens.data();
        for (const uint32_t length : piece.lengths) {
            if (stop) return;
            const uint32_t* end = token + length;
            if (map.entries.empty()) {
                for (; token < end; ++token) push(map.unit_of[rank[*token]], 0, 0);
            } else {
                EntryReader<int32_t> reader(map.entries[0], map.meanings);
                for (; token < end; ++token) {
                    const uint32_t at = rank[*token];
                    reader.push({map.unit_of[at], static_cast<uint32_t>(map.number_of[at]), 0, 0}, push);
                }
                reader.finish(push);
            }
            counter.end_document(rows);
        }
    }

    void make_counters(const NgramRule& rule, bool totals, int n_threads) {
        for (int t = 0; t < n_threads; ++t) counters_.emplace_back(rule, totals);
    }

    template <class Run, class Count>
    void count(int64_t n_pieces, Run&& run, Count&& count_piece) {
        rows_.pieces.resize(n_pieces);
        Pieces work(n_pieces, 1);
        run([&](int thread, const StopFlag& stop) {
            for (int64_t p, end; !stop && work.next(p, end);) {
                rows_.pieces[p].owner = thread;
                count_piece(p, thread, stop);
            }
        });
    }

    template <class Run>
    void merge(bool totals, Run&& run) {
        terms_.merge(counters_, totals, run);
        counters_ = std::vector<NgramCounter>();
    }

    NgramTerms terms_;
    std::vector<NgramCounter> counters_;
    Rows rows_;
};

template <class Index>
void push_text(const Normalizer& text, Tokenizer& tokenizer, UnitKind kind, const Index& index,
               const WordMap& map, OccurrenceCounter<Index>& counter) {
    switch (kind) {
        case UnitKind::words:
            return push_words(text, tokenizer, index, map, counter);
        case UnitKind::characters:
            return push_characters(text, counter);
        case UnitKind::characters_in_words:
            return push_characters_in_words(text, tokenizer, counter);
        case UnitKind::bytes:
            return push_bytes(text, counter);
    }
}

// Counts the index's terms. Words are looked up in `map`.
template <class Index, class Run>
Rows count_known(const std::vector<TextView>& texts, const TextRule& rule, const Index& index,
                 const WordMap& map, int n_threads, Run&& run) {
    const std::vector<int64_t> begins = cut(texts, n_threads == 1 ? 1 : kPiecesPerThread * n_threads);
    Rows rows;
    rows.pieces.resize(begins.size() - 1);
    int64_t length = 0;
    for (const TextView& text : texts) length += text.length;
    const bool many = length / n_threads >= index.n_columns();
    Pieces work(static_cast<int64_t>(rows.pieces.size()), 1);
    run([&](int, const StopFlag& stop) {
        Normalizer normalizer(rule.tokens);
        Tokenizer tokenizer(rule.tokens);
        OccurrenceCounter<Index> counter(index, rule.ngrams, many);
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
Occurrences locate_known(const TextView& text, const TextRule& rule, const Index& index, const WordMap& map) {
    Normalizer normalizer(rule.tokens);
    Tokenizer tokenizer(rule.tokens);
    Origins origins;
    normalizer.read(text, &origins);
    OccurrenceCounter<Index> counter(index, rule.ngrams, false);
    counter.locate(&origins);
    push_text(normalizer, tokenizer, rule.kind, index, map, counter);
    counter.end_document();
    return counter.occurrences();
}

}  // namespace widemargin
