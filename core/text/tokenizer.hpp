// Tokens of a normalized document: the longest runs of word characters.
//
// Joachims 2000, 2.7.2: words are separated by white space and punctuation and lowercased; all numbers are
// mapped to a single token.
//
// Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces between words, so that a run is a clause.
// Runs of these scripts become overlapping n-grams of characters: of two in Han and Kana, where most words
// have two characters; of three in Thai, Lao, Khmer and Myanmar, where vowels and tones are characters too,
// and three make about a syllable. A shorter run is one token. A run with other characters beside them
// ("GPU服务器") is cut where the script changes. A mark of no script of its own belongs to the character
// before it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "text/hashing.hpp"
#include "text/normalizer.hpp"

namespace widemargin {

// The token that stands for every number, with room to read 16 bytes. No word contains `<`.
inline constexpr char kNumberToken[17] = "<number>\0\0\0\0\0\0\0";
inline constexpr uint32_t kNumberLength = 8;

inline int count_trailing_zeros(uint64_t word) { return __builtin_ctzll(word); }

// Not the popcount instruction, which the oldest x86-64 CPUs lack.
inline int count_ones(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return static_cast<int>(word * 0x0101010101010101u >> 56);
}

inline bool bit_at(const uint64_t* bits, int64_t i) { return bits[i / 64] >> i % 64 & 1; }

class Tokenizer {
  public:
    // Tokens come in batches, so that memory for them can be prefetched.
    static constexpr size_t kBatch = 64;

    explicit Tokenizer(const TokenRule& rule) : rule_(rule) {}

    // Calls visit(edges, n) with the beginnings and ends (in bytes, alternating) of the words of `text`; n is
    // even.
    template <class Visit>
    void for_each_word(const Normalizer& text, Visit&& visit) {
        if (text.alphabet() == Alphabet::pattern) return visit(text.edges().data(), text.edges().size());
        if (text.size() > 0xFFFFFF00) throw std::overflow_error("a document has more than 2**32 bytes");
        const uint64_t* bits = text.words();
        const auto n_words = static_cast<uint32_t>((text.size() + 63) / 64);
        uint64_t carry = 0;
        uint32_t* out = edges_.data();
        for (uint32_t w = 0; w < n_words; ++w) {
            // A bit is set where a word begins or has just ended.
            uint64_t edges = bits[w] ^ (bits[w] << 1 | carry);
            carry = bits[w] >> 63;
            const int n = count_ones(edges);
            // Eight at a time, even if there are fewer: a branch for each would be mispredicted.
            for (int i = 0; i < n; i += kAhead)
                for (int j = 0; j < kAhead; ++j) {
                    out[i + j] = w * 64 + count_trailing_zeros(edges | uint64_t{1} << 63);
                    edges &= edges - 1;
                }
            out += n;
            if (out - edges_.data() < kBlock) continue;
            const size_t whole = (out - edges_.data()) & ~size_t{1};
            const uint32_t begun = out[-1];
            visit(edges_.data(), whole);
            const bool open = out - edges_.data() != static_cast<std::ptrdiff_t>(whole);
            out = edges_.data() + open;
            edges_[0] = begun;
        }
        if (carry) *out++ = static_cast<uint32_t>(text.size());
        visit(edges_.data(), out - edges_.data());
    }

    // Calls emit(tokens, n) with up to kBatch tokens of `text` at a time, in order.
    template <class Emit>
    void read(const Normalizer& text, Emit&& emit) {
        if (text.ascii() && !rule_.join_numbers) {
            batches(text, emit,
                    [this](int64_t begin, int64_t end) { return end - begin >= rule_.min_length; });
        } else {
            const char* bytes = text.bytes();
            const bool cut = text.spaceless();  // then words that are too short are gone already
            batches(text, emit, [this, bytes, cut](int64_t begin, int64_t end) {
                return cut || long_enough(bytes + begin, end - begin);
            });
        }
    }

    bool long_enough(const char* bytes, int64_t length) const {
        if (length < rule_.min_length) return false;
        if (rule_.min_length <= 1 || length >= 4 * rule_.min_length) return true;
        int64_t characters = 0;
        for (int64_t i = 0; i < length; ++i) characters += (bytes[i] & 0xC0) != 0x80;
        return characters >= rule_.min_length;
    }

  private:
    static constexpr int kAhead = 8;
    static constexpr uint32_t kLongestPiece = 3;
    static constexpr std::ptrdiff_t kBlock = 2048;

    template <class Emit, class Keep>
    void batches(const Normalizer& text, Emit&& emit, Keep&& keep) {
        const Token number = padded_token(kNumberToken, kNumberLength);
        const char* bytes = text.bytes();
        Token batch[kBatch];
        size_t n = 0;
        const auto add = [&](const uint32_t* edges, size_t n_edges) {
            for (size_t e = 0; e < n_edges; e += 2) {
                const uint32_t begin = edges[e], end = edges[e + 1];
                Token& token = batch[n];
                if (rule_.join_numbers && bit_at(text.numbers(), begin) && is_number(text, begin, end)) {
                    token = number;
                } else {
                    token = padded_token(bytes + begin, end - begin);
                }
                token.begin = begin;
                token.end = end;
                n += keep(begin, end);
                if (n == kBatch) {
                    emit(batch, n);
                    n = 0;
                }
            }
        };
        if (text.spaceless()) {
            for_each_piece(text, add);
        } else {
            for_each_word(text, add);
        }
        emit(batch, n);
    }

    // The same as for_each_word for a text with scripts without spaces: words, except those that are too
    // short, and n-grams of characters.
    template <class Visit>
    __attribute__((noinline)) void for_each_piece(const Normalizer& text, Visit& visit) {
        for_each_word(text, [&](const uint32_t* edges, size_t n_edges) {
            pieces_.clear();
            for (size_t e = 0; e < n_edges; e += 2) cut(text.bytes(), edges[e], edges[e + 1]);
            visit(pieces_.data(), pieces_.size());
        });
    }

    // Cuts a run of word characters where its script changes, and into n-grams where it has no spaces.
    void cut(const char* bytes, uint32_t begin, uint32_t end) {
        const auto* text = reinterpret_cast<const unsigned char*>(bytes);
        uint32_t last[kLongestPiece] = {};   // where the last characters begin
        uint32_t start = begin, n_read = 0;  // the part of one script, and its number of characters
        uint8_t script = 0;
        const auto finish = [&](uint32_t at) {
            if (start == at) return;
            const bool whole =
                script ? n_read < piece_length(script) : long_enough(bytes + start, at - start);
            if (whole) pieces_.insert(pieces_.end(), {start, at});
        };
        for (const unsigned char* p = text + begin; p < text + end;) {
            const auto at = static_cast<uint32_t>(p - text);
            const uint8_t flags = unicode::record(unicode::decode_valid(p)).flags;
            const uint8_t found =
                flags & unicode::kMark ? script : flags & (unicode::kPairs | unicode::kTriples);
            if (found != script) {
                finish(at);
                script = found;
                start = at;
                n_read = 0;
            }
            if (!script) continue;
            const uint32_t length = piece_length(script);
            for (uint32_t i = 1; i < length; ++i) last[i - 1] = last[i];
            last[length - 1] = at;
            if (++n_read >= length) pieces_.insert(pieces_.end(), {last[0], static_cast<uint32_t>(p - text)});
        }
        finish(end);
    }

    static uint32_t piece_length(uint8_t script) { return script & unicode::kPairs ? 2 : kLongestPiece; }

    static bool is_number(const Normalizer& text, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            if (!bit_at(text.numbers(), i)) return false;
        return true;
    }

    TokenRule rule_;
    std::array<uint32_t, kBlock + 64 + kAhead> edges_;
    std::vector<uint32_t> pieces_;  // as edges_
};

}  // namespace widemargin
