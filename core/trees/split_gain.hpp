// The information that a split gains, in bits (Quinlan, C4.5, 1993, chapter 2), and the best cut of a column.
//
// A node holds examples of weight n, p of it positive, so its information is
//
//   info(n, p) = -p/n log2 p/n - (n-p)/n log2 (n-p)/n.
//
// A split into a low side (a, b) and a high side (n-a, p-b), of weight and of positive weight, has
//
//   gain = info(n, p) - a/n info(a, b) - (n-a)/n info(n-a, p-b)
//   ratio = gain / (-a/n log2 a/n - (n-a)/n log2 (n-a)/n).
//
// The best cut of a column is the one of greatest gain. It lies between values of different classes, or is
// the first or the last one that leaves enough weight on both sides: along values of one class the gain is
// strictly convex (Fayyad and Irani, 1992). So a cut between two values that only examples of the same class
// have is skipped. The choice among d - 1 cuts of a column with d distinct values costs log2(d - 1) / n bits
// (Quinlan, Improved use of continuous attributes in C4.5, 1996), which `penalty` subtracts from its gain.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace widemargin {

// Gains and ratios that differ by less are equal: what rounding makes of them must not decide.
constexpr double kSameGain = 1e-12;
// A split must gain more than this many bits.
constexpr double kLeastGain = 1e-10;

// The weight of some examples, and of the positive ones among them.
struct Mass {
    double n = 0, positive = 0;

    bool is_pure() const { return positive == 0 || positive == n; }
    Mass operator+(const Mass& other) const { return {n + other.n, positive + other.positive}; }
    Mass operator-(const Mass& other) const { return {n - other.n, positive - other.positive}; }
};

// x log2 x, from a table where all weights are whole numbers.
class XLog2X {
  public:
    static constexpr double kLargestTable = 1 << 20;

    XLog2X() = default;
    // For whole numbers up to `largest`; larger ones are computed.
    explicit XLog2X(double largest) {
        if (largest > kLargestTable) return;
        table_.resize(std::size_t(largest) + 1);
        for (std::size_t x = 0; x < table_.size(); ++x) table_[x] = computed(double(x));
    }

    double operator()(double x) const { return table_.empty() ? computed(x) : table_[std::size_t(x)]; }

  private:
    static double computed(double x) { return x > 0 ? x * std::log2(x) : 0; }

    std::vector<double> table_;
};

// The gains of splits of one node.
class SplitGain {
  public:
    SplitGain(const Mass& all, const XLog2X& f)
        : all_(all), f_(f), f_all_(f(all.n)), before_(information(all, f_all_)) {}

    const Mass& all() const { return all_; }

    double gain(const Mass& side) const {
        const Mass other = all_ - side;
        return (before_ - information(side, f_(side.n)) - information(other, f_(other.n))) / all_.n;
    }

    // The information of the split itself, for a side of weight n.
    double of_split(double n) const { return (f_all_ - f_(n) - f_(all_.n - n)) / all_.n; }

    // The cost of choosing one of so many cuts.
    double penalty(std::int64_t n_cuts) const { return std::log2(double(n_cuts)) / all_.n; }

  private:
    // n times the information, in bits.
    double information(const Mass& part, double f_n) const {
        return f_n - f_(part.positive) - f_(part.n - part.positive);
    }

    Mass all_;
    const XLog2X& f_;
    double f_all_, before_;
};

// The least weight on both sides of a cut of a numeric column, in a node of weight n: a tenth of the average
// class, but at least min_objects and at most 25, since a few examples can be cut off the end of any order
// (release 8).
inline double least_of_cut(double n, double min_objects) {
    return std::max(min_objects, std::min(n / 20, 25.0));
}

// A cut between two values of a column: the gain, and the weight of the low side.
struct Cut {
    double gain = -1;
    double low = 0;
    double below = 0, above = 0;  // the values beside the cut
};

// The best cut of a column. each_value(take) calls take(value, weight, is_positive) for its values other than
// zero in rising order; `zeros` are the examples without one. `least` is the smallest weight on either side.
template <class EachValue>
Cut search_cut(const SplitGain& gain, const Mass& zeros, double least, bool penalty, EachValue&& each_value) {
    enum class Kind { negative, positive, mixed };
    const double all = gain.all().n;
    Cut best;
    Mass group, low;  // the examples with the value at hand, and those with a lower one
    double value = std::nan(""), below = 0;
    Kind last_kind = Kind::mixed;
    std::int64_t n_groups = 0;
    // The last cut that may be the last one that leaves enough, which is not evaluated yet.
    bool is_pending = false, any = false;
    Mass pending;
    double pending_below = 0, pending_above = 0;
    const auto evaluate = [&best, &gain](const Mass& side, double under, double over) {
        const double found = gain.gain(side);
        if (found > best.gain + kSameGain) best = {found, side.n, under, over};
    };
    // Ends a group of examples with the same value: looks at the cut before it. Everything stays in
    // registers.
    const auto close = [&]() __attribute__((always_inline)) {
        if (group.n == 0) return;
        const Kind kind = group.positive == 0         ? Kind::negative
                          : group.positive == group.n ? Kind::positive
                                                      : Kind::mixed;
        if (n_groups++ > 0) {
            if (low.n >= least && all - low.n >= least) {
                is_pending = any && kind == last_kind && kind != Kind::mixed;
                if (is_pending) {
                    pending = low;
                    pending_below = below;
                    pending_above = value;
                } else {
                    evaluate(low, below, value);
                }
                any = true;
            } else if (is_pending) {
                evaluate(pending, pending_below, pending_above);
                is_pending = false;
            }
        }
        low = low + group;
        below = value;
        last_kind = kind;
    };
    const auto add = [&](double next, const Mass& mass) __attribute__((always_inline)) {
        if (next != value) {
            close();
            group = {};
            value = next;
        }
        group = group + mass;
    };
    bool is_before_zero = true;
    each_value([&](double next, double weight, bool is_positive) __attribute__((always_inline)) {
        if (is_before_zero && next > 0) {
            is_before_zero = false;
            if (zeros.n > 0) add(0.0, zeros);
        }
        add(next, {weight, is_positive ? weight : 0});
    });
    if (is_before_zero && zeros.n > 0) add(0.0, zeros);
    close();
    if (is_pending) evaluate(pending, pending_below, pending_above);
    if (penalty && best.gain > 0) best.gain -= gain.penalty(n_groups - 1);
    return best;
}

}  // namespace widemargin
