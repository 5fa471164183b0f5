// A block of rows: the head, with the keys, weights and labels of documents, then the rows of a matrix.
//
//   Header      sizes and checksums
//   keys        8 bytes per row
//   weights     8 bytes per row, or nothing
//   labels      per row: how many, then the gaps between their numbers, in 7 bits per byte
//   ends        4 bytes per row: where the row ends among the bytes of rows
//   rows        see row_codec.hpp
//
// One checksum covers everything up to the labels, another one the rest, so that keys, weights and labels
// can be read alone. Numbers are in the byte order of the machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "on_disk/hashes.hpp"
#include "on_disk/row_codec.hpp"

namespace widemargin::on_disk {

enum class ValueKind : uint32_t { counts = 0, float32 = 1, float64 = 2 };

template <class T>
constexpr ValueKind kind_of = std::is_same_v<T, int32_t> ? ValueKind::counts
                              : std::is_same_v<T, float> ? ValueKind::float32
                                                         : ValueKind::float64;

struct Header {
    static constexpr uint64_t kMagic = 0x31304B4C42574F52u;  // "ROWBLK01"
    uint64_t magic = kMagic;
    ValueKind kind = ValueKind::counts;
    uint32_t has_weights = 0;
    int64_t n_rows = 0, n_columns = 0, n_entries = 0;
    int64_t n_label_columns = 0, n_labels = 0;
    uint64_t label_bytes = 0, row_bytes = 0;
    uint64_t rows_checksum = 0;
    uint64_t head_checksum = 0;  // of all fields above and of keys, weights and labels

    int64_t head_size() const {
        return static_cast<int64_t>(sizeof(Header)) + 8 * n_rows * (1 + has_weights) +
               static_cast<int64_t>(label_bytes);
    }
    int64_t size() const { return head_size() + 4 * n_rows + static_cast<int64_t>(row_bytes); }
};
static_assert(sizeof(Header) == 88 && std::is_trivially_copyable_v<Header>);

inline constexpr uint64_t kChecksumSeed = 0x5DEECE66D;
inline constexpr int64_t kMostColumns = std::numeric_limits<int32_t>::max();

// The header at the beginning of `data`, plausible in itself: every size is at most a few times that of the
// file that it implies, so memory can be allocated by it.
inline Header read_header(const uint8_t* data, int64_t size) {
    Header found;
    if (size < static_cast<int64_t>(sizeof(Header))) throw Corrupt("it is shorter than a header");
    std::memcpy(&found, data, sizeof(Header));
    if (found.magic != Header::kMagic) throw Corrupt("it does not begin as a block of rows");
    const auto between = [](int64_t value, int64_t most) { return 0 <= value && value <= most; };
    constexpr int64_t kMostBytes = std::numeric_limits<uint32_t>::max();
    if (static_cast<uint32_t>(found.kind) > 2 || found.has_weights > 1 ||
        !between(found.n_rows, kMostColumns) || !between(found.n_columns, kMostColumns) ||
        !between(found.n_label_columns, kMostColumns) || found.row_bytes > kMostBytes ||
        found.label_bytes > kMostBytes || !between(found.n_entries, found.row_bytes) ||
        !between(found.n_labels, found.label_bytes))
        throw Corrupt("its header is damaged");
    return found;
}

// ---------------------------------------------------------------------- writing

class RowBlockWriter {
  public:
    RowBlockWriter(ValueKind kind, int64_t n_columns, int64_t n_label_columns, bool has_weights) {
        header_.kind = kind;
        header_.n_columns = n_columns;
        header_.n_label_columns = n_label_columns;
        header_.has_weights = has_weights;
    }

    // Each adds some rows of the given arrays, in the order of `which`. The numbers in `which` and the
    // arrays were checked.
    template <class T>
    void add_rows(const int64_t* indptr, const int32_t* columns, const T* values, const int32_t* which,
                  int64_t n) {
        if (kind_of<T> != header_.kind) throw std::invalid_argument("values of another type");
        for (int64_t i = 0; i < n; ++i) {
            const int64_t begin = indptr[which[i]], size = indptr[which[i] + 1] - begin;
            const int64_t needed = static_cast<int64_t>(header_.row_bytes) + most_bytes<T>(size);
            if (static_cast<int64_t>(rows_.size()) < needed)
                rows_.resize(std::max<size_t>(needed, rows_.size() * 3 / 2));
            uint8_t* const out = rows_.data() + header_.row_bytes;
            header_.row_bytes += write_row(out, columns + begin, values + begin, size) - out;
            if (header_.row_bytes > std::numeric_limits<uint32_t>::max())
                throw std::length_error("a block of rows exceeds 4 GB");
            if (size > 0 && columns[begin + size - 1] >= header_.n_columns)
                throw std::invalid_argument("a column is out of range");
            ends_.push_back(static_cast<uint32_t>(header_.row_bytes));
            header_.n_entries += size;
        }
        header_.n_rows += n;
    }

    void add_keys(const uint64_t* keys, const int32_t* which, int64_t n) {
        for (int64_t i = 0; i < n; ++i) keys_.push_back(keys[which[i]]);
    }

    void add_weights(const double* weights, const int32_t* which, int64_t n) {
        for (int64_t i = 0; i < n; ++i) weights_.push_back(weights[which[i]]);
    }

    void add_labels(const int64_t* indptr, const int32_t* labels, const int32_t* which, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
            const int64_t begin = indptr[which[i]], size = indptr[which[i] + 1] - begin;
            const size_t used = labels_.size();
            labels_.resize(used + 10 + 5 * size);
            uint8_t* out = write_number(labels_.data() + used, static_cast<uint64_t>(size));
            int64_t before = -1;
            for (int64_t k = begin; k < begin + size; ++k) {
                if (labels[k] <= before || labels[k] >= header_.n_label_columns)
                    throw std::invalid_argument("the labels of a row do not ascend, or are out of range");
                out = write_number(out, static_cast<uint64_t>(labels[k] - before - 1));
                before = labels[k];
            }
            labels_.resize(out - labels_.data());
            ++n_label_rows_;
            header_.n_labels += size;
        }
    }

    int64_t n_rows() const { return header_.n_rows; }
    int64_t n_entries() const { return header_.n_entries; }

    // The block; the writer is empty afterwards.
    std::vector<uint8_t> finish() {
        const auto n = static_cast<size_t>(header_.n_rows);
        if (keys_.size() != n || n_label_rows_ != header_.n_rows ||
            weights_.size() != (header_.has_weights ? n : 0))
            throw std::invalid_argument("the parts of a block differ in the number of rows");
        header_.label_bytes = labels_.size();
        std::vector<uint8_t> block(static_cast<size_t>(header_.size()));
        uint8_t* out = block.data() + sizeof(Header);
        const auto append = [&](const void* data, size_t size) {
            if (size) std::memcpy(out, data, size);
            out += size;
        };
        append(keys_.data(), 8 * keys_.size());
        append(weights_.data(), 8 * weights_.size());
        append(labels_.data(), labels_.size());
        append(ends_.data(), 4 * ends_.size());
        append(rows_.data(), header_.row_bytes);
        const int64_t head = header_.head_size();
        header_.rows_checksum = hash_bytes(block.data() + head, header_.size() - head, kChecksumSeed);
        std::memcpy(block.data(), &header_, sizeof(Header));
        header_.head_checksum = head_checksum(block.data(), head);
        std::memcpy(block.data(), &header_, sizeof(Header));
        const Header old = header_;
        *this = RowBlockWriter(old.kind, old.n_columns, old.n_label_columns, old.has_weights != 0);
        return block;
    }

    static uint64_t head_checksum(const uint8_t* data, int64_t head) {
        const uint64_t first = hash_bytes(data, sizeof(Header) - 8, kChecksumSeed);
        return hash_bytes(data + sizeof(Header), head - static_cast<int64_t>(sizeof(Header)), first);
    }

  private:
    Header header_;
    int64_t n_label_rows_ = 0;
    std::vector<uint64_t> keys_;
    std::vector<double> weights_;
    std::vector<uint32_t> ends_;
    std::vector<uint8_t> labels_, rows_;
};

// ---------------------------------------------------------------------- reading

// A view of a block, or of its head alone; constructing it verifies the checksums of what is there.
class RowBlockView {
  public:
    RowBlockView(const uint8_t* data, int64_t size) : header_(read_header(data, size)), data_(data) {
        const int64_t head = header_.head_size();
        if (size != head && size != header_.size()) throw Corrupt("its length is not what its header says");
        if (RowBlockWriter::head_checksum(data, head) != header_.head_checksum)
            throw Corrupt("its checksum does not match");
        has_rows_ = size == header_.size();
        if (has_rows_ && hash_bytes(data + head, size - head, kChecksumSeed) != header_.rows_checksum)
            throw Corrupt("its checksum does not match");
    }

    const Header& header() const { return header_; }

    void keys(uint64_t* out) const { std::memcpy(out, data_ + sizeof(Header), 8 * header_.n_rows); }

    void weights(double* out) const {
        std::memcpy(out, data_ + sizeof(Header) + 8 * header_.n_rows, 8 * header_.n_rows);
    }

    // indptr: n_rows + 1; labels: n_labels.
    void labels(int64_t* indptr, int32_t* labels) const {
        const uint8_t* const end = data_ + header_.head_size();
        const uint8_t* p = end - header_.label_bytes;
        indptr[0] = 0;
        for (int64_t i = 0; i < header_.n_rows; ++i) {
            const uint64_t size = read_number(p, end);
            if (size > static_cast<uint64_t>(header_.n_labels - indptr[i])) throw Corrupt("too many labels");
            indptr[i + 1] = indptr[i] + static_cast<int64_t>(size);
            uint64_t label = ~uint64_t{0};
            for (int64_t k = indptr[i]; k < indptr[i + 1]; ++k) {
                const uint64_t gap = read_number(p, end);
                if (gap >= static_cast<uint64_t>(header_.n_label_columns)) throw Corrupt("an unknown label");
                label += 1 + gap;
                if (label >= static_cast<uint64_t>(header_.n_label_columns))
                    throw Corrupt("an unknown label");
                labels[k] = static_cast<int32_t>(label);
            }
        }
        if (p != end || indptr[header_.n_rows] != header_.n_labels) throw Corrupt("too few labels");
    }

    // indptr: n + 1, where the entries of the rows `which`, which are in range, begin and end.
    void sizes(const int32_t* which, int64_t n, int64_t* indptr) const {
        indptr[0] = 0;
        for (int64_t i = 0; i < n; ++i) {
            const Span row = span(which[i]);
            const uint8_t* p = row.begin;
            const uint64_t size = read_number(p, row.end);
            // A row has at least a byte per entry, so that this cannot ask for more memory than is plausible.
            if (size > static_cast<uint64_t>(row.end - p)) throw Corrupt("a row has too few bytes");
            indptr[i + 1] = indptr[i] + static_cast<int64_t>(size);
            if (indptr[i + 1] > header_.n_entries) throw Corrupt("rows have too many entries");
        }
    }

    // Decodes the rows `which` to where `indptr`, made by `sizes`, says.
    template <class T>
    void rows(const int32_t* which, int64_t n, const int64_t* indptr, int32_t* columns, T* values) const {
        if (kind_of<T> != header_.kind) throw std::invalid_argument("values of another type");
        const uint8_t* const readable = data_ + header_.size();
        for (int64_t i = 0; i < n; ++i) {
            const Span row = span(which[i]);
            const uint8_t* p = row.begin;
            const auto size = static_cast<int64_t>(read_number(p, row.end));
            if (size != indptr[i + 1] - indptr[i]) throw std::invalid_argument("indptr is of other rows");
            read_row(p, row.end, readable, size, header_.n_columns, columns + indptr[i], values + indptr[i]);
        }
    }

  private:
    struct Span {
        const uint8_t *begin, *end;
    };

    Span span(int64_t row) const {
        if (!has_rows_) throw std::invalid_argument("only the head of the block was read");
        const uint8_t* const ends = data_ + header_.head_size();
        uint32_t begin = 0, end;
        if (row > 0) std::memcpy(&begin, ends + 4 * (row - 1), 4);
        std::memcpy(&end, ends + 4 * row, 4);
        if (begin > end || end > header_.row_bytes) throw Corrupt("a row is outside of the block");
        const uint8_t* const rows = ends + 4 * header_.n_rows;
        return {rows + begin, rows + end};
    }

    Header header_;
    const uint8_t* data_;
    bool has_rows_;
};

}  // namespace widemargin::on_disk
