// Pairs of words near each other, counted per document while the set of pairs grows.
//
// A pair is two words with at most `reach` - 1 others between them: in their order, or in either order. The
// words are those that n-grams are made of, so stop words are gone, and pairs cross the ends of sentences as
// n-grams do. Every two positions count once, also if the word is the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/count_rows.hpp"
#include "text/terms/pair_table.hpp"

namespace widemargin {

// What stands between the two words of a term; never part of a word.
inline constexpr char kAfterMark[] = "...";
inline constexpr char kNearMark[] = "~";

// Which pairs count.
struct PairRule {
    int reach = 0;        // the largest distance of the two words; 0: no pairs
    bool ordered = true;  // whether the order of the words matters

    uint64_t key(uint32_t first, uint32_t second) const {
        if (ordered || first <= second) return pair_key(first, second);
        return pair_key(second, first);
    }
    const char* mark() const { return ordered ? kAfterMark : kNearMark; }
};

// Calls use(i, j) for every pair of positions i < j of which j is at least `done`.
template <class Use>
void for_each_pair_of(size_t size, size_t done, size_t reach, Use&& use) {
    for (size_t j = std::max<size_t>(done, 1); j < size; ++j)
        for (size_t i = j - std::min(j, reach); i < j; ++i) use(i, j);
}

// Counts the pairs of one thread's documents.
class WordPairs {
  public:
    explicit WordPairs(const PairRule& rule) : rule_(rule) {}

    // Counts the pairs that end at `done` or later; the caller keeps `reach` words before that. New pairs
    // get the next numbers.
    void count(const std::vector<uint32_t>& window, size_t done, uint32_t& next_id, OpenRow& open) {
        if (rule_.reach == 0) return;
        keys_.clear();
        for_each_pair_of(window.size(), done, rule_.reach,
                         [&](size_t i, size_t j) { keys_.push_back(rule_.key(window[i], window[j])); });
        OpenRow::Writer row = open.writer(keys_.size());
        for (size_t k = 0; k < keys_.size(); ++k) {
            if (k + kAhead < keys_.size()) table_.fetch(keys_[k + kAhead]);
            PairTable::Slot& slot = table_.find_or_add(keys_[k], next_id);
            row.add(slot.id, slot.last);
        }
        open.written(row);
    }

    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const PairTable::Slot& slot : table_.slots())
            if (slot.key != PairTable::kEmpty)
                visit(static_cast<uint32_t>(slot.key >> 32), static_cast<uint32_t>(slot.key), slot.id);
    }

  private:
    static constexpr size_t kAhead = 16;  // prefetch distance

    PairRule rule_;
    PairTable table_;
    std::vector<uint64_t> keys_;
};

}  // namespace widemargin
