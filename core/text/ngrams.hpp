// n-grams of units (words or characters), counted per document while the set of n-grams grows.
//
// An n-gram is the pair (its first n - 1 units, its last unit). One table per length maps the pair of numbers
// to a new number, so any n works without building strings. A unit is its own n-gram of length 1; the numbers
// of longer n-grams have the bit kLonger.
//
// A document arrives as a sequence of units in a window. No n-gram crosses a kNone in it. There is one pass
// over the window per length, so that the table's memory can be prefetched. Pairs of words that are not
// adjacent (text/terms/word_pairs.hpp) come last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "text/ascii_ngrams.hpp"
#include "text/count_rows.hpp"
#include "text/terms/pair_table.hpp"
#include "text/terms/word_pairs.hpp"
#include "text/unicode.hpp"

namespace widemargin {

inline constexpr uint32_t kLonger = 0x80000000;

// Which n-grams count.
struct NgramRule {
    int min_n = 1, max_n = 1;
    bool whole_short = false;  // a sequence shorter than min_n counts once as a whole
    PairRule pairs;            // counted in addition

    // How many units before the last one a term may begin.
    size_t longest() const { return static_cast<size_t>(std::max(max_n - 1, pairs.reach)); }
};

// Whether [begin, end) is a whole sequence between separators.
template <class Unit>
bool is_sequence(const std::vector<Unit>& units, size_t begin, size_t end, Unit none) {
    return (begin == 0 || units[begin - 1] == none) && (end == units.size() || units[end] == none);
}

// Counts the n-grams of one thread's documents.
class NgramCounter {
  public:
    NgramCounter(const NgramRule& rule, bool totals)
        : rule_(rule), tables_(rule.max_n + 1), pairs_(rule.pairs), with_totals_(totals) {}

    // Prepares for characters below n_characters as units.
    void expect_characters(uint32_t n_characters) {
        expect_units(n_characters);
        if (rule_.max_n > 1 && !ascii_) ascii_ = std::make_unique<AsciiNgrams>();
    }

    // Prepares for units below n_units.
    void expect_units(size_t n_units) {
        if (rule_.min_n > 1 || n_units <= last_.size()) return;
        last_.resize(n_units + n_units / 2);
        units_.resize(last_.size(), with_totals_);
    }

    // The next unit of the document. Its position in the text is not used here, but in text/occurrences.hpp.
    void push(uint32_t unit, int64_t = 0, int64_t = 0) { window_.push_back(unit); }
    void push_character(uint32_t c, int64_t = 0, int64_t = 0) { window_.push_back(c); }
    void push_separator() { window_.push_back(kNone); }
    // The next units are bytes, or characters of one byte each.
    void push_bytes(const unsigned char* bytes, int64_t n) {
        for (int64_t i = 0; i < n; i += kWindow) {
            window_.insert(window_.end(), bytes + i, bytes + std::min<int64_t>(n, i + kWindow));
            if (full()) flush();
        }
    }
    bool full() const { return window_.size() >= kWindow; }

    // The next units, except those below `first`.
    void push_all(const uint32_t* units, size_t n, uint32_t first) {
        if (rule_.longest() > 0) {
            for (size_t i = 0; i < n; ++i)
                if (units[i] >= first) window_.push_back(units[i]);
            if (full()) flush();
            return;
        }
        OpenRow::Writer row = row_.writer(n);
        uint32_t* last = last_.data();
        for (size_t i = 0; i < n; ++i)
            if (units[i] >= first) row.add(units[i], last[units[i]]);
        row_.written(row);
    }

    // Counts the n-grams in the window. Units that the next ones may continue stay in it.
    void flush() {
        count_units();
        if (rule_.max_n > 1) prefixes_ = window_;
        for (int n = 2; n <= rule_.max_n; ++n) {
            if (ascii_ && n == 2) {
                // Counting triples finds the pairs too.
                if (rule_.min_n <= 2 || rule_.whole_short) count_pairs();
            } else if (ascii_ && n == 3) {
                count_triples();
            } else {
                count_length(n);
            }
        }
        pairs_.count(window_, done_, next_id_, row_);
        const size_t keep = std::min<size_t>(window_.size(), rule_.longest());
        window_.erase(window_.begin(), window_.end() - static_cast<std::ptrdiff_t>(keep));
        done_ = keep;
    }

    // Ends a document and adds its row to `piece`.
    void end_document(RowPiece& piece) {
        flush();
        window_.clear();
        done_ = 0;
        piece.add(row_.ids(), row_.counts(), row_.size());
        longer_.resize(next_id_ - kLonger, with_totals_);
        const uint32_t *ids = row_.ids(), *counts = row_.counts();
        for (uint32_t i = 0; i < row_.size(); ++i)
            (ids[i] < kLonger ? units_.documents[ids[i]] : longer_.documents[ids[i] - kLonger]) += 1;
        if (with_totals_)
            for (uint32_t i = 0; i < row_.size(); ++i)
                (ids[i] < kLonger ? units_.total[ids[i]] : longer_.total[ids[i] - kLonger]) += counts[i];
        row_.next();
    }

    // The number of documents in which each unit or longer n-gram occurred, and its total count.
    struct Frequencies {
        std::vector<uint32_t> documents;
        std::vector<uint64_t> total;

        void resize(size_t n, bool totals) {
            if (n <= documents.size()) return;
            documents.resize(n + n / 2);
            if (totals) total.resize(documents.size());
        }
    };
    const Frequencies& units() const { return units_; }
    const Frequencies& longer() const { return longer_; }
    size_t n_longer() const { return next_id_ - kLonger; }

    // Numbers the pairs that occurred only within triples. Call it before for_each.
    void complete() {
        if (!ascii_) return;
        ascii_->for_each_triple([&](uint32_t a, uint32_t b, uint32_t, const AsciiNgrams::Slot&) {
            numbered(ascii_->pair(a, b));
        });
        longer_.resize(n_longer(), with_totals_);
    }

    // visit(prefix, unit, id) for every n-gram of length n, in any order.
    template <class Visit>
    void for_each(int n, Visit&& visit) {
        for (const PairTable::Slot& slot : tables_[n].slots())
            if (slot.key != PairTable::kEmpty)
                visit(static_cast<uint32_t>(slot.key >> 32), static_cast<uint32_t>(slot.key), slot.id);
        if (ascii_ && n == 2)
            ascii_->for_each_pair(
                [&](uint32_t a, uint32_t b, const AsciiNgrams::Slot& slot) { visit(a, b, slot.id); });
        if (ascii_ && n == 3)
            ascii_->for_each_triple([&](uint32_t a, uint32_t b, uint32_t c, const AsciiNgrams::Slot& slot) {
                visit(ascii_->pair(a, b).id, c, slot.id);
            });
    }

    // visit(first, second, id) for every pair of words.
    template <class Visit>
    void for_each_pair(Visit&& visit) const {
        pairs_.for_each(visit);
    }

    // Frees the n-grams of length n.
    void forget(int n) {
        tables_[n].clear();
        if (n == 3) ascii_.reset();
    }
    void forget_pairs() { pairs_ = WordPairs(rule_.pairs); }

  private:
    static constexpr size_t kWindow = 4096;
    static constexpr size_t kAhead = 12;  // prefetch distance

    // No sequence is as short as one unit (a word has a boundary at both ends), so whole_short does not
    // apply.
    void count_units() {
        if (rule_.min_n > 1) return;
        OpenRow::Writer row = row_.writer(window_.size());
        uint32_t* last = last_.data();
        for (const uint32_t *unit = window_.data() + done_, *end = window_.data() + window_.size();
             unit < end; ++unit)
            if (*unit != kNone) row.add(*unit, last[*unit]);
        row_.written(row);
    }

    uint32_t numbered(AsciiNgrams::Slot& slot) {
        if (slot.id == 0) slot.id = next_id_++;
        return slot.id;
    }

    // Whether the n-gram of length n that ends at i counts.
    bool counts(int n, size_t i) const {
        if (i < done_) return false;  // already counted with the last window
        return n >= rule_.min_n || (rule_.whole_short && is_sequence(window_, i + 1 - n, i + 1, kNone));
    }

    // Like count_length, for characters.
    void count_pairs() {
        OpenRow::Writer row = row_.writer(window_.size());
        if (!window_.empty()) prefixes_[0] = kNone;
        for (size_t i = 1; i < window_.size(); ++i) {
            const uint32_t a = window_[i - 1], b = window_[i];
            if ((a | b) < 128) {
                AsciiNgrams::Slot& slot = ascii_->pair(a, b);
                prefixes_[i] = numbered(slot);
                if (counts(2, i)) row.add(slot.id, slot.last);
            } else if (a == kNone || b == kNone) {
                prefixes_[i] = kNone;
            } else {
                PairTable::Slot& slot = tables_[2].find_or_add(pair_key(a, b), next_id_);
                prefixes_[i] = slot.id;
                if (counts(2, i)) row.add(slot.id, slot.last);
            }
        }
        row_.written(row);
    }

    void count_triples() {
        OpenRow::Writer row = row_.writer(window_.size());
        for (size_t i = 0; i < std::min<size_t>(window_.size(), 2); ++i) prefixes_[i] = kNone;
        for (size_t i = 2; i < window_.size(); ++i) {
            const size_t ahead = std::min(i + kAhead, window_.size() - 1);
            ascii_->fetch(window_[ahead - 2], window_[ahead - 1], window_[ahead]);
            const uint32_t a = window_[i - 2], b = window_[i - 1], c = window_[i];
            if ((a | b | c) < 128) {
                AsciiNgrams::Slot& slot = ascii_->triple(a, b, c);
                prefixes_[i] = numbered(slot);
                if (counts(3, i)) row.add(slot.id, slot.last);
            } else if (a == kNone || b == kNone || c == kNone) {
                prefixes_[i] = kNone;
            } else {
                const uint32_t pair = (a | b) < 128 ? numbered(ascii_->pair(a, b))
                                                    : tables_[2].find_or_add(pair_key(a, b), next_id_).id;
                PairTable::Slot& slot = tables_[3].find_or_add(pair_key(pair, c), next_id_);
                prefixes_[i] = slot.id;
                if (counts(3, i)) row.add(slot.id, slot.last);
            }
        }
        row_.written(row);
    }

    // prefixes_[i] is the (n - 1)-gram that ends at i and becomes the n-gram that ends at i.
    void count_length(int n) {
        PairTable& table = tables_[n];
        const size_t size = window_.size();
        OpenRow::Writer row = row_.writer(size);
        uint32_t previous = kNone;
        for (size_t i = 0; i < size; ++i) {
            if (i + kAhead < size) table.fetch(pair_key(prefixes_[i + kAhead - 1], window_[i + kAhead]));
            const uint32_t prefix = previous;
            previous = prefixes_[i];
            if (prefix == kNone || window_[i] == kNone) {
                prefixes_[i] = kNone;
                continue;
            }
            PairTable::Slot& slot = table.find_or_add(pair_key(prefix, window_[i]), next_id_);
            prefixes_[i] = slot.id;
            if (counts(n, i)) row.add(slot.id, slot.last);
        }
        row_.written(row);
    }

    NgramRule rule_;
    std::vector<PairTable> tables_;
    std::unique_ptr<AsciiNgrams> ascii_;  // for characters: pairs and triples that are not in the tables
    WordPairs pairs_;
    bool with_totals_;
    uint32_t next_id_ = kLonger;
    std::vector<uint32_t> last_;  // by unit
    Frequencies units_, longer_;
    std::vector<uint32_t> window_, prefixes_;
    OpenRow row_;
    size_t done_ = 0;
};

}  // namespace widemargin
