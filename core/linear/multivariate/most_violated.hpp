// The labeling that violates the constraint of a multivariate loss most. What it is, and the letters, stand
// in linear/multivariate/multivariate.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace widemargin {

// The errors of a labeling y': which examples it moves to the other side.
struct Labeling {
    Indices missed, added;  // positives that are labeled negative, and the reverse; copies are repeated
    double loss = 0;        // L(y')
    double violation = 0;   // L(y') - w.g(y')
};

class MostViolated {
  public:
    // The examples of each class, an example as often as it counts.
    MostViolated(Indices positives, Indices negatives, bool f1)
        : positives_(std::move(positives)), negatives_(std::move(negatives)), f1_(f1) {}

    std::int64_t n_positive() const { return static_cast<std::int64_t>(positives_.size()); }
    std::int64_t n_negative() const { return static_cast<std::int64_t>(negatives_.size()); }

    // For the scores of all examples. The correct labeling has violation 0, so the result has at least that.
    Labeling find(const std::vector<double>& scores) {
        const auto lower = [&](std::int32_t a, std::int32_t b) {
            return scores[a] != scores[b] ? scores[a] < scores[b] : a < b;
        };
        const auto higher = [&](std::int32_t a, std::int32_t b) {
            return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
        };
        std::sort(positives_.begin(), positives_.end(), lower);
        // A negative below -1 never pays: what it adds to the loss is below 1.
        auto end = std::partition(negatives_.begin(), negatives_.end(),
                                  [&](std::int32_t i) { return !f1_ || scores[i] > -1; });
        if (!f1_ && n_negative() > n_positive()) {
            end = negatives_.begin() + n_positive();
            std::nth_element(negatives_.begin(), end, negatives_.end(), higher);
        }
        std::sort(negatives_.begin(), end, higher);
        sums_.assign(1, 0.0);
        for (auto i = negatives_.begin(); i != end; ++i) sums_.push_back(sums_.back() + scores[*i]);
        return f1_ ? find_f1(scores) : find_prbep(scores);
    }

  private:
    Labeling find_prbep(const std::vector<double>& scores) const {
        const auto most = static_cast<std::size_t>(std::min(n_positive(), n_negative()));
        double gained = 0;
        std::size_t c = 0;
        for (; c < most; ++c) {
            const double gain = 2 - scores[positives_[c]] + scores[negatives_[c]];
            if (gain <= 0) break;
            gained += gain;
        }
        return labeling(c, c, 2.0 * static_cast<double>(c), gained);
    }

    Labeling find_f1(const std::vector<double>& scores) const {
        const std::size_t n = positives_.size(), most = sums_.size() - 1;
        double best = 0, missed = 0;
        std::size_t best_c = 0, best_b = 0;
        for (std::size_t c = 0; c <= n; ++c) {
            // The first b from which on another false positive does not pay.
            std::size_t low = 0, high = most;
            while (low < high) {
                const std::size_t b = (low + high) / 2;
                const double gain = loss(n, c, b + 1) - loss(n, c, b) + (sums_[b + 1] - sums_[b]);
                if (gain > 0)
                    low = b + 1;
                else
                    high = b;
            }
            const double violation = loss(n, c, low) - missed + sums_[low];
            if (violation > best) {
                best = violation;
                best_c = c;
                best_b = low;
            }
            if (c < n) missed += scores[positives_[c]];
        }
        return labeling(best_c, best_b, loss(n, best_c, best_b), best);
    }

    // 2 n+ (1 - F1), with F1 = 0 if nothing is found.
    static double loss(std::size_t n, std::size_t c, std::size_t b) {
        const auto positives = static_cast<double>(n), errors = static_cast<double>(b + c);
        return c == n ? 2 * positives : 2 * positives * errors / static_cast<double>(2 * n - c + b);
    }

    Labeling labeling(std::size_t c, std::size_t b, double loss, double violation) const {
        return {Indices(positives_.begin(), positives_.begin() + static_cast<std::ptrdiff_t>(c)),
                Indices(negatives_.begin(), negatives_.begin() + static_cast<std::ptrdiff_t>(b)), loss,
                violation};
    }

    Indices positives_, negatives_;
    std::vector<double> sums_;  // of the highest scores of negatives
    bool f1_;
};

}  // namespace widemargin
