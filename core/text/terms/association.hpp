// How strongly two parts of a term are associated: Dunning's log-likelihood ratio (Accurate Methods for the
// Statistics of Surprise and Coincidence, 1993) of the 2 x 2 table that counts how often each occurs with and
// without the other.
#pragma once

#include <algorithm>
#include <cmath>

namespace widemargin {

inline double x_log_x(double x) { return x > 1 ? x * std::log(x) : 0; }

// `together` of `all` terms have both parts, `first` the first and `last` the last one. 0 if the parts occur
// together no more often than by chance.
inline double log_likelihood_ratio(double together, double first, double last, double all) {
    if (together * all <= first * last) return 0;
    const double cells = x_log_x(together) + x_log_x(first - together) + x_log_x(last - together) +
                         x_log_x(all - first - last + together);
    const double margins = x_log_x(first) + x_log_x(all - first) + x_log_x(last) + x_log_x(all - last);
    return std::max(0.0, 2 * (cells - margins + x_log_x(all)));
}

}  // namespace widemargin
