// The state of a decomposition (kernel/decomposition.hpp): alpha and s, the active examples, and which of
// them violate the optimality conditions most.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernel/gradient_engines.hpp"
#include "kernel/small_qp.hpp"
#include "simd/loops.hpp"

namespace widemargin {

struct DualState {
    DualState(std::int64_t n, const double* y, const double* upper, double* alpha, double* s)
        : n(n), y(y), upper(upper), alpha(alpha), s(s), rise(n), fall(n) {}

    bool may_rise(std::int64_t i) const { return can_rise(y[i], alpha[i], upper[i]); }
    bool may_fall(std::int64_t i) const { return can_fall(y[i], alpha[i], upper[i]); }

    // Updates the targets for simd/kernel_svm_loops.hpp after a change of alpha_i.
    void set_targets(std::int64_t i) {
        rise[i] = may_rise(i) ? y[i] : -std::numeric_limits<double>::infinity();
        fall[i] = may_fall(i) ? y[i] : std::numeric_limits<double>::infinity();
    }

    // Whether to scan all examples in order instead of the active ones; the targets of shrunk examples are
    // never selected.
    template <class Engine>
    bool seen_whole() const {
        const std::int64_t n_active = static_cast<std::int64_t>(active.size());
        return n_active == n || (Engine::keeps_s_of_all && n_active * 4 >= n);
    }

    void note(const Extremes& found) {
        highest = found.highest;
        lowest = found.lowest;
        most_rising = static_cast<std::int32_t>(found.rising);
        most_falling = static_cast<std::int32_t>(found.falling);
    }

    // lambda_eq (8.29) over the active examples; 0 without the equality constraint.
    double lambda(bool equality) const {
        if (!equality) return 0;
        double sum = 0;
        std::int64_t n_free = 0;
        for (const std::int32_t i : active) {
            if (rise[i] != fall[i]) continue;
            sum += y[i] - s[i];
            ++n_free;
        }
        if (n_free > 0) return sum / static_cast<double>(n_free);
        if (most_rising >= 0 && most_falling >= 0) return 0.5 * (highest + lowest);
        return most_rising >= 0 ? highest : (most_falling >= 0 ? lowest : 0.0);
    }

    const std::int64_t n;
    const double *y, *upper;
    double *alpha, *s;
    Indices active;
    std::vector<double> rise, fall;  // y_i if it may move that way, otherwise -infinity, +infinity
    double highest = 0, lowest = 0;  // of -omega = y - s, over those that may rise or fall
    std::int32_t most_rising = -1, most_falling = -1;
};

}  // namespace widemargin
