// One row of a sparse matrix as bytes, and back.
//
//   the number n of entries         a number of 7 bits per byte, the lowest first
//   the lengths of the gaps         2 bits each, four per byte: 1 to 4 bytes
//   the gaps                        column - column before - 1, little-endian; before the first column is -1
//   values: float or double         as they are
//   or counts                       2 bits each, four per byte: 1, 2, 3, or 0 for more
//           and of counts above 3   count - 4, in 7 bits per byte
//
// Gaps of 1 to 4 bytes with their lengths apart are decoded without branches: where the next one begins does
// not depend on the value of this one. Decoding trusts nothing: bytes that are not such a row throw Corrupt,
// and nothing outside of the given bytes and arrays is read or written.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace widemargin::on_disk {

struct Corrupt : std::invalid_argument {
    explicit Corrupt(const std::string& what) : std::invalid_argument(what) {}
};

// ---------------------------------------------------------------------- numbers of 7 bits per byte

inline uint8_t* write_number(uint8_t* out, uint64_t number) {
    for (; number >= 0x80; number >>= 7) *out++ = static_cast<uint8_t>(number | 0x80);
    *out++ = static_cast<uint8_t>(number);
    return out;
}

inline uint64_t read_number(const uint8_t*& p, const uint8_t* end) {
    uint64_t number = 0;
    for (int shift = 0; shift < 63; shift += 7) {
        if (p == end) throw Corrupt("a number ends too early");
        const uint8_t byte = *p++;
        number |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return number;
    }
    throw Corrupt("a number is too long");
}

// ---------------------------------------------------------------------- four at a time

inline constexpr uint32_t kMask[4] = {0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF};

// Where the four gaps of a byte of lengths begin, and where the next four do; four counts of a byte.
struct Fours {
    uint8_t begin[256][4];
    uint8_t size[256];
    int32_t counts[256][4];
    constexpr Fours() : begin(), size(), counts() {
        for (int byte = 0; byte < 256; ++byte) {
            int at = 0;
            for (int k = 0; k < 4; ++k) {
                begin[byte][k] = static_cast<uint8_t>(at);
                at += (byte >> 2 * k & 3) + 1;
                counts[byte][k] = byte >> 2 * k & 3;
            }
            size[byte] = static_cast<uint8_t>(at);
        }
    }
};
inline constexpr Fours kFours;

inline uint32_t load_32(const uint8_t* p) {
    uint32_t word;
    std::memcpy(&word, p, 4);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

inline void store_32(uint8_t* p, uint32_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    std::memcpy(p, &word, 4);
}

// ---------------------------------------------------------------------- rows

// An upper limit of the bytes of a row.
template <class T>
int64_t most_bytes(int64_t n) {
    const int64_t of_values = std::is_same_v<T, int32_t> ? 6 : static_cast<int64_t>(sizeof(T));
    return 16 + n * (5 + of_values);
}

// Writes a row with ascending columns. Counts are positive.
template <class T>
uint8_t* write_row(uint8_t* out, const int32_t* columns, const T* values, int64_t n) {
    out = write_number(out, static_cast<uint64_t>(n));
    uint8_t* lengths = out;
    std::memset(lengths, 0, (n + 3) / 4);
    out += (n + 3) / 4;
    int64_t before = -1;
    for (int64_t i = 0; i < n; ++i) {
        if (columns[i] <= before) throw std::invalid_argument("the columns of a row do not ascend");
        const uint32_t gap = static_cast<uint32_t>(columns[i] - before - 1);
        before = columns[i];
        const int length = (gap > 0xFF) + (gap > 0xFFFF) + (gap > 0xFFFFFF);
        lengths[i / 4] |= static_cast<uint8_t>(length << 2 * (i % 4));
        store_32(out, gap);  // what is behind its length is overwritten
        out += length + 1;
    }
    if constexpr (std::is_same_v<T, int32_t>) {
        uint8_t* codes = out;
        std::memset(codes, 0, (n + 3) / 4);
        out += (n + 3) / 4;
        for (int64_t i = 0; i < n; ++i) {
            if (values[i] < 1) throw std::invalid_argument("a count is not positive");
            if (values[i] <= 3) {
                codes[i / 4] |= static_cast<uint8_t>(values[i] << 2 * (i % 4));
            } else {
                out = write_number(out, static_cast<uint64_t>(values[i] - 4));
            }
        }
    } else {
        if (n > 0) std::memcpy(out, values, n * sizeof(T));
        out += n * sizeof(T);
    }
    return out;
}

// The gaps of a row to columns: `p` is behind the lengths, and returned behind the gaps. `end` is that of the
// row, `readable` that of the bytes that may be read.
inline const uint8_t* read_columns(const uint8_t* lengths, const uint8_t* p, const uint8_t* end,
                                   const uint8_t* readable, int64_t n, int64_t n_columns, int32_t* columns) {
    uint64_t column = ~uint64_t{0};
    int64_t i = 0;
    if (readable - p >= 4 * n) {  // no gap can end behind that
        for (; i + 4 <= n; i += 4) {
            const uint8_t byte = *lengths++;
            const uint8_t* const begin = kFours.begin[byte];
            const uint64_t a = column + 1 + (load_32(p) & kMask[byte & 3]);
            const uint64_t b = a + 1 + (load_32(p + begin[1]) & kMask[byte >> 2 & 3]);
            const uint64_t c = b + 1 + (load_32(p + begin[2]) & kMask[byte >> 4 & 3]);
            column = c + 1 + (load_32(p + begin[3]) & kMask[byte >> 6]);
            columns[i] = static_cast<int32_t>(a);
            columns[i + 1] = static_cast<int32_t>(b);
            columns[i + 2] = static_cast<int32_t>(c);
            columns[i + 3] = static_cast<int32_t>(column);
            p += kFours.size[byte];
        }
    } else {
        lengths += n / 4;
        const uint8_t* first = lengths - n / 4;
        for (; i < n / 4 * 4; ++i) {
            const int length = (first[i / 4] >> 2 * (i % 4) & 3) + 1;
            if (end - p < length) throw Corrupt("a row ends too early");
            uint32_t gap = 0;
            for (int k = 0; k < length; ++k) gap |= static_cast<uint32_t>(*p++) << 8 * k;
            column += 1 + uint64_t{gap};
            columns[i] = static_cast<int32_t>(column);
        }
    }
    for (; i < n; ++i) {
        const int length = (*lengths >> 2 * (i % 4) & 3) + 1;
        if (end - p < length) throw Corrupt("a row ends too early");
        uint32_t gap = 0;
        for (int k = 0; k < length; ++k) gap |= static_cast<uint32_t>(*p++) << 8 * k;
        column += 1 + uint64_t{gap};
        columns[i] = static_cast<int32_t>(column);
    }
    // Columns ascend, and 2^31 gaps below 2^32 do not overflow: if the last is in range, all are.
    if (p > end) throw Corrupt("a row ends too early");
    if (n > 0 && column >= static_cast<uint64_t>(n_columns)) throw Corrupt("a column is out of range");
    return p;
}

inline const uint8_t* read_counts(const uint8_t* p, const uint8_t* end, int64_t n, int32_t* counts) {
    const uint8_t* codes = p;
    if (end - p < (n + 3) / 4) throw Corrupt("a row ends too early");
    p += (n + 3) / 4;
    const auto complete = [&](int64_t i) {
        const uint64_t more = read_number(p, end);
        if (more > 0x7FFFFFFF - 4) throw Corrupt("a count is too large");
        counts[i] = static_cast<int32_t>(more + 4);
    };
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const uint8_t byte = *codes++;
        std::memcpy(counts + i, kFours.counts[byte], 16);
        if (((byte | byte >> 1) & 0x55) != 0x55)  // some are 0: larger than 3
            for (int k = 0; k < 4; ++k)
                if (counts[i + k] == 0) complete(i + k);
    }
    for (; i < n; ++i) {
        counts[i] = *codes >> 2 * (i % 4) & 3;
        if (counts[i] == 0) complete(i);
    }
    return p;
}

// Reads the row of n entries that is between `p` and `end`, behind its number of entries.
template <class T>
void read_row(const uint8_t* p, const uint8_t* end, const uint8_t* readable, int64_t n, int64_t n_columns,
              int32_t* columns, T* values) {
    if (end - p < (n + 3) / 4) throw Corrupt("a row ends too early");
    const uint8_t* const lengths = p;
    p = read_columns(lengths, p + (n + 3) / 4, end, readable, n, n_columns, columns);
    if constexpr (std::is_same_v<T, int32_t>) {
        p = read_counts(p, end, n, values);
    } else {
        if (end - p < n * static_cast<int64_t>(sizeof(T))) throw Corrupt("a row ends too early");
        if (n > 0) std::memcpy(values, p, n * sizeof(T));
        p += n * sizeof(T);
    }
    if (p != end) throw Corrupt("a row has bytes that belong to no entry");
}

}  // namespace widemargin::on_disk
