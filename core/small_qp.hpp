// The quadratic programme on a working set (thesis, OP 12), solved to high accuracy.
//
//   min  1/2 a'Qa + g'a  over the changes a of m variables,  Q_ij = y_i y_j K_ij positive semi-definite or
//   not, 0 <= alpha + a <= U,  and y'a = 0 where there is an equality constraint.
//
// Pairs of variables (single ones without the constraint) are minimised in closed form, the pair with the
// largest second-order gain first (Fan, Chen, Lin, "Working set selection using second order information",
// JMLR 2005). Curvature that is not positive (semi-definite or indefinite kernels) counts as a small positive
// one, so that a step ends at a bound or makes little progress, but never fails.
//
// Inputs and outputs in place: alpha (m), omega_i = s_i - y_i with s = sum_j alpha_j y_j K_ij (m), K (m x m).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace widemargin {

constexpr double kSmallestCurvature = 1e-12;

// Whether y alpha can still grow ("up") or fall ("down").
inline bool can_rise(double y, double alpha, double upper) { return y > 0 ? alpha < upper : alpha > 0; }
inline bool can_fall(double y, double alpha, double upper) { return y > 0 ? alpha > 0 : alpha < upper; }

struct SmallProblem {
    std::vector<double> y, upper, alpha, omega, K;
    std::size_t size() const { return y.size(); }
    double k(std::size_t i, std::size_t j) const { return K[i * y.size() + j]; }

    void resize(std::size_t m) {
        y.resize(m);
        upper.resize(m);
        alpha.resize(m);
        omega.resize(m);
        K.resize(m * m);
    }

    // Moves y_i alpha_i by +t and y_j alpha_j by -t; a bound that limits the step is met exactly.
    void move_pair(std::size_t i, std::size_t j, double t) {
        const double room_i = y[i] > 0 ? upper[i] - alpha[i] : alpha[i];
        const double room_j = y[j] > 0 ? alpha[j] : upper[j] - alpha[j];
        t = std::min(t, std::min(room_i, room_j));
        alpha[i] = t == room_i ? (y[i] > 0 ? upper[i] : 0.0) : alpha[i] + y[i] * t;
        alpha[j] = t == room_j ? (y[j] > 0 ? 0.0 : upper[j]) : alpha[j] - y[j] * t;
        for (std::size_t l = 0; l < size(); ++l) omega[l] += t * (k(l, i) - k(l, j));
    }

    void solve_with_equality(double tol) {
        const std::size_t m = size();
        for (std::size_t step = 0; step < 100 * m * m + 100; ++step) {
            double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
            std::size_t i = m, j = m;
            for (std::size_t l = 0; l < m; ++l) {
                if (can_rise(y[l], alpha[l], upper[l]) && -omega[l] > highest) highest = -omega[l], i = l;
                if (can_fall(y[l], alpha[l], upper[l])) lowest = std::min(lowest, -omega[l]);
            }
            if (i == m || !(highest - lowest > tol)) return;
            double best = 0;
            for (std::size_t l = 0; l < m; ++l) {
                const double difference = highest + omega[l];
                if (l == i || difference <= 0 || !can_fall(y[l], alpha[l], upper[l])) continue;
                const double curvature = std::max(k(i, i) + k(l, l) - 2 * k(i, l), kSmallestCurvature);
                if (difference * difference / curvature > best)
                    best = difference * difference / curvature, j = l;
            }
            if (j == m) return;
            const double curvature = std::max(k(i, i) + k(j, j) - 2 * k(i, j), kSmallestCurvature);
            move_pair(i, j, (highest + omega[j]) / curvature);
        }
    }

    void solve_without_equality(double tol) {
        const std::size_t m = size();
        for (std::size_t step = 0; step < 100 * m * m + 100; ++step) {
            double best = 0;
            std::size_t i = m;
            for (std::size_t l = 0; l < m; ++l) {
                const double g = y[l] * omega[l];
                const bool blocked = (g > 0 && alpha[l] <= 0) || (g < 0 && alpha[l] >= upper[l]);
                if (blocked || std::abs(g) <= tol) continue;
                const double gain = g * g / std::max(k(l, l), kSmallestCurvature);
                if (gain > best) best = gain, i = l;
            }
            if (i == m) return;
            const double g = y[i] * omega[i], curvature = std::max(k(i, i), kSmallestCurvature);
            const double moved = std::min(std::max(alpha[i] - g / curvature, 0.0), upper[i]);
            const double t = y[i] * (moved - alpha[i]);
            alpha[i] = moved;
            for (std::size_t l = 0; l < m; ++l) omega[l] += t * k(l, i);
        }
    }
};

}  // namespace widemargin
