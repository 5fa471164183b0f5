// Memory for tables that are read in random order: on large pages where the system has them, so that an
// access is one cache miss and not two.
#pragma once

#include <cstddef>
#include <cstdlib>
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

    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t n) {
#if defined(__linux__)
        if (n * sizeof(T) >= kPage) {
            const std::size_t bytes = (n * sizeof(T) + kPage - 1) / kPage * kPage;
            void* memory = std::aligned_alloc(kPage, bytes);
            if (!memory) throw std::bad_alloc();
            madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: without it everything still works
            return static_cast<T*>(memory);
        }
        if (void* memory = std::malloc(n * sizeof(T))) return static_cast<T*>(memory);
        throw std::bad_alloc();
#else
        return static_cast<T*>(::operator new(n * sizeof(T)));
#endif
    }

    void deallocate(T* memory, std::size_t) {
#if defined(__linux__)
        std::free(memory);
#else
        ::operator delete(memory);
#endif
    }

    template <class U>
    bool operator==(const LargePages<U>&) const {
        return true;
    }
    template <class U>
    bool operator!=(const LargePages<U>&) const {
        return false;
    }
};

// Asks for the memory at `address` before it is needed.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

template <class T>
using LargeArray = std::vector<T, LargePages<T>>;

}  // namespace widemargin
