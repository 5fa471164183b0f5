// The quadratic program over the cutting planes of one machine.
//
//   max_alpha  sum_j alpha_j L_j - 1/2 sum_jk alpha_j alpha_k G_jk,   alpha_j >= 0,  sum_j alpha_j = C
//
// with G_jk = g_j.g_k. Plane 0 has L = 0 and g = 0: it takes what the others leave of C. Two alphas at a
// time, those that violate optimality most, as in SMO.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace widemargin {

class CuttingPlanes {
  public:
    explicit CuttingPlanes(double C) : C_(C), alpha_{C}, loss_{0.0}, residual_{0.0}, gram_{{0.0}}, idle_{0} {}

    std::size_t size() const { return alpha_.size(); }
    const std::vector<double>& alpha() const { return alpha_; }
    double dual() const {
        double linear = 0;
        for (std::size_t j = 0; j < size(); ++j) linear += alpha_[j] * loss_[j];
        return linear - 0.5 * squared_weights();
    }
    // xi of the problem over the planes
    double slack() const { return *std::max_element(residual_.begin(), residual_.end()); }
    double squared_weights() const { return product(alpha_, alpha_); }
    // w.v for two combinations of planes
    double product(const std::vector<double>& a, const std::vector<double>& b) const {
        double sum = 0;
        for (std::size_t j = 0; j < a.size(); ++j) {
            if (a[j] == 0) continue;
            double row = 0;
            for (std::size_t k = 0; k < b.size(); ++k) row += gram_[j][k] * b[k];
            sum += a[j] * row;
        }
        return sum;
    }

    // `products` of the new plane with all others and, last, with itself.
    void add(double loss, const std::vector<double>& products) {
        for (std::size_t j = 0; j < size(); ++j) gram_[j].push_back(products[j]);
        gram_.push_back(products);
        alpha_.push_back(0.0);
        loss_.push_back(loss);
        idle_.push_back(0);
        residual_.assign(size(), 0.0);
        for (std::size_t j = 0; j < size(); ++j) {
            residual_[j] = loss_[j];
            for (std::size_t k = 0; k < size(); ++k) residual_[j] -= gram_[j][k] * alpha_[k];
        }
    }

    // Until the value is within `missing` of the optimum.
    void solve(double missing) {
        constexpr int kMost = 10000;
        for (int round = 0; round < kMost; ++round) {
            std::size_t up = 0, down = size();
            for (std::size_t j = 0; j < size(); ++j) {
                if (residual_[j] > residual_[up]) up = j;
                if (alpha_[j] > 0 && (down == size() || residual_[j] < residual_[down])) down = j;
            }
            // The value rises by at most C times the difference, since alphas sum to C.
            const double difference = residual_[up] - residual_[down];
            if (difference * C_ <= missing || up == down) break;
            const double curvature = gram_[up][up] + gram_[down][down] - 2 * gram_[up][down];
            const double step = std::min(alpha_[down], difference / std::max(curvature, 1e-300));
            if (!(step > 0)) break;
            alpha_[up] += step;
            alpha_[down] = step == alpha_[down] ? 0.0 : alpha_[down] - step;
            for (std::size_t j = 0; j < size(); ++j) residual_[j] -= step * (gram_[j][up] - gram_[j][down]);
        }
        for (std::size_t j = 0; j < size(); ++j) idle_[j] = alpha_[j] > 0 ? 0 : idle_[j] + 1;
    }

    // The planes that were not used for long, or neither here nor in `used`.
    std::vector<std::size_t> idle(int rounds, const std::vector<double>& used) const {
        std::vector<std::size_t> found;
        for (std::size_t j = 1; j < size(); ++j)
            if (idle_[j] > rounds && (j >= used.size() || used[j] == 0)) found.push_back(j);
        return found;
    }

    void remove(std::size_t j) {
        const auto at = static_cast<std::ptrdiff_t>(j);
        gram_.erase(gram_.begin() + at);
        for (std::vector<double>& row : gram_) row.erase(row.begin() + at);
        alpha_.erase(alpha_.begin() + at);
        loss_.erase(loss_.begin() + at);
        residual_.erase(residual_.begin() + at);
        idle_.erase(idle_.begin() + at);
    }

  private:
    double C_;
    std::vector<double> alpha_, loss_, residual_;
    std::vector<std::vector<double>> gram_;
    std::vector<int> idle_;
};

}  // namespace widemargin
