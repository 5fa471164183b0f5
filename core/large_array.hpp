// Memory for tables that are read in random order. It is on large pages where the system has them, so that an
// access costs one cache miss instead of two. It is returned to the system as soon as it is free, since
// tables grow by being copied to larger ones. Small tables start on a cache line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace widemargin {

template <class T>
struct LargePages {
    using value_type = T;
    static constexpr std::size_t kPage = std::size_t{2} << 20;
    static constexpr std::align_val_t kCacheLine{64};

    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t n) {
#if defined(__linux__)
        if (n * sizeof(T) >= kPage) {
            const std::size_t bytes = round_up(n * sizeof(T));
            // One extra page, so that the range can be trimmed to whole pages at both ends.
            void* memory =
                mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory == MAP_FAILED) throw std::bad_alloc();
            auto* first = static_cast<char*>(memory);
            const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(first) % kPage) % kPage;
            if (before) munmap(first, before);
            munmap(first + before + bytes, kPage - before);
            madvise(first + before, bytes, MADV_HUGEPAGE);  // only a hint; failure is harmless
            return reinterpret_cast<T*>(first + before);
        }
#endif
        return static_cast<T*>(::operator new(n * sizeof(T), kCacheLine));
    }

    void deallocate(T* memory, [[maybe_unused]] std::size_t n) {
#if defined(__linux__)
        if (n * sizeof(T) >= kPage) {
            munmap(memory, round_up(n * sizeof(T)));
            return;
        }
#endif
        ::operator delete(memory, kCacheLine);
    }

    template <class U>
    bool operator==(const LargePages<U>&) const {
        return true;
    }
    template <class U>
    bool operator!=(const LargePages<U>&) const {
        return false;
    }

  private:
    static std::size_t round_up(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
};

// WIDEMARGIN_RARE keeps rare cases out of the loops that call them; WIDEMARGIN_HOT inlines the bodies of
// these loops.
#if defined(__GNUC__)
#define WIDEMARGIN_RARE __attribute__((noinline, cold))
#define WIDEMARGIN_HOT inline __attribute__((always_inline))
#else
#define WIDEMARGIN_RARE
#define WIDEMARGIN_HOT inline
#endif

// Prefetches the memory at `address`. Always inlined: GCC takes a function that only prefetches for one
// without effect, and may remove its calls.
WIDEMARGIN_HOT void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

template <class T>
using LargeArray = std::vector<T, LargePages<T>>;

}  // namespace widemargin
