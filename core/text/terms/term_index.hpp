// The columns of known terms: of a vocabulary (TermIndex), or by the hash of a term (HashIndex).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "text/hashing.hpp"
#include "text/terms/pair_table.hpp"
#include "text/terms/word_pairs.hpp"
#include "text/unicode.hpp"
#include "text/vocabulary.hpp"

namespace widemargin {

// Special values of a TokenMap.
inline constexpr uint64_t kSkip = ~uint64_t{0} - 1;     // the token is removed (a stop word)
inline constexpr uint64_t kUnknown = ~uint64_t{0} - 2;  // in no term; n-grams do not cross it

// A sorted vocabulary as a tree of prefixes. The node of a term is the term's column. Nodes that are not
// terms (words or prefixes that occur only within longer terms) are numbered after the columns.
class TermIndex {
  public:
    using Unit = uint32_t;
    static constexpr Unit none = kNone;
    static constexpr Unit unknown = kNone - 2;

    // `terms` are units joined by spaces if `words`, otherwise strings of characters; or pairs of words.
    TermIndex(const Strings& terms, bool words, const PairRule& pairs)
        : n_columns_(static_cast<Unit>(terms.size())), next_(n_columns_), words_(words), rule_(pairs) {
        // Units that are terms must be added before the terms that contain them.
        int64_t longer = 0;
        for (int64_t t = 0; t < terms.size(); ++t) {
            const char *p = terms.at(t), *end = p + terms.length(t);
            const Piece first = next_unit(p, end);
            if (p < end) {
                ++longer;
            } else if (words_) {
                units_.add(make_token(first.bytes, first.length), static_cast<uint64_t>(t));
            } else {
                character_node(first.character) = static_cast<Unit>(t);
            }
        }
        pairs_.reserve(longer);
        for (int64_t t = 0; t < terms.size(); ++t) {
            const char *p = terms.at(t), *end = p + terms.length(t);
            Unit node = first_node(next_unit(p, end));
            if (rule_.reach && begins_with_mark(p, end)) {
                next_unit(p, end);
                word_pairs_.add(rule_.key(node, unit_of(next_unit(p, end))), static_cast<uint32_t>(t));
                continue;
            }
            while (p < end) {
                const Unit unit = unit_of(next_unit(p, end));
                // A prefix sorts before its continuations, so a term's own node is always new.
                node = p < end ? pairs_.find_or_add(pair_key(node, unit), next_).id
                               : pairs_.add(pair_key(node, unit), static_cast<uint32_t>(t));
            }
        }
    }

    int64_t n_columns() const { return n_columns_; }
    const TokenMap& units() const { return units_; }
    void skip(const Token& token) { units_.add(token, kSkip); }

    uint64_t missing(const Token&) const { return kUnknown; }
    static Unit narrow(uint64_t value) { return value == kUnknown ? unknown : static_cast<Unit>(value); }
    static Unit character(uint32_t c) { return c; }

    // The node of a unit by itself.
    Unit node(Unit unit) const {
        if (words_ || unit >= unknown) return unit;
        return unit < characters_.size() ? characters_[unit] : unknown;
    }
    WIDEMARGIN_HOT void fetch(Unit prefix, Unit unit) const { pairs_.fetch(pair_key(prefix, unit)); }
    Unit extend(Unit prefix, Unit unit) const {
        if (prefix >= unknown || unit >= unknown) return prefix == none || unit == none ? none : unknown;
        const PairTable::Slot* slot = pairs_.find(pair_key(prefix, unit));
        return slot ? slot->id : unknown;
    }
    int64_t column(Unit node) const { return node < n_columns_ ? node : int64_t{-1}; }

    // The column of a pair of words.
    WIDEMARGIN_HOT void fetch_pair(Unit first, Unit second) const {
        word_pairs_.fetch(rule_.key(first, second));
    }
    int64_t pair_column(Unit first, Unit second) const {
        if (first >= unknown || second >= unknown) return -1;
        const PairTable::Slot* slot = word_pairs_.find(rule_.key(first, second));
        return slot ? slot->id : int64_t{-1};
    }

  private:
    bool begins_with_mark(const char* p, const char* end) const {
        const std::ptrdiff_t length = std::strlen(rule_.mark());
        return end - p > length && std::equal(p, p + length, rule_.mark()) && p[length] == ' ';
    }

    struct Piece {
        const char* bytes;
        uint32_t length, character;
    };

    // The unit at `p`, which moves to the next one.
    Piece next_unit(const char*& p, const char* end) const {
        const char* begin = p;
        if (words_) {
            const char* stop = std::find(p, end, ' ');
            p = stop + (stop < end);
            return {begin, static_cast<uint32_t>(stop - begin), 0};
        }
        if (p == end) return {begin, 0, 0};
        const auto* c = reinterpret_cast<const unsigned char*>(p);
        const uint32_t character = unicode::decode(c, end - p);
        p = reinterpret_cast<const char*>(c);
        return {begin, static_cast<uint32_t>(p - begin), character};
    }

    // The unit of a word is its node; the unit of a character is its code point.
    Unit unit_of(const Piece& piece) {
        if (!words_) return piece.character;
        const Token token = make_token(piece.bytes, piece.length);
        if (const uint64_t* known = units_.find(token)) return static_cast<Unit>(*known);
        return static_cast<Unit>(units_.add(token, next_++));
    }
    Unit first_node(const Piece& piece) {
        if (words_) return unit_of(piece);
        Unit& node = character_node(piece.character);
        if (node == unknown) node = next_++;
        return node;
    }
    Unit& character_node(uint32_t c) {
        if (c >= characters_.size()) characters_.resize(c + 1, unknown);
        return characters_[c];
    }

    Unit n_columns_, next_;
    bool words_;
    TokenMap units_;                // words
    std::vector<Unit> characters_;  // the nodes of characters
    PairTable pairs_, word_pairs_;
    PairRule rule_;
};

// No vocabulary: a term's column is its hash.
class HashIndex {
  public:
    using Unit = uint64_t;
    static constexpr Unit none = ~uint64_t{0};

    HashIndex(int64_t n_columns, const PairRule& pairs)
        : n_columns_(n_columns),
          ordered_(pairs.ordered),
          mark_(make_token(pairs.mark(), static_cast<uint32_t>(std::strlen(pairs.mark()))).hash) {
        for (uint32_t c = 0; c < 128; ++c) ascii_[c] = hash_character(c);
    }

    int64_t n_columns() const { return n_columns_; }
    const TokenMap& units() const { return units_; }
    void skip(const Token& token) { units_.add(token, kSkip); }

    uint64_t missing(const Token& token) const { return token.hash; }
    Unit character(uint32_t c) const { return c < 128 ? ascii_[c] : hash_character(c); }
    static Unit narrow(uint64_t value) { return value; }

    Unit node(Unit unit) const { return unit; }
    void fetch(Unit, Unit) const {}
    Unit extend(Unit prefix, Unit unit) const {
        return prefix == none || unit == none ? none : hash_pair(prefix, unit);
    }
    int64_t column(Unit hash) const { return hash == none ? int64_t{-1} : hash_column(hash, n_columns_); }

    // A pair is hashed as three units, the second of which is the mark. Without order, the word with the
    // smaller hash comes first.
    void fetch_pair(Unit, Unit) const {}
    int64_t pair_column(Unit first, Unit second) const {
        if (!ordered_ && second < first) std::swap(first, second);
        return hash_column(hash_pair(hash_pair(first, mark_), second), n_columns_);
    }

  private:
    static uint64_t hash_character(uint32_t c) {
        char bytes[16] = {};
        const int length = unicode::encode(c, bytes);
        return padded_token(bytes, length).hash;
    }

    int64_t n_columns_;
    bool ordered_;
    uint64_t mark_;
    TokenMap units_;  // stop words only
    std::array<uint64_t, 128> ascii_;
};

}  // namespace widemargin
