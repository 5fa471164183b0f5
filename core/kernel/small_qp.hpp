// The quadratic program on a working set (thesis, OP 12), solved to high accuracy.
//
//   min  1/2 a'Qa + g'a  over the changes a of m variables,  Q_ij = y_i y_j K_ij positive semi-definite or
//   not, 0 <= alpha + a <= U,  and y'a = 0 where there is an equality constraint.
//
// Pairs of variables (without the constraint also single variables) are minimized in closed form, the pair
// with the largest second-order gain first (Fan, Chen, Lin, "Working set selection using second order
// information", JMLR 2005). Curvature that is not positive (semi-definite or indefinite kernels) counts as a
// small positive one, so that a step ends at a bound or makes little progress, but never fails.
//
// When `stop` is set, solving ends early with the current solution. Returns the number of steps.
//
// Inputs and outputs in place: alpha (m), omega_i = s_i - y_i with s = sum_j alpha_j y_j K_ij (m), K (m x m).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernel/room.hpp"
#include "parallel.hpp"
#include "simd/loops.hpp"

namespace widemargin {

struct SmallProblem {
    std::vector<double> y, upper, alpha, omega, K;
    std::vector<double> rise, fall, diagonal;  // as in simd/kernel_svm_loops.hpp, with target 0
    const Loops& loops = vector_loops();
    std::size_t size() const { return y.size(); }
    // Enough for any accuracy that matters; otherwise the variables continue in another working set.
    std::size_t most_steps() const { return 1000 * size() + 100; }
    double k(std::size_t i, std::size_t j) const { return K[i * y.size() + j]; }

    void resize(std::size_t m) {
        y.resize(m);
        upper.resize(m);
        alpha.resize(m);
        omega.resize(m);
        K.resize(m * m);
    }

    void set_targets(std::size_t i) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        rise[i] = can_rise(y[i], alpha[i], upper[i]) ? 0.0 : -infinity;
        fall[i] = can_fall(y[i], alpha[i], upper[i]) ? 0.0 : infinity;
    }

    // Moves y_i alpha_i by +t and y_j alpha_j by -t; a bound that limits the step is reached exactly.
    Extremes move_pair(std::size_t i, std::size_t j, double t) {
        t = std::min({t, room_of(y[i], alpha[i], upper[i], 1), room_of(y[j], alpha[j], upper[j], -1)});
        alpha[i] = moved_alpha(y[i], alpha[i], upper[i], 1, t);
        alpha[j] = moved_alpha(y[j], alpha[j], upper[j], -1, t);
        set_targets(i);
        set_targets(j);
        const std::size_t m = size();
        return loops.over_doubles.update(K.data() + i * m, t, K.data() + j * m, -t, rise.data(), fall.data(),
                                         static_cast<std::int64_t>(m), omega.data());
    }

    // Fills the arrays that the loops read.
    Extremes begin() {
        const std::size_t m = size();
        rise.resize(m);
        fall.resize(m);
        diagonal.resize(m);
        for (std::size_t l = 0; l < m; ++l) {
            set_targets(l);
            diagonal[l] = k(l, l);
        }
        return loops.extremes(rise.data(), fall.data(), omega.data(), static_cast<std::int64_t>(m));
    }

    std::size_t solve_with_equality(double tol, const StopFlag& stop) {
        const std::size_t m = size();
        const std::int64_t n = static_cast<std::int64_t>(m);
        Extremes now = begin();
        std::size_t step = 0;
        for (; step < most_steps() && !stop; ++step) {
            if (now.rising < 0 || !(now.highest - now.lowest > tol)) break;
            const std::size_t i = static_cast<std::size_t>(now.rising);
            const std::int64_t found = loops.over_doubles.partner(
                now.highest, k(i, i), fall.data(), omega.data(), K.data() + i * m, diagonal.data(), n);
            if (found < 0) break;
            const std::size_t j = static_cast<std::size_t>(found);
            const double curvature = std::max(k(i, i) + k(j, j) - 2 * k(i, j), kSmallestCurvature);
            now = move_pair(i, j, (now.highest + omega[j]) / curvature);
        }
        return step;
    }

    // Single variables, or pairs if they gain more: if kernel values share a large constant (a bias feature),
    // a single variable can hardly move, but two can exchange freely.
    std::size_t solve_without_equality(double tol, const StopFlag& stop) {
        const std::size_t m = size();
        const std::int64_t n = static_cast<std::int64_t>(m);
        Extremes now = begin();
        std::size_t step = 0;
        for (; step < most_steps() && !stop; ++step) {
            double best = 0;
            std::size_t i = m;
            for (std::size_t l = 0; l < m; ++l) {
                const double g = y[l] * omega[l];
                const bool blocked = (g > 0 && alpha[l] <= 0) || (g < 0 && alpha[l] >= upper[l]);
                if (blocked || std::abs(g) <= tol) continue;
                const double gain = g * g / std::max(k(l, l), kSmallestCurvature);
                if (gain > best) best = gain, i = l;
            }
            if (i == m) break;
            const std::int64_t a = now.rising;
            const std::int64_t b =
                a < 0 || now.falling < 0 || !(now.highest > now.lowest)
                    ? -1
                    : loops.over_doubles.partner(now.highest, k(a, a), fall.data(), omega.data(),
                                                 K.data() + a * n, diagonal.data(), n);
            if (b >= 0) {
                const double both = std::max(k(a, a) + k(b, b) - 2 * k(a, b), kSmallestCurvature);
                const double difference = now.highest + omega[b];
                if (difference * difference > best * both) {
                    now = move_pair(a, b, difference / both);
                    continue;
                }
            }
            const double g = y[i] * omega[i], curvature = std::max(k(i, i), kSmallestCurvature);
            const double moved = std::min(std::max(alpha[i] - g / curvature, 0.0), upper[i]);
            const double t = y[i] * (moved - alpha[i]);
            alpha[i] = moved;
            set_targets(i);
            for (std::size_t l = 0; l < m; ++l) omega[l] += t * k(l, i);
            now = loops.extremes(rise.data(), fall.data(), omega.data(), n);
        }
        return step;
    }
};

}  // namespace widemargin
