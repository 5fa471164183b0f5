// Sorted keys of several threads, merged by several threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "large_array.hpp"

namespace widemargin {

struct KeyedId {
    uint64_t key;
    uint32_t id;
};

// Radix sort by key, with digits of 11 bits, lowest first; digits in which no keys differ are skipped.
inline void sort_by_key(LargeArray<KeyedId>& items) {
    uint64_t any = 0, all = ~uint64_t{0};
    for (const KeyedId& item : items) {
        any |= item.key;
        all &= item.key;
    }
    const uint64_t differs = items.empty() ? 0 : any & ~all;
    LargeArray<KeyedId> scratch(items.size());
    for (int shift = 0; shift < 64; shift += 11) {
        if (!(differs >> shift & 0x7FF)) continue;
        std::array<uint32_t, 2048> place{};
        for (const KeyedId& item : items) ++place[item.key >> shift & 0x7FF];
        uint32_t sum = 0;
        for (uint32_t& at : place) {
            const uint32_t count = at;
            at = sum;
            sum += count;
        }
        for (const KeyedId& item : items) scratch[place[item.key >> shift & 0x7FF]++] = item;
        items.swap(scratch);
    }
}

// bounds[r][t]: where thread t's pairs of range r begin.
inline std::vector<std::vector<size_t>> cut_keys(const std::vector<LargeArray<KeyedId>>& items) {
    const size_t n = items.size();
    std::vector<std::vector<size_t>> bounds(n + 1, std::vector<size_t>(n, 0));
    const auto& longest = *std::max_element(items.begin(), items.end(),
                                            [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (size_t t = 0; t < n; ++t) bounds[n][t] = items[t].size();
    if (longest.empty()) return bounds;
    for (size_t r = 1; r < n; ++r) {
        const uint64_t key = longest[longest.size() * r / n].key;
        for (size_t t = 0; t < n; ++t)
            bounds[r][t] = std::lower_bound(items[t].begin(), items[t].end(), key,
                                            [](const KeyedId& item, uint64_t k) { return item.key < k; }) -
                           items[t].begin();
    }
    return bounds;
}

// Appends the distinct keys to `merged` and replaces every item's key by its position there.
inline void merge_range(std::vector<LargeArray<KeyedId>>& items, const std::vector<size_t>& begin,
                        const std::vector<size_t>& end, std::vector<uint64_t>& merged) {
    std::vector<size_t> next = begin;
    size_t longest = 0;
    for (size_t t = 0; t < items.size(); ++t) longest = std::max(longest, end[t] - begin[t]);
    merged.reserve(longest + longest / 2);
    while (true) {
        uint64_t least = ~uint64_t{0};
        for (size_t t = 0; t < items.size(); ++t)
            if (next[t] < end[t]) least = std::min(least, items[t][next[t]].key);
        if (least == ~uint64_t{0}) return;
        for (size_t t = 0; t < items.size(); ++t)
            if (next[t] < end[t] && items[t][next[t]].key == least) items[t][next[t]++].key = merged.size();
        merged.push_back(least);
    }
}

}  // namespace widemargin
