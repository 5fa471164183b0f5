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

// A cut between two values of a column: the gain, and the weight of the low side.
struct Cut {
    double gain = -1;
    double low = 0;
    double below = 0, above = 0;  // the values beside the cut
};

// Takes the values of a column in rising order, and finds its best cut.
class CutSearch {
  public:
    // least: the smallest weight on either side
    CutSearch(const SplitGain& gain, double least) : gain_(gain), least_(least) {}

    void add(double value, double weight, bool positive) {
        if (value != value_) open(value);
        group_.n += weight;
        if (positive) group_.positive += weight;
    }

    void add(double value, const Mass& mass) {
        if (value != value_) open(value);
        group_ = group_ + mass;
    }

    // The best cut, after the penalty if it is wanted.
    Cut best(bool penalty) {
        close();
        if (pending_) evaluate(last_);
        if (penalty && best_.gain > 0) best_.gain -= gain_.penalty(n_groups_ - 1);
        return best_;
    }

  private:
    enum class Kind { negative, positive, mixed };
    struct Place {
        Mass low;
        double below, above;
    };

    void open(double value) {
        close();
        group_ = {};
        value_ = value;
    }

    // Ends a group of examples with the same value: looks at the cut before it.
    void close() {
        if (group_.n == 0) return;
        const Kind kind = group_.positive == 0          ? Kind::negative
                          : group_.positive == group_.n ? Kind::positive
                                                        : Kind::mixed;
        if (n_groups_++ > 0) {
            if (low_.n >= least_ && gain_.all().n - low_.n >= least_) {
                last_ = {low_, below_, value_};
                pending_ = any_ && kind == kind_ && kind != Kind::mixed;
                if (!pending_) evaluate(last_);
                any_ = true;
            } else if (pending_) {  // the last cut that leaves enough on the high side
                evaluate(last_);
                pending_ = false;
            }
        }
        low_ = low_ + group_;
        below_ = value_;
        kind_ = kind;
    }

    void evaluate(const Place& place) {
        const double gain = gain_.gain(place.low);
        if (gain > best_.gain + kSameGain) best_ = {gain, place.low.n, place.below, place.above};
    }

    const SplitGain& gain_;
    double least_;
    Mass group_, low_;
    double value_ = std::nan(""), below_ = 0;
    Kind kind_ = Kind::mixed;
    std::int64_t n_groups_ = 0;
    Place last_{};
    bool pending_ = false, any_ = false;
    Cut best_;
};

}  // namespace widemargin
