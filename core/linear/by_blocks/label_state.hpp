// One label of a task that is solved by blocks of rows: what it does in the present pass over all rows, and
// its steps on the rows of one visit. What is solved, and how, stands in linear/by_blocks/block_descent.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "linear/by_blocks/coded_alphas.hpp"
#include "linear/by_blocks/row_batch.hpp"
#include "linear/descent_limits.hpp"
#include "linear/label_costs.hpp"
#include "linear/linear_svm_dual.hpp"
#include "linear/threshold.hpp"
#include "random.hpp"
#include "simd/loops.hpp"

namespace widemargin {

// together: shared passes in single precision. alone: passes of its own in double precision. gathering: the
// weights of the alphas are added up again, free of rounding. deciding: the gap over all rows.
enum class Phase { together, alone, gathering, deciding, done };

// The rows of one visit as a label sees them.
template <typename T>
struct VisitedRows {
    const RowBatch<T>* rows;
    const std::uint16_t* positive;  // lanes in which the k-th row is positive
    std::int64_t number;            // of the visit in its pass
};

// A row whose alpha is between its bounds, for a step that closes the gap between S and v.
struct FreeRow {
    std::int64_t block;
    std::int32_t row;
    double sign, upper, alpha;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
};

class LabelByBlocks {
  public:
    LabelByBlocks(int lane, double cost_positive, double cost_negative, const LinearSvmOptions& options)
        : lane(lane), positive_(cost_positive), negative_(cost_negative), options_(options) {
        target = kEstimateExcess * options.tol;
    }

    template <typename T>
    double sign(const VisitedRows<T>& seen, std::int64_t k) const {
        return seen.positive[k] >> lane & 1 ? 1.0 : -1.0;
    }
    template <typename T>
    double cost(const VisitedRows<T>& seen, std::int64_t k) const {
        const double c = seen.positive[k] >> lane & 1 ? positive_ : negative_;
        return seen.rows->weights.empty() ? c : c * seen.rows->weights[k];
    }
    // How far alpha may rise; 0 for an example that takes no part.
    template <typename T>
    double upper(const VisitedRows<T>& seen, std::int64_t k) const {
        const double c = cost(seen, k);
        return options_.squared_loss && c > 0 ? std::numeric_limits<double>::infinity() : c;
    }
    double cost_of(bool is_positive) const { return is_positive ? positive_ : negative_; }
    double diagonal(double cost) const { return options_.squared_loss && cost > 0 ? 0.5 / cost : 0.0; }
    double smallest_diagonal() const { return diagonal(std::max(positive_, negative_)); }

    // A pass over all rows begins. n_free: its alphas between their bounds in every block, if it gathers.
    void begin_pass(std::int64_t n_columns, const std::vector<std::int64_t>& n_free) {
        slacks = alpha_sum = 0;
        pg_max = -std::numeric_limits<double>::infinity();
        pg_min = -pg_max;
        visited_active = 0;
        if (phase != Phase::gathering) return;
        w.assign(n_columns + 1, 0.0);
        free_rows.clear();
        first_free_.assign(1, 0);
        for (const std::int64_t count : n_free) first_free_.push_back(first_free_.back() + count);
    }

    // Adds the supporting rows of a visit to the weights. alpha: rows x 16, clipped to the bounds.
    template <typename T>
    void gather(const VisitedRows<T>& seen, double* alpha) {
        const RowBatch<T>& rows = *seen.rows;
        const std::int64_t bias_column = bias_place(), all_free = first_free_.back();
        const std::int64_t wanted = std::min<std::int64_t>(all_free, kMostFreeRows);
        auto block = rows.blocks.begin();
        std::int64_t free_number = 0;
        for (std::int64_t k = 0; k < rows.size(); ++k) {
            while (block != rows.blocks.end() && k >= block->begin) free_number = first_free_[block++->block];
            double& a = alpha[k * kLanes + lane];
            if (a == 0) continue;
            const double y = sign(seen, k), u = upper(seen, k), dd = diagonal(cost(seen, k));
            // Every free row has a number, whatever the order of the blocks: an even choice of them is kept.
            const bool free = a < u;
            a = std::min(a, u);
            if (a == 0) continue;
            rows.row(k).axpy(a * y, w.data());
            w[bias_column] += a * y * options_.bias;
            alpha_sum += a - 0.5 * dd * a * a;
            if (!free) continue;
            const std::int64_t number = free_number++;
            if (number * wanted / all_free == (number + 1) * wanted / all_free) continue;
            const Row<T> row = rows.row(k);
            free_rows.push_back({std::prev(block)->block,
                                 rows.which[k],
                                 y,
                                 u,
                                 a,
                                 {row.indices, row.indices + row.size},
                                 {row.values, row.values + row.size}});
        }
    }

    // Moves the alphas of a visit that are active, by `active` (rows, one bit per lane). Rows that shrink are
    // added to `shrunk`.
    template <typename T>
    void descend(const VisitedRows<T>& seen, const std::uint16_t* active, double* alpha,
                 std::vector<std::int32_t>& shrunk) {
        const RowBatch<T>& rows = *seen.rows;
        const std::int64_t d = bias_place();
        std::vector<std::int32_t> order;
        for (std::int64_t k = 0; k < rows.size(); ++k) {
            if (active[k] >> lane & 1) order.push_back(static_cast<std::int32_t>(k));
        }
        Random random(options_.seed + 0xd6e8feb86659fd93ULL * static_cast<std::uint64_t>(passes + 1) +
                      0xbf58476d1ce4e5b9ULL * static_cast<std::uint64_t>(seen.number));
        random.shuffle(order);
        const double bias = options_.bias, theta = rate.theta(), more = theta * bias * bias;
        double* const weights = w.data();
        for (std::size_t o = 0; o < order.size(); ++o) {
            const std::int32_t k = order[o];
            if (o + 1 < order.size()) rows.row(order[o + 1]).prefetch();
            const Row<T> row = rows.row(k);
            const double y = sign(seen, k), c = cost(seen, k), u = upper(seen, k), dd = diagonal(c);
            double& a = alpha[std::int64_t(k) * kLanes + lane];
            if (u <= 0) {
                shrunk.push_back(k);
                continue;
            }
            const double own = y * row.dot(weights), margin = own + y * bias * weights[d];
            const double g = margin - 1 + dd * a;
            slacks += slack_of(margin - 1, a, c, options_.squared_loss);
            double pg = g;
            if (a <= 0) {
                if (g > shrink_above) {
                    shrunk.push_back(k);
                    continue;
                }
                pg = std::min(g, 0.0);
            } else if (a >= u) {
                if (g < shrink_below) {
                    shrunk.push_back(k);
                    continue;
                }
                pg = std::max(g, 0.0);
            }
            ++visited_active;
            pg_max = std::max(pg_max, pg);
            pg_min = std::min(pg_min, pg);
            if (pg == 0) continue;
            const double norm = rows.squared_norms[k], q = norm + dd + more;
            const double moved = q > 0 ? std::min(std::max(a - kRelaxation * g / q, 0.0), u) : u;
            const double delta = moved - a;
            if (delta == 0) continue;
            dual -= delta * (own - 1 + dd * a + 0.5 * (norm + dd) * delta);
            squared_weights += delta * (2 * own + norm * delta);
            a = moved;
            row.axpy(delta * y, weights);
            sum += delta * y * bias;
            weights[d] += theta * delta * y * bias;
        }
    }

    // One row of a deciding pass, from its score. Returns whether the row is active from now on.
    template <typename T>
    bool decide(const VisitedRows<T>& seen, std::int64_t k, double score, double a) {
        const double u = upper(seen, k), c = cost(seen, k);
        if (u <= 0) return false;
        const double margin = sign(seen, k) * (score + options_.bias * w.back()), dd = diagonal(c);
        const double g = margin - 1 + dd * a;
        slacks += slack_of(margin - 1, a, c, options_.squared_loss);
        if (a > 0) alpha_sum += a - 0.5 * dd * a * a;
        const bool idle = (a <= 0 && g > shrink_above) || (a >= u && g < shrink_below);
        visited_active += !idle;
        return !idle;
    }

    // After a pass of its own: whether the estimate calls for a deciding pass.
    bool end_alone() {
        ++passes;
        const double bias_weight = w.back(), apart = sum - bias_weight;
        slacks += 0.5 * apart * apart;
        w.back() = rate.next(bias_weight, sum, slacks);
        if (visited_active == 0) return true;
        shrink_above = pg_max > 0 ? pg_max : std::numeric_limits<double>::infinity();
        shrink_below = pg_min < 0 ? pg_min : -std::numeric_limits<double>::infinity();
        const double d_value = dual - 0.5 * sum * sum, primal = d_value + slacks;
        return slacks <= 0 || slacks / primal <= target || passes >= options_.max_passes;
    }

    // After gathering: S, the norm of the weights and D of the alphas.
    void end_gathering(double bias_weight) {
        sum = w.back();
        // Of alphas that were given, only S is known.
        if (rate.theta() < 1 && !std::isnan(bias_weight)) w.back() = bias_weight;
        squared_weights = squares(w.size() - 1);
        dual = alpha_sum - 0.5 * squared_weights;
    }

    // After a deciding pass: the gap, and whether the label is finished.
    bool end_deciding() {
        const double d_value = alpha_sum - 0.5 * squares(w.size());
        gap = std::max(slacks, 0.0);
        objective = d_value + slacks;
        converged = slacks <= 0 || slacks / objective <= options_.tol;
        squared_weights = squares(w.size() - 1);
        dual = alpha_sum - 0.5 * squared_weights;
        if (!converged) target *= kMoreCareful;  // the estimate was too hopeful
        return converged || passes >= options_.max_passes || visited_active == 0;
    }

    static constexpr std::int64_t kMostFreeRows = 64;

    int lane;
    Phase phase = Phase::together, after_gathering = Phase::deciding;
    bool is_warm = false;   // started from alphas, and not yet decided
    std::vector<double> w;  // renumbered columns, then the bias weight v
    double sum = 0;         // S of linear/threshold.hpp
    ThresholdRate rate;
    double shrink_above = std::numeric_limits<double>::infinity();
    double shrink_below = -std::numeric_limits<double>::infinity();
    double target;
    double smallest = std::numeric_limits<double>::infinity();  // gap of the shared passes so far
    std::int64_t smallest_at = 0, passes = 0;
    double dual = 0, squared_weights = 0;  // without the bias feature
    double objective = 0, gap = 0;
    bool converged = false;
    // Sums over the rows of the present pass.
    double slacks = 0, alpha_sum = 0, pg_max = 0, pg_min = 0;
    std::int64_t visited_active = 0;
    std::vector<FreeRow> free_rows;

  private:
    std::int64_t bias_place() const { return static_cast<std::int64_t>(w.size()) - 1; }
    double squares(std::size_t n) const {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += w[j] * w[j];
        return sum;
    }

    double positive_, negative_;
    LinearSvmOptions options_;
    std::vector<std::int64_t> first_free_;
};

}  // namespace widemargin
