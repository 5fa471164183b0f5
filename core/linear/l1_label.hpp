// One label of an L1-regularized support vector machine. What is solved, and the letters, stand in
// linear/l1_svm.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "linear/label_costs.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

struct L1Options {
    double bias;  // size of the bias feature, 0 for none
    double tol;   // of the relative duality gap
    std::int64_t max_passes;
    std::uint64_t seed;
};

// All arrays belong to the caller; n examples, L labels, d features.
struct L1Problem : LabelTasks {
    const double* start;  // L x (d + 1) weights to start from, that of the bias feature last; or null
};

struct L1Results {
    double* weights;    // L x (d + 1), that of the bias feature last
    double* objective;  // L
    double* gap;        // L
    std::int64_t* passes;
    std::uint8_t* converged;
    std::int64_t* labels_done;  // progress, one element, read by another thread
};

struct L1Task : L1Problem, L1Results {};

// The features of all labels, and the bias feature after them.
template <typename T>
struct L1Columns {
    CsrView<T> x;  // transposed: rows are features
    Indices everyone;
    std::vector<T> ones;
    std::int64_t n, d, size;  // examples, features, features with the bias feature

    L1Columns(const CsrView<T>& columns, double bias)
        : x(columns), n(columns.n_columns), d(columns.n_rows), size(d + (bias > 0 ? 1 : 0)) {
        if (size == d) return;
        everyone = all_of(n);
        ones.assign(n, static_cast<T>(bias));
    }

    Row<T> column(std::int64_t j) const { return j < d ? x.row(j) : Row<T>{everyone.data(), ones.data(), n}; }
};

template <typename T>
class L1Label {
  public:
    L1Label(const L1Columns<T>& columns, const L1Task& task, const L1Options& options, std::int64_t label)
        : columns_(columns),
          task_(task),
          options_(options),
          label_(label),
          w_(task.weights + label * (columns.d + 1)),
          examples_(columns.n),
          alpha_(columns.n),
          g_(columns.size),
          random_(options.seed + static_cast<std::uint64_t>(label)) {
        const LabelCosts costs(task, label, columns.n, true);
        for (std::int64_t i = 0; i < columns.n; ++i)
            examples_[i] = {1.0, costs.sign(i) > 0 ? costs.cost(i) : -costs.cost(i)};
        if (task.start) {
            const double* start = task.start + label * (columns.d + 1);
            std::copy(start, start + columns.size, w_);
        }
    }

    // A pass is as many steps as there are features, or a computation of all gradients.
    void solve(const StopFlag& stop) {
        std::int64_t passes = 0, steps = 0;
        bool converged = false;
        for (;;) {
            converged = certify();
            ++passes;
            if (converged || passes >= options_.max_passes) break;
            choose();
            double first = -1;
            for (int since = 0; passes < options_.max_passes;) {
                if (stop) throw Interrupted();
                if (since == 0) remember(0);
                const double left = pass();
                steps += static_cast<std::int64_t>(chosen_.size());
                passes += steps / std::max<std::int64_t>(columns_.size, 1);
                steps %= std::max<std::int64_t>(columns_.size, 1);
                remember(++since);
                if (since == kSteps) {
                    extrapolate();
                    since = 0;
                }
                if (first < 0) first = left;
                if (left <= kShare * first) break;
            }
        }
        task_.objective[label_] = objective_;
        task_.gap[label_] = std::max(objective_ - dual_, 0.0);
        task_.passes[label_] = passes;
        task_.converged[label_] = converged;
    }

  private:
    // What violations fall to in a round, and the least number of features in it.
    static constexpr double kShare = 0.1;
    static constexpr std::int64_t kFewest = 100;
    // Of the line search: sufficient decrease, and the most times that a step is halved.
    static constexpr double kDecrease = 0.01;
    static constexpr int kHalvings = 20;
    // Passes between extrapolations.
    static constexpr int kSteps = 5;
    static constexpr double kLeastCurvature = 1e-12;

    struct Example {
        double b;
        double cost;  // y_i C_i

        double sign() const { return std::copysign(1.0, cost); }
    };

    // P, D and all gradients, from margins that are computed anew. True if the gap is small enough.
    bool certify() {
        std::fill(alpha_.begin(), alpha_.end(), 0.0);
        double penalty = 0;
        for (std::int64_t j = 0; j < columns_.size; ++j) {
            if (w_[j] == 0) continue;
            penalty += std::abs(w_[j]);
            columns_.column(j).axpy(w_[j], alpha_.data());
        }
        double loss = 0, sum = 0;
        for (std::int64_t i = 0; i < columns_.n; ++i) {
            Example& e = examples_[i];
            e.b = 1 - e.sign() * alpha_[i];
            const double hinge = std::max(e.b, 0.0);
            alpha_[i] = 2 * e.cost * hinge;  // with the sign y_i
            sum += std::abs(alpha_[i]);
            loss += std::abs(e.cost) * hinge * hinge;
        }
        double largest = 0;
        for (std::int64_t j = 0; j < columns_.size; ++j) {
            g_[j] = -columns_.column(j).dot(alpha_.data());
            largest = std::max(largest, std::abs(g_[j]));
        }
        objective_ = penalty + loss;
        if (loss > 0) {
            // D(s alpha) = s sum - s^2 loss: the best scale, or the largest that is feasible.
            const double best = sum / (2 * loss);
            const double scale = largest * best > 1 ? 1 / largest : best;
            dual_ = std::max(dual_, scale * (sum - scale * loss));
        }
        return objective_ - dual_ <= options_.tol * objective_;
    }

    // The features of the next round.
    void choose() {
        chosen_.clear();
        others_.clear();
        for (std::int64_t j = 0; j < columns_.size; ++j) {
            if (w_[j] != 0)
                chosen_.push_back(static_cast<std::int32_t>(j));
            else if (std::abs(g_[j]) > 1)
                others_.push_back(static_cast<std::int32_t>(j));
        }
        const auto most = std::max<std::int64_t>(kFewest, static_cast<std::int64_t>(chosen_.size()));
        if (static_cast<std::int64_t>(others_.size()) > most) {
            const auto before = [this](std::int32_t a, std::int32_t b) {
                const double ga = std::abs(g_[a]), gb = std::abs(g_[b]);
                return ga != gb ? ga > gb : a < b;
            };
            std::nth_element(others_.begin(), others_.begin() + most, others_.end(), before);
            others_.resize(most);
        }
        chosen_.insert(chosen_.end(), others_.begin(), others_.end());
        std::sort(chosen_.begin(), chosen_.end());
        random_.shuffle(chosen_);
    }

    // One step for every feature of the round. Returns the sum of the violations.
    double pass() {
        double violations = 0;
        for (const std::int32_t j : chosen_) {
            violations += step(j);
        }
        return violations;
    }

    void remember(int place) {
        const std::size_t m = chosen_.size();
        if (past_.size() < m * (kSteps + 1)) past_.resize(m * (kSteps + 1));
        for (std::size_t k = 0; k < m; ++k) past_[place * m + k] = w_[chosen_[k]];
    }

    // Where the last passes lead to, if the objective is lower there (Bertrand, Massias, "Anderson
    // acceleration of coordinate descent", AISTATS 2021).
    void extrapolate() {
        const std::size_t m = chosen_.size();
        double gram[kSteps][kSteps + 1];
        for (int a = 0; a < kSteps; ++a) {
            for (int b = 0; b <= a; ++b) {
                const double *pa = past_.data() + a * m, *pb = past_.data() + b * m;
                double sum = 0;
                for (std::size_t k = 0; k < m; ++k) sum += (pa[k + m] - pa[k]) * (pb[k + m] - pb[k]);
                gram[a][b] = gram[b][a] = sum;
            }
            gram[a][kSteps] = 1;
        }
        double trace = 0;
        for (int a = 0; a < kSteps; ++a) trace += gram[a][a];
        if (!(trace > 0)) return;
        for (int a = 0; a < kSteps; ++a) gram[a][a] += 1e-12 * trace;
        double c[kSteps], total = 0;
        solve_small(gram, c);
        for (const double each : c) total += each;
        if (!(std::abs(total) > 0) || !std::isfinite(total)) return;
        // Weights that are zero now stay zero, and signs stay.
        margins_.assign(columns_.n, 0.0);
        double before = 0, after = 0;
        candidate_.resize(m);
        for (std::size_t k = 0; k < m; ++k) {
            const double now = past_[kSteps * m + k];
            double w = 0;
            for (int a = 0; a < kSteps; ++a) w += c[a] / total * past_[(a + 1) * m + k];
            if (now == 0 || w * now < 0) w = 0;
            candidate_[k] = w;
            before += std::abs(now);
            after += std::abs(w);
            if (w != 0) columns_.column(chosen_[k]).axpy(w, margins_.data());
        }
        for (std::int64_t i = 0; i < columns_.n; ++i) {
            const Example& e = examples_[i];
            const double hinge = std::max(e.b, 0.0), b = 1 - e.sign() * margins_[i];
            const double other = std::max(b, 0.0);
            margins_[i] = b;
            before += std::abs(e.cost) * hinge * hinge;
            after += std::abs(e.cost) * other * other;
        }
        if (!(after < before)) return;
        for (std::int64_t i = 0; i < columns_.n; ++i) examples_[i].b = margins_[i];
        for (std::size_t k = 0; k < m; ++k) w_[chosen_[k]] = candidate_[k];
    }

    // Gaussian elimination with pivots; the right-hand side is the last column.
    static void solve_small(double (&a)[kSteps][kSteps + 1], double (&solution)[kSteps]) {
        for (int k = 0; k < kSteps; ++k) {
            int pivot = k;
            for (int r = k + 1; r < kSteps; ++r)
                if (std::abs(a[r][k]) > std::abs(a[pivot][k])) pivot = r;
            std::swap(a[k], a[pivot]);
            for (int r = k + 1; r < kSteps; ++r) {
                const double factor = a[r][k] / a[k][k];
                for (int q = k; q <= kSteps; ++q) a[r][q] -= factor * a[k][q];
            }
        }
        for (int k = kSteps - 1; k >= 0; --k) {
            double sum = a[k][kSteps];
            for (int q = k + 1; q < kSteps; ++q) sum -= a[k][q] * solution[q];
            solution[k] = sum / a[k][k];
        }
    }

    // A Newton step of one weight. Returns how much its gradient violated optimality.
    double step(std::int64_t j) {
        const Row<T> x = columns_.column(j);
        double g = 0, h = 0, all = 0;
        for (std::int64_t k = 0; k < x.size; ++k) {
            const Example& e = examples_[x.indices[k]];
            const double value = x.values[k], cx = e.cost * value, cxx = std::abs(cx * value);
            all += cxx;
            g -= cx * positive_part(e.b);
            h += cxx * is_positive(e.b);
        }
        g *= 2;
        h = std::max(2 * h, kLeastCurvature);
        const double w = w_[j];
        const double violation = w > 0   ? std::abs(g + 1)
                                 : w < 0 ? std::abs(g - 1)
                                         : std::max(std::abs(g) - 1, 0.0);
        const double d = g + 1 <= h * w ? -(g + 1) / h : g - 1 >= h * w ? -(g - 1) / h : -w;
        if (d == 0) return violation;
        const double descent = std::abs(w + d) - std::abs(w) + g * d;
        double scale = 1, moved = 0, change = 0;
        for (int halvings = 0; halvings < kHalvings; ++halvings, scale /= 2) {
            const double t = scale * d;
            const double least = std::abs(w + t) - std::abs(w) - kDecrease * scale * descent;
            // `all` bounds the curvature: some steps need no loss to be accepted.
            const bool certain = all * t * t + g * t + least <= 0;
            if (certain)
                shift(x, t - moved);
            else
                change += move(x, t - moved);
            moved = t;
            if (certain || change + least <= 0) {
                w_[j] = w + t;
                return violation;
            }
        }
        move(x, -moved);
        return violation;
    }

    // Without branches, which nobody could predict.
    static double positive_part(double b) { return 0.5 * (b + std::abs(b)); }
    static double is_positive(double b) { return 0.5 + std::copysign(0.5, b); }

    void shift(const Row<T>& x, double t) {
        for (std::int64_t k = 0; k < x.size; ++k) {
            Example& e = examples_[x.indices[k]];
            e.b -= t * double(x.values[k]) * e.sign();
        }
    }

    // Changes the margins for a step of a weight. Returns by how much the loss rises.
    double move(const Row<T>& x, double t) {
        double change = 0;
        for (std::int64_t k = 0; k < x.size; ++k) {
            Example& e = examples_[x.indices[k]];
            const double before = positive_part(e.b);
            const double b = e.b - t * double(x.values[k]) * e.sign();
            const double after = positive_part(b);
            e.b = b;
            change += std::abs(e.cost) * (after - before) * (after + before);
        }
        return change;
    }

    const L1Columns<T>& columns_;
    const L1Task& task_;
    const L1Options& options_;
    std::int64_t label_;
    double* w_;
    std::vector<Example> examples_;
    std::vector<double> alpha_;
    std::vector<double> g_;
    std::vector<double> past_, candidate_, margins_;
    Indices chosen_, others_;
    double objective_ = 0, dual_ = 0;
    Random random_;
};

}  // namespace widemargin
