// Distinct tokens: a table that grows while one thread reads, and their sorted union over all threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "large_array.hpp"
#include "text/hashing.hpp"

namespace widemargin {

// Concatenated strings: string i is bytes[offsets[i]] .. bytes[offsets[i + 1]].
struct Strings {
    std::vector<char> bytes;
    std::vector<int64_t> offsets{0};

    int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
    int64_t length(int64_t i) const { return offsets[i + 1] - offsets[i]; }
    const char* at(int64_t i) const { return bytes.data() + offsets[i]; }
    Token token(int64_t i) const { return make_token(at(i), static_cast<uint32_t>(length(i))); }
};

// Gives every distinct token a number: 0, 1, 2, ... in order of first appearance.
class TokenTable {
  public:
    struct Slot {
        uint64_t low, high;    // the first 16 bytes
        const char* bytes;     // of a longer token, in the arena
        uint32_t length, tag;  // tag 0: empty; otherwise the token's number + 1
    };

    TokenTable() : slots_(1 << 12), shift_(64 - 12) {}
    TokenTable(TokenTable&&) = default;  // slots point into the arena: never copied
    TokenTable& operator=(TokenTable&&) = default;

    WIDEMARGIN_HOT void fetch(const Token& token) const { prefetch(&slots_[token.hash >> shift_]); }

    uint32_t add(const Token& token) {
        size_t i = token.hash >> shift_;
        while (true) {
            Slot& slot = slots_[i];
            if (slot.tag == 0) return insert(i, token);
            if (same(slot, token)) return slot.tag - 1;
            i = (i + 1) & (slots_.size() - 1);
        }
    }

    static constexpr uint32_t kAbsent = 0xFFFFFFFF;

    uint32_t find(const Token& token) const {
        size_t i = token.hash >> shift_;
        while (slots_[i].tag) {
            if (same(slots_[i], token)) return slots_[i].tag - 1;
            i = (i + 1) & (slots_.size() - 1);
        }
        return kAbsent;
    }

    int64_t size() const { return count_; }
    const LargeArray<Slot>& slots() const { return slots_; }

  private:
    static constexpr uint32_t kMaxTokens = 0x7FFFFFF0;

    static bool same(const Slot& slot, const Token& token) {
        return slot.low == token.low && slot.high == token.high && slot.length == token.length &&
               (token.length <= 16 || std::memcmp(slot.bytes + 16, token.bytes + 16, token.length - 16) == 0);
    }

    WIDEMARGIN_RARE uint32_t insert(size_t i, const Token& token) {
        if (count_ >= kMaxTokens) throw std::overflow_error("more than 2**31 distinct tokens");
        slots_[i] = {token.low, token.high, token.length > 16 ? keep(token) : nullptr, token.length,
                     ++count_};
        const uint32_t number = count_ - 1;
        if (2 * static_cast<size_t>(count_) > slots_.size()) rehash();
        return number;
    }

    // Copies a long token's bytes to the arena.
    const char* keep(const Token& token) {
        if (free_ < token.length) {
            free_ = std::max<size_t>(token.length, 1 << 16);
            arena_.emplace_back(new char[free_]);
            top_ = arena_.back().get();
        }
        char* place = top_;
        std::memcpy(place, token.bytes, token.length);
        top_ += token.length;
        free_ -= token.length;
        return place;
    }

    WIDEMARGIN_RARE void rehash() {
        LargeArray<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        --shift_;
        for (const Slot& slot : old) {
            if (slot.tag == 0) continue;
            size_t i = token_hash(slot.bytes, slot.length, slot.low, slot.high) >> shift_;
            while (slots_[i].tag) i = (i + 1) & (slots_.size() - 1);
            slots_[i] = slot;
        }
    }

    LargeArray<Slot> slots_;
    int shift_;
    uint32_t count_ = 0;
    std::vector<std::unique_ptr<char[]>> arena_;
    char* top_ = nullptr;
    size_t free_ = 0;
};

inline uint64_t big_endian(uint64_t little) { return __builtin_bswap64(little); }

// A token of one table for sorting: by bytes, which is the order of code points.
struct SortableToken {
    uint64_t low, high;  // big-endian, so that integers compare as bytes do
    const char* bytes;   // of tokens longer than 16 bytes
    uint32_t length, number;
};

// Negative, zero or positive if a sorts before, equals, or sorts after b. Tokens contain no NUL, so the
// padding of a short one sorts before any character.
inline int compare(const SortableToken& a, const SortableToken& b) {
    if (a.low != b.low) return a.low < b.low ? -1 : 1;
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    if (a.length > 16 && b.length > 16) {
        const int order = std::memcmp(a.bytes + 16, b.bytes + 16, std::min(a.length, b.length) - 16);
        if (order) return order;
    }
    return a.length < b.length ? -1 : a.length > b.length;
}

// The table's tokens, except the first `n_skipped`.
inline std::vector<SortableToken> sorted_tokens(const TokenTable& table, uint32_t n_skipped) {
    std::vector<SortableToken> tokens;
    tokens.reserve(table.size());
    for (const TokenTable::Slot& slot : table.slots())
        if (slot.tag > n_skipped)
            tokens.push_back(
                {big_endian(slot.low), big_endian(slot.high), slot.bytes, slot.length, slot.tag - 1});
    std::sort(tokens.begin(), tokens.end(),
              [](const SortableToken& a, const SortableToken& b) { return compare(a, b) < 0; });
    return tokens;
}

inline void append(Strings& strings, const SortableToken& token) {
    const size_t at = strings.bytes.size();
    strings.bytes.resize(at + token.length);
    char* out = strings.bytes.data() + at;
    if (token.length > 16) {
        std::memcpy(out, token.bytes, token.length);
    } else {
        const uint64_t words[2] = {little_endian(big_endian(token.low)),
                                   little_endian(big_endian(token.high))};
        std::memcpy(out, words, token.length);
    }
    strings.offsets.push_back(strings.bytes.size());
}

// The sorted union of all threads' tokens; ranks[thread][number] becomes a token's position in it. The caller
// has sized the ranks for every number.
inline Strings merge_tokens(const std::vector<std::vector<SortableToken>>& threads,
                            std::vector<std::vector<uint32_t>>& ranks) {
    Strings all;
    std::vector<size_t> next(threads.size(), 0);
    size_t longest = 0, bytes = 0;
    for (size_t t = 0; t < threads.size(); ++t) {
        longest = std::max(longest, threads[t].size());
        for (const SortableToken& token : threads[t]) bytes += token.length;
    }
    all.offsets.reserve(longest + longest / 2 + 1);
    all.bytes.reserve(bytes);
    while (true) {
        const SortableToken* least = nullptr;
        for (size_t t = 0; t < threads.size(); ++t)
            if (next[t] < threads[t].size() && (!least || compare(threads[t][next[t]], *least) < 0))
                least = &threads[t][next[t]];
        if (!least) return all;
        const SortableToken token = *least;
        const auto rank = static_cast<uint32_t>(all.size());
        append(all, token);
        for (size_t t = 0; t < threads.size(); ++t)
            if (next[t] < threads[t].size() && compare(threads[t][next[t]], token) == 0)
                ranks[t][threads[t][next[t]++].number] = rank;
    }
}

// A fixed map from tokens to 64-bit values.
class TokenMap {
  public:
    // Adds a token with `value`; a token that is already there keeps its value. Returns the token's value.
    uint64_t add(const Token& token, uint64_t value) {
        const uint32_t number = table_.add(token);
        if (number == values_.size()) values_.push_back(value);
        return values_[number];
    }

    const uint64_t* find(const Token& token) const {
        const uint32_t number = table_.find(token);
        return number == TokenTable::kAbsent ? nullptr : &values_[number];
    }

    void fetch(const Token& token) const { table_.fetch(token); }
    int64_t size() const { return static_cast<int64_t>(values_.size()); }

  private:
    TokenTable table_;
    std::vector<uint64_t> values_;
};

}  // namespace widemargin
