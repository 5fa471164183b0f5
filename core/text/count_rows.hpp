// Sparse rows of counts, stored in pieces of consecutive documents until the size of the matrix is known.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "large_array.hpp"
#include "parallel.hpp"
#include "text/text_view.hpp"

namespace widemargin {

inline constexpr int64_t kMaxNonZeros = 0x7FFFFFFF;

inline void check_non_zeros(int64_t n) {
    if (n > kMaxNonZeros) throw std::overflow_error("the matrix would have 2**31 non-zero counts or more");
}

// One entry of a row for sorting: the column in the upper 32 bits, the count in the lower.
inline uint64_t pack(uint32_t column, uint32_t count) { return static_cast<uint64_t>(column) << 32 | count; }

// Sorts entries by column; no column is larger than `max_column`.
inline void sort_entries(std::vector<uint64_t>& entries, std::vector<uint64_t>& scratch,
                         uint32_t max_column) {
    const size_t n = entries.size();
    if (n < 48) {  // a radix sort would cost more
        std::sort(entries.begin(), entries.end());
        return;
    }
    // As few passes as digits of 9 bits allow, then the shortest digits for that number of passes.
    int bits = 1;
    while (bits < 32 && max_column >> bits) ++bits;
    const int passes = (bits + 8) / 9, width = (bits + passes - 1) / passes;
    const uint64_t digit = (uint64_t{1} << width) - 1;
    std::array<std::array<uint32_t, 512>, 4> place;
    for (int p = 0; p < passes; ++p) std::fill_n(place[p].begin(), digit + 1, 0);
    for (const uint64_t entry : entries)
        for (int p = 0; p < passes; ++p) ++place[p][entry >> (32 + width * p) & digit];
    scratch.resize(n);
    for (int p = 0; p < passes; ++p) {
        uint32_t sum = 0;
        for (uint64_t d = 0; d <= digit; ++d) sum += std::exchange(place[p][d], sum);
        for (const uint64_t entry : entries) scratch[place[p][entry >> (32 + width * p) & digit]++] = entry;
        entries.swap(scratch);
    }
}

// The row of the current document in a thread that counts many. For every term, the caller stores where the
// term was last counted (0 at first), so nothing has to be cleared between rows.
class OpenRow {
  public:
    // The state that a loop keeps in registers.
    struct Writer {
        uint32_t *ids, *counts;
        uint32_t start, size;

        // `last` is 1 + the position in all rows of this thread; if it is not beyond this row's start, the
        // term is new to the row. Branch-free, since the CPU cannot predict whether a term is new.
        WIDEMARGIN_HOT void add(uint32_t id, uint32_t& last) {
            const uint32_t seen = 0u - static_cast<uint32_t>(last > start);  // all ones or all zeros
            const uint32_t at = (seen & (last - start - 1)) | (~seen & size);
            ids[at] = id;
            counts[at] = (counts[at] & seen) + 1;
            last = start + at + 1;
            size += 1 + seen;
        }
    };

    // For up to `more` calls of add. Return it with `written`.
    Writer writer(size_t more) {
        const size_t most = size_ + more;
        if (most > ids_.size()) {
            ids_.resize(most + most / 2);
            counts_.resize(ids_.size());
        }
        return {ids_.data(), counts_.data(), start_, size_};
    }
    void written(const Writer& writer) { size_ = writer.size; }

    const uint32_t* ids() const { return ids_.data(); }
    const uint32_t* counts() const { return counts_.data(); }
    uint32_t size() const { return size_; }

    void next() {
        start_ += size_;
        size_ = 0;
        check_non_zeros(start_);
    }

  private:
    std::vector<uint32_t> ids_, counts_;
    uint32_t start_ = 0, size_ = 0;
};

// The columns of a thread's term numbers; -1 for none.
struct ColumnMap {
    std::vector<int32_t> units, longer;  // see text/ngrams.hpp
    uint32_t max_column = 0;

    int32_t operator()(uint32_t id) const { return id < 0x80000000u ? units[id] : longer[id - 0x80000000u]; }
};

// The rows of consecutive documents. A count takes one byte; the few larger ones are stored separately.
class RowPiece {
  public:
    int64_t first_row = 0;
    int owner = 0;  // the thread that numbered the terms, until numbers become columns

    int64_t n_rows() const { return static_cast<int64_t>(lengths_.size()); }
    int64_t non_zeros() const { return static_cast<int64_t>(ids_.size()); }

    void add(const uint32_t* ids, const uint32_t* counts, size_t n) {
        ids_.insert(ids_.end(), ids, ids + n);
        const size_t at = counts_.size();
        counts_.resize(at + n);
        for (size_t i = 0; i < n; ++i) set_count(at + i, counts[i]);
        lengths_.push_back(static_cast<uint32_t>(n));
    }

    // Like `add`, with columns in any order.
    void add_unsorted(const OpenRow& row, std::vector<uint64_t>& entries, std::vector<uint64_t>& scratch,
                      uint32_t max_column) {
        entries.resize(row.size());
        for (uint32_t i = 0; i < row.size(); ++i) entries[i] = pack(row.ids()[i], row.counts()[i]);
        sort_entries(entries, scratch, max_column);
        const size_t at = ids_.size();
        ids_.resize(at + entries.size());
        counts_.resize(at + entries.size());
        for (size_t i = 0; i < entries.size(); ++i) {
            ids_[at + i] = static_cast<uint32_t>(entries[i] >> 32);
            set_count(at + i, static_cast<uint32_t>(entries[i]));
        }
        lengths_.push_back(row.size());
    }

    // The columns of a row, repeated as often as they occur, in any order.
    void add_occurrences(std::vector<uint64_t>& columns, std::vector<uint64_t>& scratch,
                         uint32_t max_column) {
        sort_entries(columns, scratch, max_column);
        uint32_t n = 0;
        for (size_t i = 0; i < columns.size(); ++n) {
            const uint64_t entry = columns[i];
            const size_t begin = i;
            while (i < columns.size() && columns[i] == entry) ++i;
            ids_.push_back(static_cast<uint32_t>(entry >> 32));
            counts_.push_back(0);
            set_count(counts_.size() - 1, static_cast<uint32_t>(i - begin));
        }
        lengths_.push_back(n);
    }

    // Replaces every id by its column, drops ids without one, and sorts the rows.
    void map_columns(const ColumnMap& column) {
        std::vector<uint64_t> entries, scratch;
        std::vector<uint32_t> large;
        large.swap(large_);
        size_t in = 0, out = 0, next_large = 0;
        for (uint32_t& length : lengths_) {
            entries.resize(length);
            size_t n = 0;
            for (const size_t end = in + length; in < end; ++in) {
                const uint32_t count = counts_[in] ? counts_[in] : large[next_large++];
                const int32_t to = column(ids_[in]);
                entries[n] = pack(static_cast<uint32_t>(to), count);
                n += to >= 0;
            }
            entries.resize(n);
            sort_entries(entries, scratch, column.max_column);
            length = static_cast<uint32_t>(entries.size());
            for (const uint64_t entry : entries) {
                ids_[out] = static_cast<uint32_t>(entry >> 32);
                set_count(out++, static_cast<uint32_t>(entry));
            }
        }
        ids_.resize(out);
        counts_.resize(out);
    }

    // Writes the rows to a matrix and frees them. `indptr`, `indices` and `counts` point to this piece's
    // first row.
    void release(int64_t first_entry, int64_t* indptr, int32_t* indices, int32_t* counts) {
        int64_t end = first_entry;
        for (size_t row = 0; row < lengths_.size(); ++row) indptr[row + 1] = end += lengths_[row];
        std::copy(ids_.begin(), ids_.end(), indices);
        size_t next_large = 0;
        for (size_t i = 0; i < counts_.size(); ++i)
            counts[i] = static_cast<int32_t>(counts_[i] ? counts_[i] : large_[next_large++]);
        *this = RowPiece();
    }

  private:
    // In ascending order of `at`.
    void set_count(size_t at, uint32_t count) {
        counts_[at] = count < 256 ? static_cast<uint8_t>(count) : 0;
        if (count >= 256) large_.push_back(count);
    }

    std::vector<uint32_t> ids_;
    std::vector<uint8_t> counts_;  // 0: the count is the next in large_
    std::vector<uint32_t> large_;
    std::vector<uint32_t> lengths_;
};

// The rows of all documents.
class Rows {
  public:
    std::vector<RowPiece> pieces;

    int64_t n_rows() const {
        int64_t n = 0;
        for (const RowPiece& piece : pieces) n += piece.n_rows();
        return n;
    }

    int64_t non_zeros() const {
        int64_t n = 0;
        for (const RowPiece& piece : pieces) n += piece.non_zeros();
        check_non_zeros(n);
        return n;
    }

    // Fills a CSR matrix (indptr has n_rows + 1 entries) and frees the rows. Call it once.
    template <class Run>
    void release(int64_t* indptr, int32_t* indices, int32_t* counts, Run&& run) {
        std::vector<int64_t> first(pieces.size());
        int64_t sum = 0;
        for (size_t p = 0; p < pieces.size(); ++p) {
            first[p] = sum;
            sum += pieces[p].non_zeros();
        }
        indptr[0] = 0;
        Pieces work(static_cast<int64_t>(pieces.size()), 1);
        run([&](int, const StopFlag& stop) {
            work.each(stop, [&](int64_t p) {
                pieces[p].release(first[p], indptr + pieces[p].first_row, indices + first[p],
                                  counts + first[p]);
            });
        });
        pieces.clear();
    }
};

// Cuts documents into consecutive pieces of about equal length; returns where each piece begins, and the end.
inline std::vector<int64_t> cut(const std::vector<TextView>& texts, int64_t n_pieces) {
    int64_t total = 0;
    for (const TextView& text : texts) total += text.length + 64;
    std::vector<int64_t> begins{0};
    int64_t sum = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
        sum += texts[i].length + 64;
        if (sum * n_pieces >= total * static_cast<int64_t>(begins.size())) begins.push_back(i + 1);
    }
    if (begins.back() != static_cast<int64_t>(texts.size())) begins.push_back(texts.size());
    return begins;
}

}  // namespace widemargin
