// Counting known terms: every occurrence is added directly to its column.
//
// The column comes from a fitted vocabulary (TermIndex) or from the hash of the term (HashIndex). The
// counters here read the same units as NgramCounter and use the same windows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "text/count_rows.hpp"
#include "text/hashing.hpp"
#include "text/ngrams.hpp"
#include "text/normalizer.hpp"
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

    // `terms` are units joined by spaces if `words`, otherwise strings of characters.
    TermIndex(const Strings& terms, bool words)
        : n_columns_(static_cast<Unit>(terms.size())), next_(n_columns_), words_(words) {
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

  private:
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
    PairTable pairs_;
};

// No vocabulary: a term's column is its hash.
class HashIndex {
  public:
    using Unit = uint64_t;
    static constexpr Unit none = ~uint64_t{0};

    explicit HashIndex(int64_t n_columns) : n_columns_(n_columns) {
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

  private:
    static uint64_t hash_character(uint32_t c) {
        char bytes[16] = {};
        const int length = unicode::encode(c, bytes);
        return padded_token(bytes, length).hash;
    }

    int64_t n_columns_;
    TokenMap units_;  // stop words only
    std::array<uint64_t, 128> ascii_;
};

// Where the terms occur in one text, in characters of the original.
struct Occurrences {
    std::vector<int32_t> column;
    std::vector<int64_t> begin, end;
};

// Finds the columns of one thread's documents. With `origins`, records where terms occur instead of counting
// them.
template <class Index>
class OccurrenceCounter {
  public:
    // `many`: there is enough text that one counter per column pays off; otherwise occurrences are sorted.
    OccurrenceCounter(const Index& index, const NgramRule& rule, bool many) : index_(index), rule_(rule) {
        if (many) last_.resize(index.n_columns());
    }

    void locate(const Origins* origins) { origins_ = origins; }
    const Occurrences& occurrences() const { return occurrences_; }

    void push(uint64_t value, int64_t begin, int64_t end) { push_unit(Index::narrow(value), begin, end); }
    void push_character(uint32_t c, int64_t begin, int64_t end) {
        push_unit(index_.character(c), begin, end);
    }
    void push_separator() { push_unit(Index::none, 0, 0); }
    void push_bytes(const unsigned char* bytes, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
            push_character(bytes[i], i, i + 1);
            if (full()) flush();
        }
    }
    bool full() const { return window_.size() >= kWindow && !origins_; }

    void flush() {
        prefixes_.resize(window_.size());
        for (size_t i = 0; i < window_.size(); ++i) prefixes_[i] = index_.node(window_[i]);
        count_length(1, prefixes_);
        for (int n = 2; n <= rule_.max_n; ++n) {
            extend();
            count_length(n, prefixes_);
        }
        const size_t keep = std::min<size_t>(window_.size(), rule_.max_n - 1);
        window_.erase(window_.begin(), window_.end() - static_cast<std::ptrdiff_t>(keep));
        done_ = keep;
    }

    void end_document(RowPiece& piece) {
        end_document();
        const auto max_column = static_cast<uint32_t>(index_.n_columns());
        if (last_.empty()) {
            piece.add_occurrences(columns_, scratch_, max_column);
        } else {
            piece.add_unsorted(row_, columns_, scratch_, max_column);
            row_.next();
        }
        columns_.clear();
    }

    // The column of every occurrence in the document, in no order, for use(columns, n). Not with `many`.
    template <class Use>
    void end_document(Use&& use) {
        end_document();
        found_.resize(columns_.size());
        for (size_t k = 0; k < found_.size(); ++k) found_[k] = static_cast<int32_t>(columns_[k] >> 32);
        use(found_.data(), static_cast<int64_t>(found_.size()));
        columns_.clear();
    }

    void end_document() {
        flush();
        window_.clear();
        begin_.clear();
        end_.clear();
        done_ = 0;
    }

  private:
    using Unit = typename Index::Unit;
    static constexpr size_t kWindow = 4096;

    void push_unit(Unit unit, int64_t begin, int64_t end) {
        window_.push_back(unit);
        if (!origins_) return;
        // A boundary mark of a word has no width.
        const int64_t size = static_cast<int64_t>(origins_->begin.size());
        const int64_t from = size == 0 ? 0 : begin < size ? origins_->begin[begin] : origins_->end.back();
        begin_.push_back(from);
        end_.push_back(begin < end ? origins_->end[end - 1] : from);
    }

    // prefixes_[i] is the (n - 1)-gram that ends at i and becomes the n-gram that ends at i.
    void extend() {
        constexpr size_t kAhead = 12;
        // A short text ends before the loop prefetches anything.
        for (size_t i = 1; i < std::min(kAhead, window_.size()); ++i)
            index_.fetch(prefixes_[i - 1], window_[i]);
        Unit previous = Index::none;
        for (size_t i = 0; i < window_.size(); ++i) {
            if (i + kAhead < window_.size()) index_.fetch(prefixes_[i + kAhead - 1], window_[i + kAhead]);
            const Unit prefix = previous;
            previous = prefixes_[i];
            prefixes_[i] = index_.extend(prefix, window_[i]);
        }
    }

    void count_length(int n, const std::vector<Unit>& nodes) {
        if (n < rule_.min_n && !rule_.whole_short) return;
        if (n >= rule_.min_n && !origins_) return last_.empty() ? list_all(nodes) : count_all(nodes);
        for (size_t i = done_; i < nodes.size(); ++i) {
            const int64_t column = index_.column(nodes[i]);
            if (column < 0) continue;
            const size_t first = i + 1 - n;
            if (n < rule_.min_n && !is_sequence(window_, first, i + 1, Index::none)) continue;
            if (!origins_ && !last_.empty()) {
                OpenRow::Writer row = row_.writer(1);
                row.add(static_cast<uint32_t>(column), last_[column]);
                row_.written(row);
            } else if (!origins_) {
                columns_.push_back(pack(static_cast<uint32_t>(column), 0));
            } else {
                occurrences_.column.push_back(static_cast<int32_t>(column));
                occurrences_.begin.push_back(begin_[first]);
                occurrences_.end.push_back(end_[i]);
            }
        }
    }

    // The usual cases of count_length. Branch-free, since the CPU cannot predict which n-grams are known.
    void list_all(const std::vector<Unit>& nodes) {
        size_t size = columns_.size();
        columns_.resize(size + nodes.size());
        for (size_t i = done_; i < nodes.size(); ++i) {
            const int64_t column = index_.column(nodes[i]);
            columns_[size] = pack(static_cast<uint32_t>(column), 0);
            size += column >= 0;
        }
        columns_.resize(size);
    }
    void count_all(const std::vector<Unit>& nodes) {
        OpenRow::Writer row = row_.writer(nodes.size());
        uint32_t* last = last_.data();
        for (size_t i = done_; i < nodes.size(); ++i) {
            const int64_t column = index_.column(nodes[i]);
            if (column >= 0) row.add(static_cast<uint32_t>(column), last[column]);
        }
        row_.written(row);
    }

    const Index& index_;
    NgramRule rule_;
    const Origins* origins_ = nullptr;
    Occurrences occurrences_;
    std::vector<Unit> window_, prefixes_;
    std::vector<int64_t> begin_, end_;
    std::vector<uint64_t> columns_, scratch_;
    std::vector<int32_t> found_;
    std::vector<uint32_t> last_;
    OpenRow row_;
    size_t done_ = 0;
};

}  // namespace widemargin
