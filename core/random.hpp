// A small seeded generator: the same sequence on every platform, unlike the standard library's distributions.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace widemargin {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    // Uniform in [0, bound): the high half of a 64-bit product. Its bias is below 2^-32 and does not matter
    // here.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * std::uint64_t(bound)) >> 32);
    }

    template <typename Value>
    void shuffle(std::vector<Value>& values) {
        for (std::size_t k = values.size(); k > 1; --k) {
            std::swap(values[k - 1], values[below(static_cast<std::uint32_t>(k))]);
        }
    }

  private:
    std::uint64_t state_;
};

}  // namespace widemargin
