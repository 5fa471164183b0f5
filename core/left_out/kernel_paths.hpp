// The paths (left_out/solution_path.hpp) along which examples leave the solution of a kernel machine: the
// tableau of its free examples and the nearest others, and where each example's path ends, in double
// precision and feasible.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kernel/room.hpp"
#include "left_out/solution_path.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

// y, upper, alpha and s of all examples, the artificial ones too.
struct DualSolution {
    const std::vector<double>&y, &upper, &alpha, &s;
    std::size_t size() const { return y.size(); }
};

struct LabelPaths {
    Tableau tableau;  // empty where it would cost more than it saves
    Indices examples;
    std::vector<std::int32_t> place;  // in the tableau, of every example, or -1
};

// An example that leaves: whose alphas change, along its path if it has one, and what they and the changes of
// y alpha are.
struct Departure {
    std::int32_t t;
    bool has_path = false;
    Indices changed{};
    std::vector<double> alpha{}, change{};
};

// Who is in the tableau of a label: first n_free free examples, then others near their margins. Nobody where
// it would cost more than it saves.
struct PathExamples {
    Indices examples;
    std::size_t n_free = 0;
    // Of the tableau, while it is made.
    std::int64_t bytes() const {
        const auto m = static_cast<std::int64_t>(examples.size());
        return m * m * std::int64_t(2 * sizeof(double) + sizeof(float));
    }
};

inline PathExamples path_examples(const DualSolution& d, double b, std::size_t n_leaving) {
    // Most examples; how near to their margins and how many are not free; and the square of all that is worth
    // one example that leaves.
    constexpr std::size_t kMost = 4000, kSpare = 64;
    constexpr double kNear = 0.1, kWorth = 1e5;
    PathExamples found;
    std::vector<std::pair<double, std::int32_t>> near;
    for (std::size_t i = 0; i < d.size(); ++i) {
        const double e = d.y[i] * (d.s[i] + b) - 1;
        if (!(d.upper[i] > 0)) continue;
        if ((d.alpha[i] > 0 || e < 0) && (d.alpha[i] < d.upper[i] || e > 0)) {
            found.examples.push_back(static_cast<std::int32_t>(i));
        } else if (std::abs(e) <= kNear || std::isinf(d.upper[i])) {
            near.emplace_back(std::abs(e), static_cast<std::int32_t>(i));
        }
    }
    found.n_free = found.examples.size();
    const std::size_t more = std::min(near.size(), found.n_free / 3 + kSpare), m = found.n_free + more;
    if (found.n_free == 0 || m > kMost ||
        static_cast<double>(m * m) > kWorth * static_cast<double>(n_leaving))
        return {};
    std::partial_sort(near.begin(), near.begin() + more, near.end());
    for (std::size_t k = 0; k < more; ++k) found.examples.push_back(near[k].second);
    return found;
}

template <class Engine>
LabelPaths paths_of(Engine& engine, const DualSolution& d, double b, PathExamples&& from, bool equality,
                    const StopFlag& stop) {
    const std::size_t m = from.examples.size();
    if (m == 0) return {};
    LabelPaths paths;
    paths.examples = std::move(from.examples);
    Indices all(d.size());
    std::iota(all.begin(), all.end(), 0);
    paths.place.assign(d.size(), -1);
    std::vector<float> alpha(m), excesses(m), upper(m), signs(m);
    for (std::size_t k = 0; k < m; ++k) {
        const std::int32_t i = paths.examples[k];
        paths.place[i] = static_cast<std::int32_t>(k);
        alpha[k] = static_cast<float>(d.alpha[i]);
        excesses[k] = static_cast<float>(d.y[i] * (d.s[i] + b) - 1);
        upper[k] = static_cast<float>(d.upper[i]);
        signs[k] = static_cast<float>(d.y[i]);
    }
    paths.tableau = Tableau(
        std::move(alpha), std::move(excesses), std::move(upper), static_cast<std::int64_t>(from.n_free),
        signs, equality ? 0.0 : std::numeric_limits<double>::quiet_NaN(), stop, [&](Sweeping& q) {
            std::vector<double> K(m * m);
            engine.start(all);
            engine.block(paths.examples, K.data());
            for (std::size_t i = 0; i < m; ++i) {
                for (std::size_t j = 0; j <= i; ++j)
                    q(i, j) = double(signs[i]) * double(signs[j]) * K[i * m + j];
            }
        });
    return paths;
}

// Where the path of an example ends, if it has one that does. `row`: K(x_t, x_j).
inline void follow(const LabelPaths& paths, const DualSolution& d, const std::vector<double>& row,
                   bool equality, SolutionPath& path, Departure& leaving) {
    constexpr double kRounding = 1e-14;  // of a sum of alphas
    const Tableau& tableau = paths.tableau;
    if (tableau.empty()) return;
    const std::int32_t t = leaving.t;
    std::vector<float> without;
    if (paths.place[t] >= 0) {
        if (!path.leave(tableau, paths.place[t], without)) return;
    } else {
        std::vector<float> of_t(tableau.size(), static_cast<float>(d.y[t]));  // what the bias has
        for (std::size_t k = 0; k < paths.examples.size(); ++k)
            of_t[k] = static_cast<float>(d.y[t] * d.y[paths.examples[k]] * row[paths.examples[k]]);
        if (!path.leave(tableau, static_cast<float>(d.alpha[t]), of_t, without)) return;
    }
    const auto clamp = [](double alpha, double upper) { return std::min(std::max(alpha, 0.0), upper); };
    Indices changed{t};
    std::vector<double> alpha{0.0};
    double sum = -d.y[t] * d.alpha[t];  // what the equality constraint misses
    for (std::size_t k = 0; k < without.size(); ++k) {
        const std::int32_t i = paths.examples[k];
        const float before = tableau.alpha(static_cast<std::int64_t>(k)), after = without[k];
        if (after == before || i == t) continue;
        const double moved = clamp(d.alpha[i] + (double(after) - double(before)), d.upper[i]);
        const bool above = after >= static_cast<float>(d.upper[i]);
        changed.push_back(i);
        alpha.push_back(after <= 0 ? 0.0 : (above ? d.upper[i] : moved));
        sum += d.y[i] * (alpha.back() - d.alpha[i]);
    }
    if (equality) {
        for (std::size_t k = 1; k < changed.size() && sum != 0; ++k) {
            const double u = d.upper[changed[k]], y = d.y[changed[k]];
            if (!(alpha[k] > 0 && alpha[k] < u)) continue;
            const double moved = clamp(alpha[k] - y * sum, u);
            sum += y * (moved - alpha[k]);
            alpha[k] = moved;
        }
        if (std::abs(sum) > kRounding * static_cast<double>(d.size())) return;
    }
    for (std::size_t k = 0; k < changed.size(); ++k)
        leaving.change.push_back(d.y[changed[k]] * (alpha[k] - d.alpha[changed[k]]));
    leaving.changed = std::move(changed);
    leaving.alpha = std::move(alpha);
    leaving.has_path = true;
}

// An example without a path: its alpha becomes 0. If others have to take it over (`taken_over`: an equality
// constraint or a bias feature would miss it), those from whom it takes least of the objective do, a part
// each. `row`: K(x_t, x_j).
inline void step_out(const DualSolution& d, const std::vector<double>& diagonal,
                     const std::vector<double>& row, bool taken_over, Departure& leaving) {
    constexpr double kParts = 4;
    const std::int32_t t = leaving.t;
    const double way = d.y[t], part = d.alpha[t] / kParts;
    double left = d.alpha[t];
    const auto change = [&](std::int32_t i, double alpha, double step) {
        leaving.changed.push_back(i);
        leaving.alpha.push_back(alpha);
        leaving.change.push_back(step);
    };
    change(t, 0.0, -way * left);
    if (!taken_over) return;
    std::vector<double> now = d.alpha;
    std::vector<std::pair<double, std::int32_t>> able;
    for (std::int32_t j = 0; j < static_cast<std::int32_t>(d.size()); ++j) {
        if (j == t || !(room_of(d.y[j], now[j], d.upper[j], way) > 0)) continue;
        const double d2 = diagonal[t] + diagonal[j] - 2 * row[j];
        able.emplace_back(way * (d.y[j] - d.s[j]) - 0.5 * part * d2, -j);
    }
    const auto give = [&](std::int32_t j, double most) {
        const double step = std::min({room_of(d.y[j], now[j], d.upper[j], way), most, left});
        if (!(step > 0)) return;
        now[j] = moved_alpha(d.y[j], now[j], d.upper[j], way, step);
        left -= step;
        change(j, now[j], way * step);
    };
    std::make_heap(able.begin(), able.end());
    for (std::size_t rest = able.size(); rest > 0 && left > 0; --rest) {
        std::pop_heap(able.begin(), able.begin() + rest);
        give(-able[rest - 1].second, part);
    }
    for (std::size_t k = able.size(); k > 0 && left > 0; --k) give(-able[k - 1].second, left);
}

}  // namespace widemargin
