// Rows of several blocks below each other, decoded by several threads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "on_disk/row_block.hpp"
#include "parallel.hpp"

namespace widemargin::on_disk {

// The bytes of a block, and the rows to decode. The arrays belong to the caller.
struct WantedRows {
    const uint8_t* data;
    int64_t size;  // bytes
    const int32_t* which;
    int64_t n;
};

class BlockReader {
  public:
    // What all blocks must have.
    BlockReader(ValueKind kind, int64_t n_columns, int64_t n_label_columns)
        : kind_(kind), n_columns_(n_columns), n_label_columns_(n_label_columns) {}

    // n_rows, n_entries: of the whole block, as its index says.
    void add(const WantedRows& wanted, int64_t n_rows, int64_t n_entries) {
        const Header header = read_header(wanted.data, wanted.size);
        if (header.kind != kind_ || header.n_columns != n_columns_ ||
            header.n_label_columns != n_label_columns_ || header.n_rows != n_rows ||
            header.n_entries != n_entries)
            throw Corrupt("it is not the block that the index names");
        for (int64_t i = 0; i < wanted.n; ++i) {
            if (wanted.which[i] < 0 || wanted.which[i] >= n_rows)
                throw std::invalid_argument("a row that is not there");
        }
        first_.push_back(first_.back() + wanted.n);
        wanted_.push_back(wanted);
    }

    int64_t n_rows() const { return first_.back(); }

    // Verifies all blocks. indptr: n_rows + 1, where the entries of the rows begin and end.
    template <class Poll>
    void sizes(int64_t* indptr, int n_threads, Poll&& poll) {
        views_.resize(wanted_.size());
        indptr[0] = 0;
        each(
            n_threads,
            [&](size_t b) {
                const WantedRows& wanted = wanted_[b];
                views_[b].emplace(wanted.data, wanted.size);
                std::vector<int64_t> own(wanted.n + 1);
                views_[b]->sizes(wanted.which, wanted.n, own.data());
                for (int64_t i = 0; i < wanted.n; ++i) indptr[first_[b] + i + 1] = own[i + 1];
            },
            poll);
        for (size_t b = 0; b < wanted_.size(); ++b) {
            const int64_t before = indptr[first_[b]];
            for (int64_t i = first_[b]; i < first_[b + 1]; ++i) indptr[i + 1] += before;
        }
    }

    // Decodes the rows to where `indptr`, made by `sizes`, says.
    template <class T, class Poll>
    void rows(const int64_t* indptr, int32_t* columns, T* values, int n_threads, Poll&& poll) const {
        each(
            n_threads,
            [&](size_t b) {
                const WantedRows& wanted = wanted_[b];
                views_[b]->rows(wanted.which, wanted.n, indptr + first_[b], columns, values);
            },
            poll);
    }

  private:
    template <class Work, class Poll>
    void each(int n_threads, Work&& work, Poll&& poll) const {
        const auto n = static_cast<int64_t>(wanted_.size());
        run_each(n, n_threads, [&](int, int64_t b, const StopFlag&) { work(static_cast<size_t>(b)); }, poll);
    }

    ValueKind kind_;
    int64_t n_columns_, n_label_columns_;
    std::vector<WantedRows> wanted_;
    std::vector<std::optional<RowBlockView>> views_;
    std::vector<int64_t> first_{0};  // rows before those of each block
};

}  // namespace widemargin::on_disk
