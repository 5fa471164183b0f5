// Pairs and triples of ASCII characters, found by index instead of by hash.
//
// Most characters of most texts are ASCII, and few triples occur. A row of 128 places for every pair that
// begins a triple stays in the cache; a hash table of the same triples does not.
#pragma once

#include <cstdint>
#include <vector>

#include "large_array.hpp"

namespace widemargin {

class AsciiNgrams {
  public:
    struct Slot {
        uint32_t id, last;  // id 0: not seen; for `last` see text/count_rows.hpp
    };

    AsciiNgrams() : pairs_(1 << 14), row_of_(1 << 14) {}

    Slot& pair(uint32_t a, uint32_t b) { return pairs_[a << 7 | b]; }

    Slot& triple(uint32_t a, uint32_t b, uint32_t c) {
        uint32_t row = row_of_[a << 7 | b];
        if (row == 0) row = add_row(a << 7 | b);
        return triples_[static_cast<size_t>(row - 1) << 7 | c];
    }

    // Prefetches the place of a triple, if it has one.
    WIDEMARGIN_HOT void fetch(uint32_t a, uint32_t b, uint32_t c) const {
        const uint32_t row = row_of_[(a << 7 | b) & ((1 << 14) - 1)];
        prefetch(triples_.data() + (static_cast<size_t>(row - (row > 0)) << 7 | (c & 127)));
    }

    // visit(a, b, slot) for every pair that has a number, visit(a, b, c, slot) for every triple.
    template <class Visit>
    void for_each_pair(Visit&& visit) const {
        for (uint32_t p = 0; p < pairs_.size(); ++p)
            if (pairs_[p].id) visit(p >> 7, p & 127, pairs_[p]);
    }
    template <class Visit>
    void for_each_triple(Visit&& visit) const {
        for (uint32_t p = 0; p < row_of_.size(); ++p) {
            if (row_of_[p] == 0) continue;
            const Slot* row = triples_.data() + (static_cast<size_t>(row_of_[p] - 1) << 7);
            for (uint32_t c = 0; c < 128; ++c)
                if (row[c].id) visit(p >> 7, p & 127, c, row[c]);
        }
    }

  private:
    uint32_t add_row(uint32_t pair) {
        triples_.resize(triples_.size() + 128);
        return row_of_[pair] = static_cast<uint32_t>(triples_.size() >> 7);
    }

    std::vector<Slot> pairs_;
    std::vector<uint32_t> row_of_;  // by pair: 1 + the row of its triples
    LargeArray<Slot> triples_;
};

}  // namespace widemargin
