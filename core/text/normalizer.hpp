// A document as case-folded UTF-8, with one bit per byte that tells whether it is part of a word; or its
// bytes.
//
// All later steps see one encoding and one case. ASCII text is processed 64 characters at a time; other
// characters are looked up one by one in the tables of text/unicode.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "text/patterns/cleared_text.hpp"
#include "text/patterns/token_rule.hpp"
#include "text/text_view.hpp"
#include "text/unicode.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace widemargin {

// In Alphabet::characters, replaces what is not a character (a lone surrogate, a byte that is not UTF-8).
// Never part of UTF-8.
inline constexpr unsigned char kBreak = 0xFF;

// For every byte of the normalized text, the characters of the original that it came from.
struct Origins {
    std::vector<int64_t> begin, end;
};

class Normalizer {
  public:
    // The number of bytes after the last one that may be read (and ignored).
    static constexpr int64_t kPadding = 64;

    explicit Normalizer(const TokenRule& rule)
        : alphabet_(rule.alphabet),
          fold_case_(rule.fold_case),
          by_characters_(rule.alphabet >= Alphabet::characters || !rule.fold_case),
          token_(rule.token),
          ignored_(rule.ignored) {}

    // Replaces the current document. With `origins`, every character is looked up in the tables.
    void read(const TextView& given, Origins* origins = nullptr) {
        const TextView text = ignored_ ? cleared_.without(*ignored_, given) : given;
        read_cleared(text, origins);
        if (alphabet_ != Alphabet::pattern) return;
        if (size_ > 0xFFFFFF00) throw std::overflow_error("a document has more than 2**32 bytes");
        edges_.clear();
        const auto* start = reinterpret_cast<const unsigned char*>(bytes_.get());
        const auto next = [start](int64_t& at) {
            const unsigned char* p = start + at;
            const uint32_t c = unicode::decode_valid(p);
            at = p - start;
            return c;
        };
        token_->find_all(size_, next, [this](int64_t begin, int64_t end) {
            edges_.push_back(static_cast<uint32_t>(begin));
            edges_.push_back(static_cast<uint32_t>(end));
        });
    }

    Alphabet alphabet() const { return alphabet_; }
    const char* bytes() const { return bytes_.get(); }
    int64_t size() const { return size_; }
    // Whether every character is known to be one byte.
    bool ascii() const { return ascii_; }
    // Whether some word has characters of a script without spaces. Not filled in Alphabet::characters.
    bool spaceless() const { return seen_ & (unicode::kPairs | unicode::kTriples); }
    // The beginnings and ends of tokens, in Alphabet::pattern.
    const std::vector<uint32_t>& edges() const { return edges_; }

    // Bit i % 64 of word i / 64 belongs to byte i. Not filled in Alphabet::characters and after it.
    const uint64_t* words() const { return words_.get(); }
    const uint64_t* numbers() const { return numbers_.get(); }

  private:
    void read_cleared(const TextView& text, Origins* origins) {
        size_ = 0;
        seen_ = 0;
        ascii_ = text.encoding == Encoding::ascii;
        reserve(text.length + kPadding);
        const auto* bytes = static_cast<const unsigned char*>(text.data);
        if (alphabet_ == Alphabet::bytes) return read_unchanged(text, origins);
        switch (text.encoding) {
            case Encoding::ascii:
            case Encoding::latin1:
                if (alphabet_ == Alphabet::characters && ascii_ && !origins && fold_case_) {
                    read_ascii_characters(bytes, text.length);
                } else if (by_characters_ || origins) {
                    scan(text.length, origins, [bytes](int64_t& i) -> uint32_t { return bytes[i++]; });
                } else {
                    read_bytes(bytes, text.length, false);
                }
                break;
            case Encoding::utf8:
                if (by_characters_ || origins) {
                    scan_utf8(bytes, text.length, origins);
                } else {
                    read_bytes(bytes, text.length, true);
                }
                break;
            case Encoding::ucs2: {
                const auto* units = static_cast<const uint16_t*>(text.data);
                scan(text.length, origins, [units](int64_t& i) -> uint32_t { return units[i++]; });
                break;
            }
            case Encoding::ucs4: {
                const auto* units = static_cast<const uint32_t*>(text.data);
                scan(text.length, origins, [units](int64_t& i) -> uint32_t { return units[i++]; });
                break;
            }
        }
        // Nothing after the text is part of a word.
        if (alphabet_ < Alphabet::characters) put_bits(0, 0);
    }

    // The largest number of bytes that one original character can become.
    static constexpr int64_t kExpansion = 4 * unicode::kMaxFold;

    void reserve(int64_t more) {
        const int64_t wanted = size_ + more + kPadding;
        if (wanted <= capacity_) return;
        const int64_t capacity = (std::max(wanted, 2 * capacity_) + 63) / 64 * 64;
        grow(bytes_, capacity_, capacity);
        if (alphabet_ < Alphabet::characters) {
            grow(words_, capacity_ / 64 + 1, capacity / 64 + 1);
            grow(numbers_, capacity_ / 64 + 1, capacity / 64 + 1);
        }
        capacity_ = capacity;
    }

    template <class T>
    static void grow(std::unique_ptr<T[]>& array, int64_t from, int64_t to) {
        std::unique_ptr<T[]> larger(new T[to]);
        if (array) std::memcpy(larger.get(), array.get(), from * sizeof(T));
        array = std::move(larger);
    }

    // Sets the bits of the next 64 bytes, the lowest for the first byte. Later calls overwrite the bits after
    // the bytes that were added.
    void put_bits(uint64_t word, uint64_t number) {
        const int64_t at = size_ / 64;
        const int shift = static_cast<int>(size_ % 64);
        if (shift == 0) {
            words_[at] = word;
            numbers_[at] = number;
            return;
        }
        const uint64_t kept = (uint64_t{1} << shift) - 1;
        words_[at] = (words_[at] & kept) | word << shift;
        words_[at + 1] = word >> (64 - shift);
        numbers_[at] = (numbers_[at] & kept) | number << shift;
        numbers_[at + 1] = number >> (64 - shift);
    }

    // 64 ASCII characters: folded bytes and their classes. False if one of them is not ASCII.
    bool read_block(const unsigned char* in, bool connectors) {
        char* out = bytes_.get() + size_;
        uint64_t word = 0, number = 0;
#if defined(__SSE2__)
        const auto set = [](char c) { return _mm_set1_epi8(c); };
        __m128i high = _mm_setzero_si128();
        for (int part = 0; part < 4; ++part) {
            const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in) + part);
            high = _mm_or_si128(high, c);
            const __m128i upper =
                _mm_and_si128(_mm_cmpgt_epi8(c, set('A' - 1)), _mm_cmpgt_epi8(set('Z' + 1), c));
            const __m128i folded = _mm_add_epi8(c, _mm_and_si128(upper, set('a' - 'A')));
            const __m128i letter =
                _mm_and_si128(_mm_cmpgt_epi8(folded, set('a' - 1)), _mm_cmpgt_epi8(set('z' + 1), folded));
            const __m128i digit =
                _mm_and_si128(_mm_cmpgt_epi8(c, set('0' - 1)), _mm_cmpgt_epi8(set('9' + 1), c));
            __m128i inside = _mm_or_si128(letter, digit);
            if (connectors) inside = _mm_or_si128(inside, _mm_cmpeq_epi8(c, set('_')));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out) + part, folded);
            word |= static_cast<uint64_t>(_mm_movemask_epi8(inside)) << 16 * part;
            number |= static_cast<uint64_t>(_mm_movemask_epi8(digit)) << 16 * part;
        }
        if (_mm_movemask_epi8(high)) return false;
#else
        unsigned char high = 0;
        for (int i = 0; i < 64; ++i) {
            const unsigned char c = in[i];
            high |= c;
            const bool upper = c >= 'A' && c <= 'Z';
            const unsigned char folded = upper ? c + 32 : c;
            const bool digit = c >= '0' && c <= '9';
            const bool inside = digit || (folded >= 'a' && folded <= 'z') || (connectors && c == '_');
            out[i] = static_cast<char>(folded);
            word |= static_cast<uint64_t>(inside) << i;
            number |= static_cast<uint64_t>(digit) << i;
        }
        if (high & 0x80) return false;
#endif
        put_bits(word, number);
        return true;
    }

    // Latin-1 or UTF-8: ASCII in whole blocks, the rest as single characters.
    void read_bytes(const unsigned char* in, int64_t length, bool utf8) {
        const bool connectors = alphabet_ == Alphabet::unicode;
        int64_t i = 0;
        while (i < length) {
            const int64_t count = std::min<int64_t>(64, length - i);
            reserve(64 * kExpansion);
            bool ascii;
            if (count == 64) {
                ascii = read_block(in + i, connectors);
            } else {
                unsigned char last[64] = {};
                std::memcpy(last, in + i, count);
                ascii = read_block(last, connectors);
            }
            if (ascii) {
                size_ += count;
                i += count;
                continue;
            }
            // A character that begins in this block may end in the next.
            const int64_t end = i + count;
            while (i < end) {
                uint32_t c = in[i];
                if (c >= 0x80 && utf8) {
                    const unsigned char* p = in + i;
                    c = unicode::decode(p, length - i);
                    i = p - in;
                } else {
                    ++i;
                }
                put(c);
            }
        }
    }

    // Alphabet::characters. Branch-free, since the CPU cannot predict where white space is.
    void read_ascii_characters(const unsigned char* in, int64_t length) {
        unsigned char folded[128];
        for (uint32_t c = 0; c < 128; ++c) {
            const unicode::Record& record = unicode::record(c);
            folded[c] = record.flags & unicode::kSpace ? ' ' : static_cast<unsigned char>(c + record.fold);
        }
        char* out = bytes_.get();
        unsigned char before = 0;
        for (int64_t i = 0; i < length; ++i) {
            const unsigned char c = folded[in[i]];
            *out = static_cast<char>(c);
            out += (c != ' ') | (before != ' ');
            before = c;
        }
        size_ = out - bytes_.get();
    }

    // Alphabet::bytes.
    void read_unchanged(const TextView& text, Origins* origins) {
        const auto* bytes = static_cast<const unsigned char*>(text.data);
        if (text.encoding == Encoding::ascii || text.encoding == Encoding::utf8) {
            std::memcpy(bytes_.get(), text.data, text.length);
            size_ = text.length;
            if (!origins) return;
            // The bytes of a character share its number; a byte that is not UTF-8 has its own.
            int64_t number = 0;
            for (const unsigned char *p = bytes, *end = bytes + text.length; p < end; ++number) {
                const unsigned char* begin = p;
                unicode::decode(p, end - p);
                add_origins(origins, p - begin, number);
            }
            return;
        }
        reserve(4 * text.length);
        for (int64_t i = 0; i < text.length; ++i) {
            const uint32_t c = text.encoding == Encoding::latin1 ? bytes[i]
                               : text.encoding == Encoding::ucs2 ? static_cast<const uint16_t*>(text.data)[i]
                                                                 : static_cast<const uint32_t*>(text.data)[i];
            const int length = unicode::encode(c, bytes_.get() + size_);
            size_ += length;
            if (origins) add_origins(origins, length, i);
        }
    }

    // `n` bytes come from the character `number`.
    static void add_origins(Origins* origins, int64_t n, int64_t number) {
        origins->begin.insert(origins->begin.end(), n, number);
        origins->end.insert(origins->end.end(), n, number + 1);
    }

    // Reads characters one at a time. next(i) returns the character at i and moves i past it.
    template <class Next>
    void scan(int64_t length, Origins* origins, Next next) {
        bool after_space = false;
        for (int64_t i = 0; i < length;) {
            reserve(64 * kExpansion);
            const int64_t end = std::min(length, i + 64);
            while (i < end) {
                const int64_t begin = i;
                const uint32_t c = next(i);  // changes i, so not an argument: their order is unspecified
                scan_one(c, begin, i, origins, after_space);
            }
        }
    }

    // Like `scan`; origins are counted in characters, not in bytes.
    void scan_utf8(const unsigned char* in, int64_t length, Origins* origins) {
        bool after_space = false;
        int64_t number = 0;
        for (int64_t i = 0; i < length; ++number) {
            reserve(kExpansion);
            const unsigned char* p = in + i;
            const uint32_t c = unicode::decode(p, length - i);
            i = p - in;
            scan_one(c, number, number + 1, origins, after_space);
        }
    }

    void scan_one(uint32_t c, int64_t begin, int64_t end, Origins* origins, bool& after_space) {
        const int64_t before = size_;
        if (alphabet_ < Alphabet::characters) {
            put(c);
        } else if (c < 0x80 && (c > ' ' || alphabet_ == Alphabet::pattern)) {  // the bulk of most texts
            bytes_[size_++] = static_cast<char>(c - 'A' < 26u && fold_case_ ? c + 32 : c);
            after_space = false;
        } else if (alphabet_ == Alphabet::pattern) {
            const unicode::Record& record = unicode::record(c < unicode::kCodePoints ? c : unicode::kInvalid);
            const bool surrogate = c >= unicode::kCodePoints || (c >= 0xD800 && c < 0xE000);
            size_ += surrogate ? unicode::encode(0xFFFD, bytes_.get() + size_)
                               : fold(c, record, bytes_.get() + size_);
        } else if (put_character(c, after_space)) {
            if (origins) origins->end.back() = end;  // the run is one space
            return;
        }
        if (origins) {
            origins->begin.insert(origins->begin.end(), size_ - before, begin);
            origins->end.insert(origins->end.end(), size_ - before, end);
        }
    }

    // Alphabet::characters. True if `c` only continues a run of white space.
    bool put_character(uint32_t c, bool& after_space) {
        const bool valid = c < unicode::kCodePoints;
        const unicode::Record& record = unicode::record(valid ? c : unicode::kInvalid);
        const bool space = record.flags & unicode::kSpace;
        if (space && after_space) return true;
        after_space = space;
        if (space) {
            bytes_[size_++] = ' ';
        } else if (!(record.flags & unicode::kValid)) {
            bytes_[size_++] = static_cast<char>(kBreak);
        } else {
            size_ += fold(c, record, bytes_.get() + size_);
        }
        return false;
    }

    // Words. Characters outside words become spaces.
    void put(uint32_t c) {
        const unicode::Record& record = unicode::record(c < unicode::kCodePoints ? c : unicode::kInvalid);
        const uint8_t inside =
            alphabet_ == Alphabet::unicode ? unicode::kWord | unicode::kConnector : unicode::kWord;
        if (!(record.flags & inside)) {
            put_bits(0, 0);
            bytes_[size_++] = ' ';
            return;
        }
        seen_ |= record.flags;
        const int length = fold(c, record, bytes_.get() + size_);
        const uint64_t bits = (uint64_t{1} << length) - 1;
        put_bits(bits, record.flags & unicode::kNumber ? bits : 0);
        size_ += length;
    }

    int fold(uint32_t c, const unicode::Record& record, char* out) const {
        if (!fold_case_) return unicode::encode(c, out);
        if (record.length == 1) return unicode::encode(c + static_cast<uint32_t>(record.fold), out);
        int length = 0;
        for (int i = 0; i < record.length; ++i)
            length += unicode::encode(unicode::kFold[record.fold + i], out + length);
        return length;
    }

    Alphabet alphabet_;
    bool fold_case_, by_characters_;
    std::shared_ptr<const Pattern> token_, ignored_;
    ClearedText cleared_;
    std::vector<uint32_t> edges_;
    std::unique_ptr<char[]> bytes_;
    std::unique_ptr<uint64_t[]> words_, numbers_;
    int64_t capacity_ = 0, size_ = 0;
    bool ascii_ = true;
    uint8_t seen_ = 0;  // the classes of all characters in words that were looked up
};

}  // namespace widemargin
