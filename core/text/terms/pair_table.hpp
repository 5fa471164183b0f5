// A hash table of pairs of numbers, for terms that are made of shorter ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "large_array.hpp"
#include "text/hashing.hpp"

namespace widemargin {

// No unit, or none that is known.
inline constexpr uint32_t kNone = 0xFFFFFFFF;

inline uint64_t pair_key(uint32_t prefix, uint32_t unit) {
    return static_cast<uint64_t>(prefix) << 32 | unit;
}

// (prefix, unit) -> number, and where in the current rows the n-gram was last counted.
class PairTable {
  public:
    struct Slot {
        uint64_t key;
        uint32_t id, last;
    };
    static constexpr uint64_t kEmpty = ~uint64_t{0};

    PairTable() : slots_(1 << 10, Slot{kEmpty, 0, 0}), shift_(64 - 10) {}

    WIDEMARGIN_HOT void fetch(uint64_t key) const { prefetch(&slots_[hash(key) >> shift_]); }

    Slot& find_or_add(uint64_t key, uint32_t& next_id) {
        size_t i = hash(key) >> shift_;
        while (slots_[i].key != key) {
            if (slots_[i].key == kEmpty) return insert(i, key, next_id);
            i = (i + 1) & (slots_.size() - 1);
        }
        return slots_[i];
    }

    // Reserves room for `n` keys.
    void reserve(int64_t n) {
        int bits = 10;
        while ((int64_t{1} << bits) < 2 * n) ++bits;
        if ((size_t{1} << bits) > slots_.size()) resize(bits);
    }

    // Adds a new key with a given number.
    uint32_t add(uint64_t key, uint32_t id) { return insert(place_of(key), key, id).id; }

    const Slot* find(uint64_t key) const {
        const size_t i = place_of(key);
        return slots_[i].key == key ? &slots_[i] : nullptr;
    }

    int64_t size() const { return count_; }
    const LargeArray<Slot>& slots() const { return slots_; }

    void clear() {
        slots_ = LargeArray<Slot>();
        count_ = 0;
    }

  private:
    static uint64_t hash(uint64_t key) {
        key ^= key >> 32;
        return key * kHash1;
    }

    Slot& insert(size_t i, uint64_t key, uint32_t& next_id) {
        if (next_id >= 0xFFFFFFF0u) throw std::overflow_error("2**31 distinct n-grams or more");
        slots_[i] = {key, next_id++, 0};
        if (static_cast<size_t>(++count_) * 2 <= slots_.size()) return slots_[i];
        resize(64 - shift_ + 1);
        return slots_[place_of(key)];
    }

    WIDEMARGIN_RARE void resize(int bits) {
        LargeArray<Slot> old(size_t{1} << bits, Slot{kEmpty, 0, 0});
        old.swap(slots_);
        shift_ = 64 - bits;
        for (const Slot& slot : old)
            if (slot.key != kEmpty) slots_[place_of(slot.key)] = slot;
    }

    // The place of `key`, or the empty place where it belongs.
    size_t place_of(uint64_t key) const {
        size_t i = hash(key) >> shift_;
        while (slots_[i].key != kEmpty && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
        return i;
    }

    LargeArray<Slot> slots_;
    int shift_;
    int64_t count_ = 0;
};

}  // namespace widemargin
