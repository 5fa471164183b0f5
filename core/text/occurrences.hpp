// Counting known terms: every occurrence is added directly to its column.
//
// The column comes from an index (text/terms/term_index.hpp). The
// counters here read the same units as NgramCounter and use the same windows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/count_rows.hpp"
#include "text/ngrams.hpp"
#include "text/normalizer.hpp"
#include "text/terms/term_index.hpp"
#include "text/terms/word_pairs.hpp"

namespace widemargin {

// Where the terms occur in one text, in characters of the original. What stands between the words of a pair
// is a gap, which is empty (at the end) for other terms.
struct Occurrences {
    std::vector<int32_t> column;
    std::vector<int64_t> begin, end, gap_begin, gap_end;

    void add(int64_t of, int64_t from, int64_t to, int64_t gap_from, int64_t gap_to) {
        column.push_back(static_cast<int32_t>(of));
        begin.push_back(from);
        end.push_back(to);
        gap_begin.push_back(gap_from);
        gap_end.push_back(gap_to);
    }
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
        if (rule_.pairs.reach) count_word_pairs();
        const size_t keep = std::min<size_t>(window_.size(), rule_.longest());
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
                occurrences_.add(column, begin_[first], end_[i], end_[i], end_[i]);
            }
        }
    }

    // Only words have pairs, so there are no separators in the window.
    void count_word_pairs() {
        const size_t reach = rule_.pairs.reach;
        if (origins_) {
            for_each_pair_of(window_.size(), done_, reach, [&](size_t i, size_t j) {
                const int64_t column = index_.pair_column(window_[i], window_[j]);
                if (column < 0) return;
                // N-grams of characters overlap: then nothing stands between them.
                const bool apart = end_[i] <= begin_[j];
                occurrences_.add(column, begin_[i], end_[j], apart ? end_[i] : end_[j],
                                 apart ? begin_[j] : end_[j]);
            });
            return;
        }
        constexpr size_t kAhead = 4;
        pair_columns_.clear();
        for (size_t j = std::max<size_t>(done_, 1); j < window_.size(); ++j) {
            if (j + kAhead < window_.size())
                for (size_t i = j + kAhead - std::min(j + kAhead, reach); i < j + kAhead; ++i)
                    index_.fetch_pair(window_[i], window_[j + kAhead]);
            for (size_t i = j - std::min(j, reach); i < j; ++i)
                pair_columns_.push_back(index_.pair_column(window_[i], window_[j]));
        }
        if (last_.empty()) {
            for (const int64_t column : pair_columns_)
                if (column >= 0) columns_.push_back(pack(static_cast<uint32_t>(column), 0));
            return;
        }
        OpenRow::Writer row = row_.writer(pair_columns_.size());
        for (const int64_t column : pair_columns_)
            if (column >= 0) row.add(static_cast<uint32_t>(column), last_[column]);
        row_.written(row);
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
    std::vector<int64_t> pair_columns_;
    std::vector<int32_t> found_;
    std::vector<uint32_t> last_;
    OpenRow row_;
    size_t done_ = 0;
};

}  // namespace widemargin
