// How the solution of a support vector machine moves while one of its examples leaves.
//
//   min over alpha  1/2 alpha'Q alpha - sum_i alpha_i,  0 <= alpha_i <= U_i,   Q_ij = y_i y_j K_ij
//
// Let alpha_t fall to 0 at a constant rate. Between two events the solution moves on a line: whose alpha is
// between its bounds ("free") keeps its margin, e_i = y_i f(x_i) - 1 = 0, and the others keep their alpha.
// An event is an alpha that reaches a bound, or a margin of 1 reached by somebody whose alpha is at a bound
// (Cauwenberghs, Poggio, "Incremental and decremental support vector machine learning", NIPS 2000). The way
// of one example has a few dozen events; all ways begin at the same solution, so what they have in common is
// computed once: the tableau.
//
// Every example has a quantity that is given and one that depends on those: e_i and alpha_i if it is free,
// alpha_i and e_i if not. The tableau says what each dependent quantity gains per unit of a given one,
//   alpha_F = P e_F - P Q_FN alpha_N,  e_N = Q_NF P e_F + (Q_NN - Q_NF P Q_FN) alpha_N,  P = Q_FF^-1,
// and is found by sweeping the free examples out of Q, in blocks. An event exchanges the two quantities of
// one example. Only the columns of those who take part in one are ever changed, one after the other.
//
// A bias is one more row and column: y, with 0 on the diagonal if it is not regularized (what it gives is
// sum_i y_i alpha_i) and -1/B^2 for a bias feature of size B. It is always free and has no bounds.
//
// Inputs: some examples, the free ones first; the others are those who may take part. Output: the alphas
// without t, in single precision; a small ridge on the diagonal makes Q definite. What the solution lacks to
// be exact is made good on the way. Nothing is proven here: who uses the result checks it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "simd/loops.hpp"

namespace widemargin {

// A symmetric matrix that is swept: only what is on and below the diagonal counts.
class Sweeping {
  public:
    explicit Sweeping(std::int64_t size)
        : size_(size),
          rows_((size + 3) / 4 * 4),
          stride_((size + 7) / 8 * 8),
          values_(static_cast<std::size_t>(rows_ * stride_)) {}

    double& operator()(std::int64_t i, std::int64_t j) {
        return i >= j ? values_[i * stride_ + j] : values_[j * stride_ + i];
    }

    // With D the block from `begin` to `end` and V its columns, D becomes -D^-1, V becomes U = V D^-1 and all
    // else loses U V'. Pivots are at least `smallest` if that is positive.
    void sweep(std::int64_t begin, std::int64_t end, double smallest) {
        Sweeping& self = *this;
        const std::int64_t depth = end - begin;
        std::vector<double> inverse(depth * depth), v(depth * stride_), u(rows_ * depth);
        for (std::int64_t k = 0; k < depth; ++k) {
            for (std::int64_t l = 0; l < depth; ++l) inverse[k * depth + l] = self(begin + k, begin + l);
            for (std::int64_t i = 0; i < size_; ++i) v[k * stride_ + i] = self(i, begin + k);
        }
        invert(inverse, depth, smallest);
        for (std::int64_t i = 0; i < size_; ++i) {
            for (std::int64_t k = 0; k < depth; ++k) {
                const double value = v[k * stride_ + i];
                for (std::int64_t l = 0; l < depth; ++l) u[i * depth + l] += value * inverse[k * depth + l];
            }
        }
        loops_.subtract_products(u.data(), v.data(), depth, rows_, stride_, values_.data());
        for (std::int64_t k = 0; k < depth; ++k) {
            for (std::int64_t i = 0; i < size_; ++i) self(i, begin + k) = u[i * depth + k];
        }
        for (std::int64_t k = 0; k < depth; ++k) {
            for (std::int64_t l = 0; l <= k; ++l) self(begin + k, begin + l) = -inverse[k * depth + l];
        }
    }

  private:
    // Gauss-Jordan, in place, without exchanges: the matrix is definite, or one number.
    static void invert(std::vector<double>& a, std::int64_t m, double smallest) {
        for (std::int64_t p = 0; p < m; ++p) {
            const double pivot = smallest > 0 ? std::max(a[p * m + p], smallest) : a[p * m + p];
            a[p * m + p] = 1;
            for (std::int64_t j = 0; j < m; ++j) a[p * m + j] /= pivot;
            for (std::int64_t i = 0; i < m; ++i) {
                if (i == p) continue;
                const double factor = a[i * m + p];
                a[i * m + p] = 0;
                for (std::int64_t j = 0; j < m; ++j) a[i * m + j] -= factor * a[p * m + j];
            }
        }
    }

    std::int64_t size_, rows_, stride_;
    std::vector<double> values_;
    const Loops& loops_ = vector_loops();
};

class Tableau {
  public:
    Tableau() = default;
    // `fill` writes Q into a Sweeping; `border`: the diagonal of the bias, or NaN. Throws Interrupted when
    // `stop` is raised: a large tableau takes seconds.
    template <class Fill>
    Tableau(std::vector<float> alpha, std::vector<float> excess, std::vector<float> upper,
            std::int64_t n_free, const std::vector<float>& signs, double border, const StopFlag& stop,
            Fill&& fill)
        : alpha_(std::move(alpha)), excess_(std::move(excess)), upper_(std::move(upper)) {
        n_examples_ = static_cast<std::int64_t>(alpha_.size());
        const bool has_bias = !std::isnan(border);
        size_ = n_examples_ + (has_bias ? 1 : 0);
        free_.assign(size_, 1);
        std::fill(free_.begin() + n_free, free_.begin() + n_examples_, std::uint8_t(0));
        Sweeping q(size_);
        fill(q);
        double trace = 0;
        for (std::int64_t i = 0; i < n_examples_; ++i) trace += q(i, i);
        const double ridge = kRidge * trace / static_cast<double>(std::max<std::int64_t>(n_examples_, 1));
        for (std::int64_t i = 0; i < n_examples_; ++i) q(i, i) += ridge;
        if (has_bias) {
            for (std::int64_t i = 0; i < n_examples_; ++i) q(n_examples_, i) = signs[i];
            q(n_examples_, n_examples_) = border;
        }
        for (std::int64_t begin = 0; begin < n_free; begin += kBlock) {
            if (stop) throw Interrupted();
            q.sweep(begin, std::min(begin + kBlock, n_free), ridge);
        }
        if (has_bias) q.sweep(n_examples_, size_, 0.0);
        matrix_.resize(size_ * size_);
        for (std::int64_t i = 0; i < size_; ++i) {
            for (std::int64_t j = 0; j <= i; ++j)
                matrix_[i * size_ + j] = matrix_[j * size_ + i] = static_cast<float>(q(i, j));
        }
        rate_.assign(size_, 0.0f);
        for (std::int64_t i = 0; i < n_free; ++i) {
            for (std::int64_t j = 0; j < size_; ++j) rate_[j] -= excess_[i] * matrix_[i * size_ + j];
        }
        for (std::int64_t j = 0; j < size_; ++j) rate_[j] = free_[j] ? -rate_[j] : rate_[j];
    }

    bool empty() const { return size_ == 0; }
    std::int64_t size() const { return size_; }
    std::int64_t n_examples() const { return n_examples_; }
    bool is_free(std::int64_t i) const { return free_[i] != 0; }
    float alpha(std::int64_t i) const { return alpha_[i]; }
    float excess(std::int64_t i) const { return excess_[i]; }
    float upper(std::int64_t i) const { return upper_[i]; }
    // At which rates all dependent quantities move while the excesses of the free examples go to 0 in unit
    // time.
    const std::vector<float>& rate() const { return rate_; }

    // What the dependent quantities gain per unit of the one of j that is given.
    void column(std::int64_t j, float* values) const {
        const float* const row = matrix_.data() + j * size_;
        for (std::int64_t i = 0; i < size_; ++i) values[i] = free_[i] ? -row[i] : row[i];
    }

    // The same for alpha_t of an example outside, whose row of Q (and of the bias) is given.
    void column_outside(const std::vector<float>& row, float* values) const {
        const Loops& loops = vector_loops();
        std::fill_n(values, size_, 0.0f);
        for (std::int64_t f = 0; f < size_; ++f) {
            if (free_[f]) loops.add_column(-row[f], matrix_.data() + f * size_, size_, values);
        }
        for (std::int64_t i = 0; i < size_; ++i) values[i] = free_[i] ? -values[i] : row[i] + values[i];
    }

  private:
    static constexpr std::int64_t kBlock = 64;
    static constexpr double kRidge = 1e-6;

    std::int64_t n_examples_ = 0, size_ = 0;
    std::vector<float> alpha_, excess_, upper_, matrix_, rate_;
    std::vector<std::uint8_t> free_;
};

// One for each thread: it keeps its memory.
class SolutionPath {
  public:
    // The alphas without example t of the tableau; false if there is no end of events, or of digits.
    bool leave(const Tableau& tableau, std::int64_t t, std::vector<float>& alpha) {
        begin(tableau);
        low_[t] = -kInfinity;
        high_[t] = kInfinity;
        if (free_[t]) exchange(t);
        free_[t] = 0;
        column_of(t, column_.data());
        if (!go(tableau.alpha(t), alpha)) return false;
        alpha[t] = 0;
        return true;
    }
    // The same for an example outside, at a bound: its alpha and its row (Tableau::column_outside).
    bool leave(const Tableau& tableau, float alpha_t, const std::vector<float>& row,
               std::vector<float>& alpha) {
        begin(tableau);
        tableau.column_outside(row, column_.data());
        return go(alpha_t, alpha);
    }

  private:
    struct Pivot {
        std::int64_t who;
        float size;
    };
    static constexpr std::size_t kMostPivots = 256;
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();

    // Along the whole path, whose column_ is known.
    bool go(float alpha_t, std::vector<float>& alpha) {
        const Tableau& tableau = *tableau_;
        add(-alpha_t, column_.data(), rate_);
        for (float now = 0;;) {
            const FirstLimit first =
                loops_.first_limit(quantity_.data(), rate_.data(), low_.data(), high_.data(), tableau.size());
            const bool last = first.who < 0 || first.time >= 1 - now;
            add(last ? 1 - now : first.time, rate_.data(), quantity_);
            if (last) break;
            if (pivots_.size() >= kMostPivots) return false;
            now += first.time;
            meet(first.who, 1 - now);
        }
        alpha.resize(tableau.n_examples());
        for (std::int64_t i = 0; i < tableau.n_examples(); ++i) {
            const float value = free_[i] ? quantity_[i] : held_[i];
            if (!std::isfinite(value)) return false;
            alpha[i] = std::min(std::max(value, 0.0f), tableau.upper(i));
        }
        return true;
    }

    void begin(const Tableau& tableau) {
        tableau_ = &tableau;
        const std::int64_t size = tableau.size();
        pivots_.clear();
        columns_.clear();
        column_.resize(size);
        rate_ = tableau.rate();
        quantity_.assign(tableau.size(), 0.0f);
        given_.assign(size, 0.0f);
        held_.assign(size, 0.0f);
        low_.assign(size, -kInfinity);
        high_.assign(size, kInfinity);
        free_.assign(size, 1);  // and stays so for the bias
        for (std::int64_t i = 0; i < tableau.n_examples(); ++i) {
            free_[i] = tableau.is_free(i);
            held_[i] = tableau.alpha(i);
            quantity_[i] = free_[i] ? tableau.alpha(i) : tableau.excess(i);
            if (free_[i]) given_[i] = -tableau.excess(i);
            limit(i);
        }
    }

    // An alpha stays between its bounds, an excess on its side of 0.
    void limit(std::int64_t i) {
        const bool above = !free_[i] && held_[i] > 0;
        low_[i] = above ? -kInfinity : 0.0f;
        high_[i] = free_[i] ? tableau_->upper(i) : (above ? 0.0f : kInfinity);
    }

    // An event: the dependent quantity of z has reached its limit, with this much time left.
    void meet(std::int64_t z, float left) {
        const bool rising = rate_[z] > 0;
        const float excess = -given_[z] * left;
        exchange(z);
        free_[z] = !free_[z];
        if (free_[z]) {
            quantity_[z] = held_[z];
        } else {
            held_[z] = rising ? tableau_->upper(z) : 0.0f;
            // On the right side, whatever the solution lacked to be exact.
            quantity_[z] = rising ? std::min(excess, 0.0f) : std::max(excess, 0.0f);
        }
        limit(z);
    }

    // From now on the other quantity of z is given, and does not move.
    void exchange(std::int64_t z) {
        const std::size_t at = pivots_.size() * rate_.size();
        columns_.resize(at + rate_.size());
        column_of(z, columns_.data() + at);
        const float size = columns_[at + z], step = -rate_[z] / size;
        add(step, columns_.data() + at, rate_);
        rate_[z] = given_[z] + step;
        given_[z] = 0;
        pivots_.push_back({z, size});
    }

    // What the dependent quantities gain per unit of the given one of j, after all exchanges so far.
    void column_of(std::int64_t j, float* values) const {
        tableau_->column(j, values);
        const std::int64_t size = tableau_->size();
        for (std::size_t k = 0; k < pivots_.size(); ++k) {
            const Pivot& pivot = pivots_[k];
            if (pivot.who == j) {
                for (std::int64_t i = 0; i < size; ++i) values[i] /= pivot.size;
                values[j] = 1 / pivot.size;
                continue;
            }
            const float step = -values[pivot.who] / pivot.size;
            loops_.add_column(step, columns_.data() + k * tableau_->size(), size, values);
            values[pivot.who] = step;
        }
    }

    void add(float factor, const float* values, std::vector<float>& to) const {
        loops_.add_column(factor, values, tableau_->size(), to.data());
    }

    const Tableau* tableau_ = nullptr;
    const Loops& loops_ = vector_loops();
    std::vector<Pivot> pivots_;
    std::vector<float> columns_, column_;  // columns at the time of their pivots, one after the other
    std::vector<float> quantity_, rate_, low_, high_;  // of the dependent quantities
    std::vector<float> given_;                         // rates of the given ones
    std::vector<float> held_;                          // alphas at their bounds
    std::vector<std::uint8_t> free_;
};

}  // namespace widemargin
