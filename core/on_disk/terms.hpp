// Sorted lists of terms: merging several into one, and finding the terms of one in another.
//
// Lists come in pages, so that files of any size are merged with a few pages in memory. A term that several
// lists have becomes one, with the sums of its frequencies. Terms are compared as bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "on_disk/row_codec.hpp"

namespace widemargin::on_disk {

struct Term {
    const char* bytes;
    int64_t length;
    uint64_t prefix;  // the first 8 bytes, as a number that sorts as they do

    Term() = default;
    Term(const char* bytes, int64_t length) : bytes(bytes), length(length), prefix(0) {
        char first[8] = {};
        std::memcpy(first, bytes, static_cast<size_t>(std::min<int64_t>(length, 8)));
        for (const char byte : first) prefix = prefix << 8 | static_cast<uint8_t>(byte);
    }

    // < 0, 0 or > 0, as the terms sort.
    int compare(const Term& other) const {
        if (prefix != other.prefix) return prefix < other.prefix ? -1 : 1;
        const int64_t shared = std::min(length, other.length);
        const int order = shared > 0 ? std::memcmp(bytes, other.bytes, static_cast<size_t>(shared)) : 0;
        return order != 0 ? order : length < other.length ? -1 : length > other.length;
    }
};

struct TermPage {
    const char* bytes = nullptr;
    const int64_t* offsets = nullptr;
    const int64_t* frequencies = nullptr;
    const int64_t* totals = nullptr;
    int64_t size = 0;

    Term term(int64_t i) const { return {bytes + offsets[i], offsets[i + 1] - offsets[i]}; }
};

// Offsets that stay within the bytes.
inline void check_offsets(const TermPage& page, int64_t n_bytes) {
    if (page.offsets[0] != 0 || page.offsets[page.size] != n_bytes) throw Corrupt("terms with wrong offsets");
    for (int64_t i = 0; i < page.size; ++i)
        if (page.offsets[i] > page.offsets[i + 1]) throw Corrupt("terms with wrong offsets");
}

inline bool ascend(const TermPage& page) {
    for (int64_t i = 1; i < page.size; ++i)
        if (page.term(i - 1).compare(page.term(i)) >= 0) return false;
    return true;
}

struct MergedTerms {
    std::vector<uint8_t> bytes;
    std::vector<int64_t> offsets{0}, frequencies, totals;
};

class TermMerge {
  public:
    explicit TermMerge(int64_t n_sources) : sources_(n_sources), missing_(n_sources) {}

    // The next page of a source, which stays valid until the next one is given; `last`: there are no more.
    void feed(int64_t source, const TermPage& page, bool last) {
        Source& fed = sources_.at(static_cast<size_t>(source));
        if (fed.active || fed.last) throw std::invalid_argument("the source was not asked for");
        if (page.size == 0 && !last) throw std::invalid_argument("an empty page");
        if (!ascend(page)) throw Corrupt("terms that do not ascend");
        if (page.size > 0 && fed.has_before) {
            const Term before(fed.before.data(), static_cast<int64_t>(fed.before.size()));
            if (before.compare(page.term(0)) >= 0) throw Corrupt("terms that do not ascend");
        }
        --missing_;
        fed.page = page;
        fed.at = 0;
        fed.last = last;
        if (page.size == 0) return;
        const Term end = page.term(page.size - 1);
        fed.before.assign(end.bytes, static_cast<size_t>(end.length));
        fed.has_before = fed.active = true;
        heap_.push_back({page.term(0), source});
        std::push_heap(heap_.begin(), heap_.end(), after);
    }

    // Merges until a source needs its next page, and returns its number; -1 at the end of all.
    int64_t advance() {
        if (missing_ > 0) throw std::invalid_argument("every source needs a page");
        while (!heap_.empty()) {
            const Head head = heap_.front();
            Source& source = sources_[head.source];
            const bool known =
                has_last_ && head.term.length == out.offsets.back() - out.offsets[out.offsets.size() - 2] &&
                (head.term.length == 0 ||
                 std::memcmp(head.term.bytes, out.bytes.data() + out.offsets[out.offsets.size() - 2],
                             static_cast<size_t>(head.term.length)) == 0);
            if (!known) {
                out.bytes.insert(out.bytes.end(), head.term.bytes, head.term.bytes + head.term.length);
                out.offsets.push_back(static_cast<int64_t>(out.bytes.size()));
                out.frequencies.push_back(0);
                out.totals.push_back(0);
                has_last_ = true;
            }
            out.frequencies.back() += source.page.frequencies[source.at];
            out.totals.back() += source.page.totals[source.at];
            if (++source.at < source.page.size) {
                replace_first({source.page.term(source.at), head.source});
                continue;
            }
            std::pop_heap(heap_.begin(), heap_.end(), after);
            heap_.pop_back();
            source.active = false;
            if (!source.last) {
                ++missing_;
                return head.source;
            }
        }
        return -1;
    }

    // What was merged; the last term stays unless all sources ended, since others may still have it.
    MergedTerms take() {
        MergedTerms taken = std::move(out);
        out = MergedTerms();
        if (has_last_ && !(heap_.empty() && missing_ == 0)) {
            const int64_t begin = taken.offsets[taken.offsets.size() - 2];
            out.bytes.assign(taken.bytes.begin() + begin, taken.bytes.end());
            out.offsets.push_back(static_cast<int64_t>(out.bytes.size()));
            out.frequencies.push_back(taken.frequencies.back());
            out.totals.push_back(taken.totals.back());
            taken.bytes.resize(static_cast<size_t>(begin));
            taken.offsets.pop_back();
            taken.frequencies.pop_back();
            taken.totals.pop_back();
        } else {
            has_last_ = false;
        }
        return taken;
    }

    int64_t n_ready() const { return static_cast<int64_t>(out.frequencies.size()); }

  private:
    struct Source {
        TermPage page;
        int64_t at = 0;
        bool active = false, last = false, has_before = false;
        std::string before;  // the last term of the page before
    };
    struct Head {
        Term term;
        int64_t source;
    };

    static bool after(const Head& a, const Head& b) {
        const int order = a.term.compare(b.term);
        return order != 0 ? order > 0 : a.source > b.source;
    }

    // As pop_heap and push_heap, in one walk.
    void replace_first(const Head& head) {
        size_t hole = 0;
        const size_t n = heap_.size();
        for (size_t child; (child = 2 * hole + 1) < n; hole = child) {
            if (child + 1 < n && after(heap_[child], heap_[child + 1])) ++child;
            if (!after(head, heap_[child])) break;
            heap_[hole] = heap_[child];
        }
        heap_[hole] = head;
    }

    std::vector<Source> sources_;
    std::vector<Head> heap_;
    int64_t missing_;
    bool has_last_ = false;
    MergedTerms out;
};

// columns[i] = where term i of `terms` is among `known`, or -1. Both ascend: every search begins where the
// one before ended, and doubles its steps.
inline void find_terms(const TermPage& terms, const TermPage& known, int32_t* columns) {
    int64_t at = 0;
    for (int64_t i = 0; i < terms.size; ++i) {
        const Term wanted = terms.term(i);
        int64_t step = 1, low = at;
        while (at < known.size && known.term(at).compare(wanted) < 0) {
            low = at + 1;
            at += step;
            step *= 2;
        }
        int64_t high = std::min(at, known.size);
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (known.term(middle).compare(wanted) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        at = low;
        columns[i] = at < known.size && known.term(at).compare(wanted) == 0 ? static_cast<int32_t>(at) : -1;
    }
}

// Columns become columns[column]; entries whose new column is -1 are dropped. All in place; returns the
// number of entries that are left. New columns keep the order of the old ones.
template <class T>
int64_t renumber_rows(int64_t* indptr, int64_t n_rows, int32_t* indices, T* values, const int32_t* columns) {
    int64_t kept = 0, begin = 0;
    for (int64_t row = 0; row < n_rows; ++row) {
        const int64_t end = indptr[row + 1];
        for (int64_t k = begin; k < end; ++k) {
            const int32_t column = columns[indices[k]];
            indices[kept] = column;
            values[kept] = values[k];
            kept += column >= 0;
        }
        begin = end;
        indptr[row + 1] = kept;
    }
    return kept;
}

}  // namespace widemargin::on_disk
