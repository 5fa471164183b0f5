// The labels of a task in blocks of at most 16, each solved on the next free thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "linear/label_costs.hpp"
#include "parallel.hpp"
#include "simd/loops.hpp"

namespace widemargin {

// Calls solve(labels, count, stop) for every block. Labels with similar numbers of positive examples share a
// block: their solutions take about as many passes.
template <class Solve, class Poll>
void solve_in_blocks(const LabelTasks& tasks, std::int64_t n, int n_threads, Solve&& solve, Poll&& poll) {
    const std::int64_t n_labels = tasks.n_labels;
    std::vector<std::int64_t> positives(n_labels), order(n_labels);
    for (std::int64_t l = 0; l < n_labels; ++l) {
        const std::int8_t* first = tasks.signs + l * n;
        positives[l] = std::count(first, first + n, std::int8_t(1));
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return positives[a] > positives[b]; });
    // As few blocks as 16 lanes allow, but a whole number for each thread, all of about the same size.
    std::int64_t n_blocks = (n_labels + kLanes - 1) / kLanes;
    n_blocks = std::min((n_blocks + n_threads - 1) / n_threads * n_threads, n_labels);
    const auto solve_block = [&](int, std::int64_t block, const StopFlag& stop) {
        const std::int64_t first = block * n_labels / n_blocks;
        const std::int64_t last = (block + 1) * n_labels / n_blocks;
        solve(order.data() + first, static_cast<int>(last - first), stop);
    };
    run_each(n_blocks, n_threads, solve_block, poll);
}

}  // namespace widemargin
