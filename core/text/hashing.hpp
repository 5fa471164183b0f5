// The hash of a term: the same on every platform and for any number of threads. Models in hashing mode depend
// on it, so it must never change.
//
// A unit (a word or a character) is its UTF-8 bytes, read as at least two little-endian words of 64 bits,
// padded with zeros. With all arithmetic modulo 2^64:
//     h = length * K1;  for each word w: h = (h ^ w) * K2, h ^= h >> 32;  hash = h * K3
// The hash of an n-gram combines the hash p of its first n - 1 units with the hash u of the last:
//     x = p * K1 ^ u;  x ^= x >> 32;  hash = x * K3
// The column out of m is (hash >> 32) * m >> 32.
#pragma once

#include <cstdint>
#include <cstring>

namespace widemargin {

inline constexpr uint64_t kHash1 = 0x9E3779B97F4A7C15u, kHash2 = 0xD6E8FEB86659FD93u,
                          kHash3 = 0xFF51AFD7ED558CCDu;

inline uint64_t hash_step(uint64_t h, uint64_t word) {
    h = (h ^ word) * kHash2;
    return h ^ h >> 32;
}

inline uint64_t hash_pair(uint64_t prefix, uint64_t unit) {
    uint64_t x = prefix * kHash1 ^ unit;
    x ^= x >> 32;
    return x * kHash3;
}

inline uint32_t hash_column(uint64_t hash, uint64_t columns) {
    return static_cast<uint32_t>((hash >> 32) * columns >> 32);
}

inline uint64_t little_endian(uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

// The first `length` < 8 bytes at `p` as a little-endian word, without reading beyond them.
inline uint64_t load_part(const char* p, int64_t length) {
    uint64_t word = 0;
    std::memcpy(&word, p, length);
    return little_endian(word);
}

inline uint64_t load_word(const char* p) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    return little_endian(word);
}

// A token: where its bytes are, the first 16 of them as two words (padded with zeros), its hash, and which
// bytes of the text it came from.
struct Token {
    const char* bytes;
    uint64_t low, high, hash;
    uint32_t length, begin, end;
};

inline uint64_t token_hash(const char* bytes, uint32_t length, uint64_t low, uint64_t high) {
    uint64_t h = hash_step(hash_step(length * kHash1, low), high);
    if (length > 16) {
        uint32_t i = 16;
        for (; i + 8 <= length; i += 8) h = hash_step(h, load_word(bytes + i));
        if (i < length) h = hash_step(h, load_part(bytes + i, length - i));
    }
    return h * kHash3;
}

// Masks for the first 8 bytes of tokens of 0 .. 16 bytes, then for the next 8.
struct FirstBytes {
    uint64_t mask[34];
    constexpr FirstBytes() : mask() {
        for (int length = 0; length <= 16; ++length) {
            mask[length] = length >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * length) - 1;
            mask[17 + length] = length <= 8    ? 0
                                : length >= 16 ? ~uint64_t{0}
                                               : (uint64_t{1} << 8 * (length - 8)) - 1;
        }
    }
    constexpr uint64_t operator[](uint32_t i) const { return mask[i]; }
};
inline constexpr FirstBytes kFirstBytes;

// A token with at least 16 readable bytes from its start, whatever its length.
inline Token padded_token(const char* bytes, uint32_t length) {
    // A table instead of branches, since the CPU cannot predict the lengths of words.
    const uint64_t low = load_word(bytes) & kFirstBytes[length < 16 ? length : 16];
    const uint64_t high = load_word(bytes + 8) & kFirstBytes[length < 16 ? length + 17 : 33];
    return {bytes, low, high, token_hash(bytes, length, low, high), length, 0, 0};
}

// A token without padding.
inline Token make_token(const char* bytes, uint32_t length) {
    if (length >= 16) return padded_token(bytes, length);
    char padded[16] = {};
    std::memcpy(padded, bytes, length);
    Token token = padded_token(padded, length);
    token.bytes = bytes;
    return token;
}

}  // namespace widemargin
