// Products of tall matrices of few columns on several threads: v' w and w += v s.
//
// Rows are cut into the same pieces whatever the number of threads, and the sums of the pieces are added in
// their order, so results do not depend on it. Widths are multiples of 4 (simd/squares_loops.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "simd/loops.hpp"

namespace widemargin {

// Calls work(begin, end, piece) for pieces of [0, n) of `size` rows.
template <class Work, class Poll>
void for_row_pieces(std::int64_t n, std::int64_t size, std::int64_t work_a_row, int n_threads, Work&& work,
                    Poll&& poll) {
    Pieces pieces(n, size);
    run_work(
        n_threads, saturated_product(n, work_a_row), 1000000,
        [&](int, const StopFlag& stop) {
            std::int64_t begin, end;
            while (!stop && pieces.next(begin, end)) work(begin, end, begin / size);
        },
        poll);
}

// sums (p x q) = v' w
template <class Poll>
void cross_products(const double* v, std::int64_t p, const double* w, std::int64_t q, std::int64_t n,
                    double* sums, int n_threads, Poll&& poll) {
    const Loops& loops = vector_loops();
    constexpr std::int64_t kInCache = 128;
    const std::int64_t size = std::max<std::int64_t>(512, (n / 256 + kInCache - 1) / kInCache * kInCache);
    std::vector<double> parts((n + size - 1) / size * p * q, 0.0);
    for_row_pieces(
        n, size, p * q, n_threads,
        [&](std::int64_t begin, std::int64_t end, std::int64_t piece) {
            for (std::int64_t i = begin; i < end; i += kInCache)
                loops.cross(v + i * p, p, w + i * q, q, std::min(kInCache, end - i),
                            parts.data() + piece * p * q);
        },
        poll);
    std::fill(sums, sums + p * q, 0.0);
    for (std::size_t k = 0; k < parts.size(); ++k) sums[k % (p * q)] += parts[k];
}

// w (n x q) += v s
template <class Poll>
void add_products(const double* v, std::int64_t p, const double* s, std::int64_t q, std::int64_t n, double* w,
                  int n_threads, Poll&& poll) {
    const Loops& loops = vector_loops();
    for_row_pieces(
        n, 512, p * q, n_threads,
        [&](std::int64_t begin, std::int64_t end, std::int64_t) {
            loops.add_products(v + begin * p, p, s, q, end - begin, w + begin * q);
        },
        poll);
}

}  // namespace widemargin
