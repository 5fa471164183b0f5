// Exact leave-one-out of what the decomposition solves: any kernel, any hyperplane, hard margins too.
//
// Each label's solution is first made as good as the scores need (left_out/kernel_bounds.hpp). An example
// with alpha_t = 0 then leaves without a change, but for the threshold where that is one of an interval. From
// the kernel row of any other one, bounds on its score without it may already tell what is asked. The rest
// are retrained from where the solution is when t has left it along its path (left_out/solution_path.hpp),
// which is mostly the end. Where there is none, alpha_t becomes 0, and where the equality constraint (or a
// bias feature, on which all scores depend) misses it, a few examples near x_t take it over. The
// decomposition goes on from there, with s already known, to one tolerance after the other until the bounds
// tell.
//
// A corner, a solution without an unbounded support vector, meets all conditions exactly. It is unstable if
// these leave an interval of thresholds, and the score then has the middle (kernel/threshold.hpp).
//
// Nothing depends on the number of threads: every retraining starts from the label's solution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "left_out/batches.hpp"
#include "left_out/kernel_retraining.hpp"
#include "parallel.hpp"

namespace widemargin {

// All labels, some at a time: first their solutions side by side, then all their examples.
template <class MakeEngine, class Poll>
void leave_one_out_kernel(const LeftOutTask& task, const LeftOutOptions& options, int n_threads,
                          MakeEngine&& make_engine, Poll&& poll) {
    // The workers and their engines outlive each run, and so does the flag that they look at.
    StopFlag stopped{false};
    using Worker = LeftOut<typename std::decay_t<decltype(make_engine(stopped))>::element_type>;
    constexpr std::int64_t kLabelsAtOnce = 32;
    std::vector<std::unique_ptr<Worker>> workers(n_threads);
    const auto each = [&](std::size_t count, auto&& work) {
        run_each(
            static_cast<std::int64_t>(count), n_threads,
            [&](int thread, std::int64_t k, const StopFlag& stop) {
                auto& worker = workers[thread];
                if (!worker) worker = std::make_unique<Worker>(make_engine(stopped), task, options);
                work(*worker, static_cast<std::size_t>(k), stop);
            },
            [&] {
                if (poll()) stopped = true;
                return stopped.load();
            });
    };
    for (std::int64_t first = 0; first < task.n_labels; first += kLabelsAtOnce) {
        std::vector<LeftOutLabel> labels(std::min(kLabelsAtOnce, task.n_labels - first));
        each(labels.size(), [&](Worker& worker, std::size_t k, const StopFlag& stop) {
            worker.prepare(labels[k], first + static_cast<std::int64_t>(k), stop);
            count_up(task.progress, task.n - static_cast<std::int64_t>(labels[k].open.size()));
        });
        // As many labels together as there is room for their tableaux.
        for (std::size_t begin = 0, end = 0; begin < labels.size(); begin = end) {
            std::int64_t bytes = 0;
            for (; end < labels.size(); ++end) {
                bytes += labels[end].path_examples.bytes();
                if (end > begin && bytes > options.path_bytes) break;
            }
            const std::vector<Batch> batches =
                batches_of(begin, end, kColumns, [&](std::size_t k) { return labels[k].open.size(); });
            each(end - begin, [&](Worker& worker, std::size_t k, const StopFlag& stop) {
                worker.find_paths(labels[begin + k], stop);
            });
            each(batches.size(), [&](Worker& worker, std::size_t b, const StopFlag& stop) {
                const Batch& batch = batches[b];
                const LeftOutLabel& label = labels[batch.label];
                worker.run(label, label.open.data() + batch.begin, batch.end - batch.begin, stop);
                count_up(task.progress, static_cast<std::int64_t>(batch.end - batch.begin));
            });
            for (std::size_t k = begin; k < end; ++k) labels[k].paths = {};
        }
    }
}

}  // namespace widemargin
