// What the solution on all examples says of each example left out: leave_one_out.hpp, (1) and (2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "shared_rows.hpp"
#include "solution_path.hpp"
#include "sparse.hpp"

namespace widemargin {

struct LeaveOneOutOptions {
    double bias;              // size B of the bias feature, 0 for none
    bool squared_loss;        // squared hinge instead of hinge
    double accuracy;          // of every score; infinity: only the signs have to be certain
    std::int64_t max_rounds;  // Newton steps for one left-out example
    std::uint64_t seed;
};

// All arrays belong to the caller; n examples, L labels.
struct LeaveOneOutTask {
    std::int64_t n_labels;
    const std::int8_t* signs;      // L x n
    const double* cost_positive;   // L
    const double* cost_negative;   // L
    const double* sample_weights;  // n, or null
    const double* alpha;           // L x n: the solution
    // Results.
    double* scores;           // L x n
    double* accuracy;         // L x n
    std::int64_t* retrained;  // L
    std::int64_t* progress;   // one element, read by another thread: examples done, of L x n
};

// The solution of one label, and which of its examples have to be retrained without.
struct LabelSolution {
    std::int64_t label = 0;
    double gap = 0;
    Indices free;                // whose alphas are between their bounds, or belong there
    std::vector<double> shift;   // steps of their y alpha that would lower all their scores by one
    double shift_of_bias = 0;    // what these steps add to the score through the bias feature
    std::vector<double> excess;  // e_i
    std::vector<float> single_excess;
    Indices nearest;               // examples by |e_i|, those with an alpha between its bounds first
    std::vector<double> distance;  // of nearest[k]: 0 or |e_i|
    Indices left_out;              // those to retrain without, by how far the solution may move
    Tableau tableau;               // left_out_tableau.hpp; may be empty
    Indices in_tableau;
    std::vector<std::int32_t> place_in_tableau;  // of every example, or -1
};

// What a label's examples are and cost, and the solution that is given.
template <typename T>
class LeaveOneOut {
  public:
    LeaveOneOut(const SharedRows<T>& shared, const LeaveOneOutTask& task, const LeaveOneOutOptions& options)
        : shared(shared), task(task), options(options), n(shared.x.n_rows), d(shared.x.n_columns) {
        for (std::int64_t i = 0; i < n; ++i)
            longest = std::max(longest, std::sqrt(std::max(K(i) - options.bias * options.bias, 0.0)));
    }

    double sign(std::int64_t label, std::int64_t i) const { return task.signs[label * n + i]; }
    double cost(std::int64_t label, std::int64_t i) const {
        const double c = sign(label, i) > 0 ? task.cost_positive[label] : task.cost_negative[label];
        return task.sample_weights ? c * task.sample_weights[i] : c;
    }
    double upper(std::int64_t label, std::int64_t i) const {
        const double c = cost(label, i);
        return options.squared_loss && c > 0 ? std::numeric_limits<double>::infinity() : c;
    }
    double diagonal(std::int64_t label, std::int64_t i) const {
        return options.squared_loss ? 0.5 / cost(label, i) : 0.0;
    }
    double alpha(std::int64_t label, std::int64_t i) const { return task.alpha[label * n + i]; }
    double K(std::int64_t i) const { return shared.squared_norms[i]; }

    // An example's share of the duality gap (dual_cd.hpp), from e = y_i f(x_i) - 1.
    double slack(double e, double alpha, double cost) const {
        if (options.squared_loss) {
            const double xi = std::max(-e, 0.0);
            return cost * xi * xi + alpha * alpha / (4 * cost) + alpha * e;
        }
        return e > 0 ? alpha * e : (alpha - cost) * e;
    }

    bool enough(double score, double accuracy) const {
        return accuracy <= options.accuracy && (accuracy < std::abs(score) || accuracy < kSmallest);
    }

    // Scores of all examples by the given solution, its gap, and what (1) and (2) decide.
    LabelSolution examine(std::int64_t label) const {
        LabelSolution s;
        s.label = label;
        std::vector<double> w(d + 1, 0.0);
        for (std::int64_t i = 0; i < n; ++i) {
            if (alpha(label, i) == 0) continue;
            const double step = alpha(label, i) * sign(label, i);
            shared.x.row(i).axpy(step, w.data());
            w[d] += step * options.bias;
        }
        s.excess.resize(n);
        s.single_excess.resize(n);
        std::vector<double> distance(n, 0.0);
        for (std::int64_t i = 0; i < n; ++i) {
            const double score = shared.x.row(i).dot(w.data()) + options.bias * w[d];
            const double e = s.excess[i] = sign(label, i) * score - 1;
            s.single_excess[i] = static_cast<float>(e);
            const double u = upper(label, i), a = alpha(label, i);
            if (u <= 0) {
                distance[i] = std::numeric_limits<double>::infinity();
                continue;
            }
            s.gap += slack(e, a, cost(label, i));
            if ((a <= 0 && e > 0) || (a >= u && e < 0)) {
                distance[i] = std::abs(e);
            } else {
                s.free.push_back(static_cast<std::int32_t>(i));
            }
        }
        s.gap = std::max(s.gap, 0.0);
        s.shift = response(label, s.free);
        s.shift_of_bias = options.bias * options.bias * std::accumulate(s.shift.begin(), s.shift.end(), 0.0);
        s.nearest.resize(n);
        std::iota(s.nearest.begin(), s.nearest.end(), 0);
        std::stable_sort(s.nearest.begin(), s.nearest.end(),
                         [&](std::int32_t a, std::int32_t b) { return distance[a] < distance[b]; });
        s.distance.resize(n);
        for (std::int64_t k = 0; k < n; ++k) s.distance[k] = distance[s.nearest[k]];
        for (std::int64_t t = 0; t < n; ++t) {
            const auto [low, high] = margins_without(s, t);
            const double middle = 0.5 * (low + high), half = 0.5 * (high - low);
            task.scores[label * n + t] = sign(label, t) * middle;
            task.accuracy[label * n + t] = half;
            if (!enough(middle, half)) s.left_out.push_back(static_cast<std::int32_t>(t));
        }
        std::stable_sort(s.left_out.begin(), s.left_out.end(),
                         [&](std::int32_t a, std::int32_t b) { return reach(label, a) < reach(label, b); });
        task.retrained[label] = static_cast<std::int64_t>(s.left_out.size());
        return s;
    }

    // How far w can move when t leaves.
    double reach(std::int64_t label, std::int64_t t) const { return alpha(label, t) * std::sqrt(K(t)); }

    const SharedRows<T>& shared;
    const LeaveOneOutTask& task;
    const LeaveOneOutOptions& options;
    const std::int64_t n, d;
    double longest = 0;  // |x_i|

  private:
    // Nobody can tell such scores from 0.
    static constexpr double kSmallest = 1e-7;
    static constexpr int kConjugateSteps = 8;

    // The interval of m_t from (1) and (2).
    std::pair<double, double> margins_without(const LabelSolution& s, std::int64_t t) const {
        const double m = 1 + s.excess[t], a_t = alpha(s.label, t), u = upper(s.label, t);
        const double doubt = std::sqrt(s.gap * K(t));
        // A document that is empty has the same score with and without it.
        if (a_t <= 0 || u <= 0 || K(t) <= 0) return {m - doubt, m + doubt};
        const double q = K(t) + diagonal(s.label, t);
        const double c = std::max(a_t * (1 - m + a_t * K(t)) - 0.5 * a_t * a_t * q + s.gap,
                                  std::numeric_limits<double>::min());
        const double a = std::min(std::sqrt(2 * c / q), u);
        const double high = m + doubt;
        return {std::min(1 - 0.5 * a * q - c / a, high), high};
    }

    // (X X' + diagonal)^-1 1 over the free examples, by a few steps of conjugate gradients.
    std::vector<double> response(std::int64_t label, const Indices& free) const {
        const std::size_t m = free.size();
        if (m == 0 || options.bias == 0) return std::vector<double>(m, 0.0);
        std::vector<double> z(m, 0.0), r(m, 1.0), p(m, 1.0), q(m), w(d, 0.0);
        double rr = static_cast<double>(m);
        for (int step = 0; step < kConjugateSteps && rr > 1e-6 * static_cast<double>(m); ++step) {
            std::fill(w.begin(), w.end(), 0.0);
            for (std::size_t k = 0; k < m; ++k) shared.x.row(free[k]).axpy(p[k], w.data());
            double pq = 0;
            for (std::size_t k = 0; k < m; ++k) {
                q[k] = shared.x.row(free[k]).dot(w.data()) + diagonal(label, free[k]) * p[k];
                pq += p[k] * q[k];
            }
            if (!(pq > 0)) break;
            const double length = rr / pq;
            double next = 0;
            for (std::size_t k = 0; k < m; ++k) {
                z[k] += length * p[k];
                r[k] -= length * q[k];
                next += r[k] * r[k];
            }
            for (std::size_t k = 0; k < m; ++k) p[k] = r[k] + next / rr * p[k];
            rr = next;
        }
        return z;
    }
};

}  // namespace widemargin
