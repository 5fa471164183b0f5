// 64-bit hashes: checksums of what is written to disk, and keys of documents. The same on every platform and
// for any number of threads.
//
// Bytes are read as little-endian words of 64 bits, the last one padded with zeros. Four chains of hash_step
// take every fourth word, so that none waits for another; then the chains and the length are mixed.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "text/hashing.hpp"
#include "text/text_view.hpp"

namespace widemargin::on_disk {

// Every bit of the result depends on every bit of `h`.
inline uint64_t mixed(uint64_t h) {
    h ^= h >> 32;
    h *= kHash3;
    h ^= h >> 29;
    h *= kHash2;
    return h ^ h >> 32;
}

inline uint64_t hash_bytes(const void* data, int64_t size, uint64_t seed) {
    const char* p = static_cast<const char*>(data);
    const char* const end = p + size;
    uint64_t lanes[4] = {seed ^ kHash1, seed ^ kHash2, seed ^ kHash3, seed};
    for (; end - p >= 32; p += 32)
        for (int k = 0; k < 4; ++k) lanes[k] = hash_step(lanes[k], load_word(p + 8 * k));
    int lane = 0;
    for (; end - p >= 8; p += 8, ++lane) lanes[lane] = hash_step(lanes[lane], load_word(p));
    if (p < end) lanes[lane] = hash_step(lanes[lane], load_part(p, end - p));
    uint64_t h = hash_step(seed, static_cast<uint64_t>(size));
    for (const uint64_t each : lanes) h = hash_step(h, mixed(each));
    return mixed(h);
}

// The hash of a text: of its UTF-8, whatever its encoding is. `buffer` is for texts that are not UTF-8.
// A lone surrogate is written as its three bytes.
class TextHash {
  public:
    uint64_t operator()(const TextView& text, uint64_t seed) {
        switch (text.encoding) {
            case Encoding::latin1:
                return converted(static_cast<const uint8_t*>(text.data), text.length, seed);
            case Encoding::ucs2:
                return converted(static_cast<const uint16_t*>(text.data), text.length, seed);
            case Encoding::ucs4:
                return converted(static_cast<const uint32_t*>(text.data), text.length, seed);
            default:
                return hash_bytes(text.data, text.length, seed);
        }
    }

  private:
    template <class Unit>
    uint64_t converted(const Unit* units, int64_t length, uint64_t seed) {
        if (static_cast<int64_t>(buffer_.size()) < 4 * length) buffer_.resize(4 * length);
        char* out = buffer_.data();
        for (int64_t i = 0; i < length; ++i) {
            const uint32_t c = units[i];
            if (c < 0x80) {
                *out++ = static_cast<char>(c);
            } else if (c < 0x800) {
                *out++ = static_cast<char>(0xC0 | c >> 6);
                *out++ = static_cast<char>(0x80 | (c & 0x3F));
            } else if (c < 0x10000) {
                *out++ = static_cast<char>(0xE0 | c >> 12);
                *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3F));
                *out++ = static_cast<char>(0x80 | (c & 0x3F));
            } else {
                *out++ = static_cast<char>(0xF0 | c >> 18);
                *out++ = static_cast<char>(0x80 | (c >> 12 & 0x3F));
                *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3F));
                *out++ = static_cast<char>(0x80 | (c & 0x3F));
            }
        }
        return hash_bytes(buffer_.data(), out - buffer_.data(), seed);
    }

    std::vector<char> buffer_;
};

// hashes[i] becomes the hash of itself and of values[indptr[i]] .. values[indptr[i + 1]].
template <class T>
void hash_lists(const int64_t* indptr, int64_t n, const T* values, uint64_t* hashes) {
    for (int64_t i = 0; i < n; ++i) {
        const int64_t size = (indptr[i + 1] - indptr[i]) * static_cast<int64_t>(sizeof(T));
        hashes[i] = hash_bytes(values + indptr[i], size, hashes[i]);
    }
}

}  // namespace widemargin::on_disk
