// Blocks of kernel values between two sets of rows, or between the rows of one set.
//
// The columns of a block are done kTile at a time, from an inverted index of these rows alone: its dense
// columns stay in the cache, and the index of a whole collection is never in memory. Within a tile, the rows
// of the block are shared among threads. A value depends on its two rows and on the tile, so it is the same
// for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/inverted_index.hpp"
#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

constexpr std::int64_t kTile = 256;

// out[i - first][j] for rows i = first, ..., end - 1 of a, and the rows j of a tile of b; `stride` numbers a
// row.
template <typename A, typename B, class Poll>
void kernel_tile(const CsrView<A>& a, std::int64_t first, const InvertedIndex<B>& tile, double* out,
                 std::int64_t stride, int n_threads, Poll&& poll) {
    constexpr std::int64_t kRows = 16;
    const std::int64_t n = a.n_rows - first;
    Pieces pieces(n, kRows);
    run_parallel(
        static_cast<int>(
            std::max<std::int64_t>(std::min<std::int64_t>(n_threads, (n + kRows - 1) / kRows), 1)),
        [&](int, const StopFlag& stop) {
            std::vector<double> sums(tile.n_rows());
            pieces.each(stop, [&](std::int64_t i) {
                tile.values(a.row(first + i), nullptr, tile.n_rows(), sums.data(), out + i * stride);
            });
        },
        poll);
}

// out (rows of a x rows of b).
template <typename A, typename B, class Poll>
void kernel_block(const CsrView<A>& a, const CsrView<B>& b, const KernelParameters& kernel, double* out,
                  int n_threads, Poll&& poll) {
    for (std::int64_t begin = 0; begin < b.n_rows; begin += kTile) {
        const InvertedIndex<B> tile(b, begin, std::min(begin + kTile, b.n_rows), kernel);
        kernel_tile(a, 0, tile, out + begin, b.n_rows, n_threads, poll);
    }
}

// out (n x n), symmetric to the last digit: only the lower triangle is computed.
template <typename T, class Poll>
void kernel_gram(const CsrView<T>& x, const KernelParameters& kernel, double* out, int n_threads,
                 Poll&& poll) {
    const std::int64_t n = x.n_rows;
    for (std::int64_t begin = 0; begin < n; begin += kTile) {
        const std::int64_t end = std::min(begin + kTile, n);
        const InvertedIndex<T> tile(x, begin, end, kernel);
        kernel_tile(x, begin, tile, out + begin * n + begin, n, n_threads, poll);
        for (std::int64_t i = begin; i < end; ++i) out[i * n + i] = kernel.of_itself(x.row(i));
        // Mirrored while the tile is in the cache, a few rows at a time.
        constexpr std::int64_t kRows = 32;
        for (std::int64_t from = begin; from < n; from += kRows) {
            const std::int64_t to = std::min(from + kRows, n);
            for (std::int64_t j = begin; j < end; ++j)
                for (std::int64_t i = std::max(from, j + 1); i < to; ++i) out[j * n + i] = out[i * n + j];
        }
    }
}

}  // namespace widemargin
