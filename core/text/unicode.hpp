// Classes and case folding of single characters, and UTF-8 one character at a time.
#pragma once

#include <cstdint>

#include "unicode_tables.hpp"

namespace widemargin::unicode {

inline constexpr uint32_t kCodePoints = 0x110000;

inline const Record& record(uint32_t c) {
    return kRecords[kRecord[(static_cast<uint32_t>(kBlock[c >> kShift]) << kShift) |
                            (c & ((1u << kShift) - 1))]];
}

// Writes `c` as UTF-8 to `out` and returns the number of bytes, at most 4. `c` is not a surrogate.
inline int encode(uint32_t c, char* out) {
    if (c < 0x80) {
        out[0] = static_cast<char>(c);
        return 1;
    }
    if (c < 0x800) {
        out[0] = static_cast<char>(0xC0 | c >> 6);
        out[1] = static_cast<char>(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = static_cast<char>(0xE0 | c >> 12);
        out[1] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        out[2] = static_cast<char>(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = static_cast<char>(0xF0 | c >> 18);
    out[1] = static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out[2] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out[3] = static_cast<char>(0x80 | (c & 0x3F));
    return 4;
}

// The result of decode for a byte that does not begin a valid sequence; decode then advances by one byte. It
// is a surrogate, so that the tables give it no class.
inline constexpr uint32_t kInvalid = 0xDC80;

// The character at `p`, where `available` > 0 bytes may be read; moves `p` past it.
inline uint32_t decode(const unsigned char*& p, int64_t available) {
    const uint32_t first = *p;
    if (first < 0x80) {
        ++p;
        return first;
    }
    const int length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || available < length) {
        ++p;
        return kInvalid;
    }
    uint32_t c = first & (0x7F >> length);
    for (int i = 1; i < length; ++i) {
        if ((p[i] & 0xC0) != 0x80) {
            ++p;
            return kInvalid;
        }
        c = c << 6 | (p[i] & 0x3F);
    }
    // An overlong encoding, beyond the last code point, or a surrogate.
    if ((length == 3 && c < 0x800) || (length == 4 && (c < 0x10000 || c >= kCodePoints)) ||
        (c >= 0xD800 && c < 0xE000)) {
        ++p;
        return kInvalid;
    }
    p += length;
    return c;
}

// The character at `p` in valid UTF-8.
inline uint32_t decode_valid(const unsigned char*& p) {
    const uint32_t first = *p++;
    if (first < 0x80) return first;
    uint32_t c = first & (first >= 0xF0 ? 0x07 : first >= 0xE0 ? 0x0F : 0x1F);
    for (int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1; more > 0; --more) c = c << 6 | (*p++ & 0x3F);
    return c;
}

}  // namespace widemargin::unicode
