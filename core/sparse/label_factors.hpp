// Squared factors of terms for each label, from the bi-normal separation of the term and the label.
//
// Problem: r_jl = |F^-1(tp_jl / P_l) - F^-1((df_j - tp_jl) / (n - P_l))| for all terms j and labels l, where
// F is the normal distribution, tp_jl documents have both, df_j the term and P_l the label, of n; rates are
// kept `nearest` away from 0 and 1 (Forman, JMLR 3, 2003). Divided by its mean over the terms that occur, it
// makes the factor f_jl = (1 - mix) + mix r_jl; 1 if that mean is 0, or a label is on no document or on all.
// Inputs: a CSR matrix of documents, for each label the rows of its documents, concatenated, and how often
// each document counts, or null for once. Output: f^2, terms x labels. Labels are handed out in blocks of 16,
// so that threads write to different cache lines.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"
#include "sparse/term_sums.hpp"

namespace widemargin {

struct FactorOptions {
    double mix;
    double nearest;
};

// F^-1(p), for p not too near to 0 or 1: an approximation (Hastings, "Approximations for Digital Computers",
// 1955, sheet 68; within 0.00045) and one of Halley's steps, which cubes the error.
inline double inverse_normal(double p) {
    const double tail = std::min(p, 1 - p), t = std::sqrt(-2 * std::log(tail));
    const double above =
        t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    const double x = p < 0.5 ? -above : above;
    constexpr double kRootHalf = 0.70710678118654752440, kRootTwoPi = 2.50662827463100050242;
    const double u = (0.5 * std::erfc(-x * kRootHalf) - p) * kRootTwoPi * std::exp(0.5 * x * x);
    return x - u / (1 + 0.5 * x * u);
}

// F^-1 of the rates of counts out of the same total. Whole numbers are computed once.
class InverseNormalOfRates {
  public:
    InverseNormalOfRates(double total, double nearest, std::int64_t most)
        : total_(total),
          few_(nearest * total),
          many_((1 - nearest) * total),
          lowest_(inverse_normal(nearest)),
          known_(most + 1, std::numeric_limits<double>::quiet_NaN()) {}

    double operator()(double count) {
        if (count <= few_) return lowest_;
        if (count >= many_) return -lowest_;
        const auto whole = static_cast<std::size_t>(count);
        if (static_cast<double>(whole) != count || whole >= known_.size())
            return inverse_normal(count / total_);
        if (std::isnan(known_[whole])) known_[whole] = inverse_normal(count / total_);
        return known_[whole];
    }

  private:
    double total_, few_, many_, lowest_;
    std::vector<double> known_;
};

// Adds the terms of a row that counts so often.
template <typename T>
void count_row(const Row<T>& row, double weight, double* counts) {
    for (std::int64_t k = 0; k < row.size; ++k) {
        if (row.values[k] != T(0)) counts[row.indices[k]] += weight;
    }
}

template <typename T, class Poll>
void label_factors(const CsrView<T>& x, const LabelRows& labels, const double* row_weights,
                   const FactorOptions& options, float* squared_factors, int n_threads, Poll&& poll) {
    const std::int64_t n = x.n_rows, d = x.n_columns, n_labels = labels.n_labels;
    const auto weight = [&](std::int64_t i) { return row_weights ? row_weights[i] : 1.0; };
    std::vector<double> df(d, 0.0);
    double all = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        count_row(x.row(i), weight(i), df.data());
        all += weight(i);
    }
    const auto n_terms = std::count_if(df.begin(), df.end(), [](double count) { return count > 0; });
    // The factors of one label; true if they are not all 1.
    const auto separate = [&](std::int64_t label, std::vector<double>& r) {
        std::fill(r.begin(), r.end(), 0.0);
        double with = 0;
        for (std::int64_t k = labels.indptr[label]; k < labels.indptr[label + 1]; ++k) {
            count_row(x.row(labels.rows[k]), weight(labels.rows[k]), r.data());
            with += weight(labels.rows[k]);
        }
        if (!(with > 0 && with < all)) return false;
        InverseNormalOfRates inside(with, options.nearest, n), outside(all - with, options.nearest, n);
        double sum = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            const double both = r[j];
            r[j] = std::abs(inside(both) - outside(std::max(df[j] - both, 0.0)));
            sum += r[j];
        }
        if (!(sum > 0)) return false;
        const double scale = options.mix * static_cast<double>(n_terms) / sum;
        for (std::int64_t j = 0; j < d; ++j) r[j] = (1 - options.mix) + scale * r[j];
        return true;
    };
    const auto make_block = [&](int, std::int64_t block, const StopFlag& stop) {
        const std::int64_t first = block * kLanes, count = std::min<std::int64_t>(kLanes, n_labels - first);
        std::vector<std::vector<double>> factors(count, std::vector<double>(d));
        for (std::int64_t lane = 0; lane < count && !stop; ++lane) {
            if (!separate(first + lane, factors[lane])) std::fill_n(factors[lane].begin(), d, 1.0);
        }
        // Terms in pieces whose cache lines stay near while all labels write to them.
        constexpr std::int64_t kPiece = 256;
        for (std::int64_t begin = 0; begin < d && !stop; begin += kPiece) {
            const std::int64_t end = std::min(begin + kPiece, d);
            for (std::int64_t lane = 0; lane < count; ++lane) {
                const double* const f = factors[lane].data();
                float* const out = squared_factors + first + lane;
                for (std::int64_t j = begin; j < end; ++j)
                    out[j * n_labels] = static_cast<float>(f[j] * f[j]);
            }
        }
    };
    run_each((n_labels + kLanes - 1) / kLanes, n_threads, make_block, poll);
}

}  // namespace widemargin
