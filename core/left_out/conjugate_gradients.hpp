// Conjugate gradients for A x = r with a symmetric positive semi-definite A (Hestenes, Stiefel, 1952).
#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace widemargin {

// From x = 0, until the squared residual is at most `enough` times that of the start, or for `most_steps`.
// times(p, q) sets q = A p and returns p.q. A direction with less curvature than `flat` ends it; if `flat` is
// positive, x goes on along that direction as if it had this curvature.
template <class Times>
std::vector<double> conjugate_gradients(std::vector<double> r, double enough, int most_steps, double flat,
                                        Times&& times) {
    const std::size_t m = r.size();
    std::vector<double> x(m, 0.0), p(r), q(m);
    double rr = std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
    enough *= rr;
    for (int step = 0; step < most_steps && rr > enough; ++step) {
        const double pq = times(p, q);
        const double least = flat * std::inner_product(p.begin(), p.end(), p.begin(), 0.0);
        const bool curved = pq > least;
        if (!curved && flat == 0) break;
        const double length = rr / (curved ? pq : least);
        for (std::size_t k = 0; k < m; ++k) x[k] += length * p[k];
        if (!curved) break;
        double next = 0;
        for (std::size_t k = 0; k < m; ++k) {
            r[k] -= length * q[k];
            next += r[k] * r[k];
        }
        for (std::size_t k = 0; k < m; ++k) p[k] = r[k] + next / rr * p[k];
        rr = next;
    }
    return x;
}

}  // namespace widemargin
