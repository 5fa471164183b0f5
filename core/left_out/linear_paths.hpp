// The tableau (left_out/solution_path.hpp) from which the examples of a label leave: its free examples, those
// that have to leave, and the nearest others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "aligned.hpp"
#include "left_out/linear_bounds.hpp"
#include "simd/loops.hpp"

namespace widemargin {

// Q on and below the diagonal for some rows: 16 of them are spread over the features, and all scored at once.
template <typename T>
void fill_gram(const LeaveOneOut<T>& problem, std::int64_t label, const Indices& rows, Sweeping& q) {
    const Loops& loops = vector_loops();
    AlignedBuffer<float> lanes(problem.d * kLanes);
    const std::size_t m = rows.size();
    for (std::size_t first = 0; first < m; first += kLanes) {
        const std::size_t count = std::min<std::size_t>(kLanes, m - first);
        const auto spread = [&](bool there) {
            for (std::size_t l = 0; l < count; ++l) {
                const Row<T> row = problem.shared.x.row(rows[first + l]);
                const float y = there ? static_cast<float>(problem.sign(label, rows[first + l])) : 0.0f;
                for (std::int64_t k = 0; k < row.size; ++k)
                    lanes[std::int64_t(row.indices[k]) * kLanes + l] = y * static_cast<float>(row.values[k]);
            }
        };
        spread(true);
        float scores[kLanes];
        for (std::size_t i = first; i < m; ++i) {
            const std::int64_t example = rows[i];
            const Row<T> row = problem.shared.x.row(example);
            loops.score_roughly(row.indices, problem.shared.values32 + problem.shared.x.indptr[example],
                                row.size, lanes.data(), scores);
            const float y = static_cast<float>(problem.sign(label, example));
            for (std::size_t l = 0; l < count && first + l <= i; ++l) q(i, first + l) = y * scores[l];
        }
        spread(false);
    }
    for (std::size_t i = 0; i < m; ++i) q(i, i) += problem.diagonal(label, rows[i]);
}

// Leaves the tableau empty where it would cost more than it saves.
template <typename T>
void make_tableau(const LeaveOneOut<T>& problem, LabelSolution& s, const StopFlag& stop) {
    constexpr std::size_t kMost = 3000, kSpare = 64;
    constexpr double kNear = 0.1, kWorth = 24000;
    Indices rows(s.free);
    s.place_in_tableau.assign(problem.n, -1);
    const auto take = [&](std::int32_t i) {
        s.place_in_tableau[i] = static_cast<std::int32_t>(rows.size());
        rows.push_back(i);
    };
    for (std::size_t k = 0; k < rows.size(); ++k) s.place_in_tableau[rows[k]] = static_cast<std::int32_t>(k);
    for (const std::int32_t t : s.left_out) {
        if (s.place_in_tableau[t] < 0 && problem.upper(s.label, t) > 0) take(t);
    }
    const std::size_t most = rows.size() + s.free.size() / 3 + kSpare;
    for (std::size_t k = 0; k < s.nearest.size() && s.distance[k] <= kNear && rows.size() < most; ++k) {
        if (s.place_in_tableau[s.nearest[k]] < 0) take(s.nearest[k]);
    }
    const std::size_t m = rows.size();
    if (m > kMost || static_cast<double>(m * m) > kWorth * static_cast<double>(s.left_out.size())) {
        return;
    }
    std::vector<float> alpha(m), excess(m), upper(m), signs(m);
    for (std::size_t k = 0; k < m; ++k) {
        alpha[k] = static_cast<float>(problem.alpha(s.label, rows[k]));
        upper[k] = static_cast<float>(problem.upper(s.label, rows[k]));
        signs[k] = static_cast<float>(problem.sign(s.label, rows[k]));
        excess[k] = static_cast<float>(s.excess[rows[k]] + problem.diagonal(s.label, rows[k]) * alpha[k]);
    }
    const double bias = problem.options.bias;
    s.tableau = Tableau(std::move(alpha), std::move(excess), std::move(upper),
                        static_cast<std::int64_t>(s.free.size()), signs,
                        bias == 0 ? std::numeric_limits<double>::quiet_NaN() : -1 / (bias * bias), stop,
                        [&](Sweeping& q) { fill_gram(problem, s.label, rows, q); });
    s.in_tableau = std::move(rows);
}

}  // namespace widemargin
