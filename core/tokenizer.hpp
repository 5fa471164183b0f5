// Tokens of a normalized document: the longest runs of word characters.
//
// Joachims 2000, 2.7.2: words are what stands between white space and punctuation, in lower case, and all
// numbers are projected onto a single token.
#pragma once

#include <cstdint>

#include "hashing.hpp"
#include "normalizer.hpp"

namespace widemargin {

// The token that stands for every number, and the same with room to read 16 bytes. No word contains `<`.
inline constexpr char kNumberToken[17] = "<number>\0\0\0\0\0\0\0";
inline constexpr uint32_t kNumberLength = 8;

// What to do with the words of a document, and which to leave out.
struct TokenRule {
    Alphabet alphabet = Alphabet::thesis;
    bool join_numbers = true;  // every number becomes kNumberToken
    int64_t min_length = 1;    // in characters; shorter words are as if they were not there
};

inline int count_trailing_zeros(uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
    unsigned long index;
    _BitScanForward64(&index, word);
    return static_cast<int>(index);
#else
    return __builtin_ctzll(word);
#endif
}

inline bool bit_at(const uint64_t* bits, int64_t i) { return bits[i / 64] >> i % 64 & 1; }

// Calls emit(begin, end) for every word, byte positions in `text.bytes()`.
template <class Emit>
void for_each_word(const Normalizer& text, Emit&& emit) {
    const uint64_t* words = text.words();
    const int64_t n_words = (text.size() + 63) / 64;
    int64_t begin = -1;
    uint64_t carry = 0;
    for (int64_t w = 0; w < n_words; ++w) {
        // A bit is set where a word begins or has just ended.
        uint64_t edges = words[w] ^ (words[w] << 1 | carry);
        carry = words[w] >> 63;
        while (edges) {
            const int64_t at = w * 64 + count_trailing_zeros(edges);
            edges &= edges - 1;
            if (begin < 0) {
                begin = at;
            } else {
                emit(begin, at);
                begin = -1;
            }
        }
    }
    if (begin >= 0) emit(begin, text.size());
}

inline bool long_enough(const char* bytes, int64_t length, int64_t min_length) {
    if (length < min_length) return false;
    if (min_length <= 1 || length >= 4 * min_length) return true;
    int64_t characters = 0;
    for (int64_t i = 0; i < length; ++i) characters += (bytes[i] & 0xC0) != 0x80;
    return characters >= min_length;
}

inline bool is_number(const Normalizer& text, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
        if (!bit_at(text.numbers(), i)) return false;
    return true;
}

// Calls emit(token, begin, end) for every token of `text` under `rule`.
template <class Emit>
void for_each_token(const Normalizer& text, const TokenRule& rule, Emit&& emit) {
    const Token number = padded_token(kNumberToken, kNumberLength);
    const char* bytes = text.bytes();
    for_each_word(text, [&](int64_t begin, int64_t end) {
        if (!long_enough(bytes + begin, end - begin, rule.min_length)) return;
        if (rule.join_numbers && bit_at(text.numbers(), begin) && is_number(text, begin, end)) {
            emit(number, begin, end);
        } else {
            emit(padded_token(bytes + begin, static_cast<uint32_t>(end - begin)), begin, end);
        }
    });
}

}  // namespace widemargin
