// Large blocks of memory that are kept when they are given back, and handed out again.
//
// The first touch of memory from the system is a page fault for every page, which on a virtual machine can
// cost more than a pass over the documents whose weights go there. Learners that are fitted again, in folds
// or on other parameters, ask for the same sizes again. At most kMostKept bytes wait here; what was given
// back first goes back to the system first. Contents are not cleared: whoever takes a block fills it.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "large_array.hpp"

namespace widemargin {

class RecycledMemory {
  public:
    // Never destroyed: arrays may outlive everything else in the process.
    static RecycledMemory& shared() {
        static RecycledMemory* const memory = new RecycledMemory;
        return *memory;
    }

    void* take(std::size_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const std::size_t size = rounded(bytes);
        auto best = kept_.end();
        for (auto block = kept_.begin(); block != kept_.end(); ++block) {
            const bool fits = block->size >= size && block->size <= size + size / 4;
            if (fits && (best == kept_.end() || block->size < best->size)) best = block;
        }
        Block taken{nullptr, size};
        if (best == kept_.end()) {
            taken.start = pages_.allocate(size);
        } else {
            taken = *best;
            n_kept_ -= taken.size;
            kept_.erase(best);
        }
        lent_[taken.start] = taken.size;
        return taken.start;
    }

    void give_back(void* start) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto lent = lent_.find(start);
        kept_.push_back({static_cast<char*>(start), lent->second});
        n_kept_ += lent->second;
        lent_.erase(lent);
        while (n_kept_ > kMostKept) {
            pages_.deallocate(kept_.front().start, kept_.front().size);
            n_kept_ -= kept_.front().size;
            kept_.pop_front();
        }
    }

  private:
    struct Block {
        char* start;
        std::size_t size;
    };
    static constexpr std::size_t kMostKept = std::size_t{128} << 20;
    static constexpr std::size_t kSmallPiece = std::size_t{64} << 10;

    // Whole large pages where they are not mostly empty.
    static std::size_t rounded(std::size_t bytes) {
        const std::size_t large = LargePages<char>::kPage, unit = 2 * bytes >= large ? large : kSmallPiece;
        return (bytes + unit - 1) / unit * unit;
    }

    std::mutex mutex_;
    LargePages<char> pages_;
    std::deque<Block> kept_;  // in the order in which they were given back
    std::size_t n_kept_ = 0;  // bytes
    std::unordered_map<void*, std::size_t> lent_;
};

// For arrays of a learner: small ones as usual.
template <class T>
struct Recycled {
    using value_type = T;
    static constexpr std::size_t kSmall = std::size_t{64} << 10;

    Recycled() = default;
    template <class U>
    Recycled(const Recycled<U>&) {}

    T* allocate(std::size_t n) {
        if (n * sizeof(T) < kSmall) return LargePages<T>().allocate(n);
        return static_cast<T*>(RecycledMemory::shared().take(n * sizeof(T)));
    }
    void deallocate(T* start, std::size_t n) {
        n * sizeof(T) < kSmall ? LargePages<T>().deallocate(start, n)
                               : RecycledMemory::shared().give_back(start);
    }
    template <class U>
    bool operator==(const Recycled<U>&) const {
        return true;
    }
    template <class U>
    bool operator!=(const Recycled<U>&) const {
        return false;
    }
};

template <class T>
using RecycledArray = std::vector<T, Recycled<T>>;

}  // namespace widemargin
