// The alphas of up to 16 labels for some rows, two bits each: 0, the upper bound, or a value between, which
// is kept beside them. Values between are few: only examples on the margin have them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simd/loops.hpp"

namespace widemargin {

enum AlphaCode : std::uint32_t { kAtZero = 0, kAtUpper = 1, kBetween = 2 };

inline AlphaCode code_of(double alpha, double upper) {
    return alpha <= 0 ? kAtZero : (alpha >= upper ? kAtUpper : kBetween);
}

class CodedAlphas {
  public:
    explicit CodedAlphas(std::int64_t n_rows) : codes_(n_rows, 0) {}

    // The codes of the 16 labels of a row, the first label in the lowest two bits.
    std::uint32_t codes(std::int64_t row) const { return codes_[row]; }
    std::uint32_t code(std::int64_t row, int lane) const { return codes_[row] >> (2 * lane) & 3; }

    // The alphas of the rows `which`, in ascending order, as rows x 16. upper(k, lane) is the bound of the
    // k-th of them.
    template <class Upper>
    void decode(const std::int32_t* which, std::int64_t n, Upper&& upper, double* alpha) const {
        std::size_t next = 0;
        std::int64_t row = 0;
        for (std::int64_t k = 0; k < n; ++k, ++row, alpha += kLanes) {
            for (; row < which[k]; ++row) next += count_between(codes_[row]);
            const std::uint32_t codes = codes_[row];
            for (int lane = 0; lane < kLanes; ++lane) {
                const std::uint32_t code = codes >> (2 * lane) & 3;
                alpha[lane] = code == kAtZero ? 0.0 : (code == kAtUpper ? upper(k, lane) : between_[next++]);
            }
        }
    }

    // The inverse of `decode`; other rows keep their alphas.
    template <class Upper>
    void encode(const std::int32_t* which, std::int64_t n, Upper&& upper, const double* alpha) {
        std::vector<double> between;
        between.reserve(between_.size());
        std::size_t next = 0;
        std::int64_t row = 0;
        const auto keep_until = [&](std::int64_t end) {
            const std::size_t first = next;
            for (; row < end; ++row) next += count_between(codes_[row]);
            between.insert(between.end(), between_.begin() + first, between_.begin() + next);
        };
        for (std::int64_t k = 0; k < n; ++k, ++row, alpha += kLanes) {
            keep_until(which[k]);
            next += count_between(codes_[row]);
            std::uint32_t codes = 0;
            for (int lane = 0; lane < kLanes; ++lane) {
                if (alpha[lane] <= 0) continue;
                const AlphaCode code = code_of(alpha[lane], upper(k, lane));
                if (code == kBetween) between.push_back(alpha[lane]);
                codes |= std::uint32_t(code) << (2 * lane);
            }
            codes_[row] = codes;
        }
        keep_until(static_cast<std::int64_t>(codes_.size()));
        between.shrink_to_fit();
        between_ = std::move(between);
    }

    // Sets one alpha.
    void set(std::int64_t row, int lane, AlphaCode code, double value) {
        std::size_t place = 0;
        for (std::int64_t r = 0; r < row; ++r) place += count_between(codes_[r]);
        place += count_between(codes_[row] & ((std::uint32_t(1) << (2 * lane)) - 1));
        const bool was = this->code(row, lane) == kBetween, is = code == kBetween;
        if (was && is) between_[place] = value;
        if (was && !is) between_.erase(between_.begin() + place);
        if (!was && is) between_.insert(between_.begin() + place, value);
        codes_[row] = (codes_[row] & ~(std::uint32_t(3) << (2 * lane))) | std::uint32_t(code) << (2 * lane);
    }

    // Calls visit(row, code, value) for every row, for one label.
    template <class Visit>
    void each(int lane, Visit&& visit) const {
        std::size_t next = 0;
        const std::uint32_t before = (std::uint32_t(1) << (2 * lane)) - 1;
        for (std::size_t row = 0; row < codes_.size(); ++row) {
            const std::uint32_t codes = codes_[row], code = codes >> (2 * lane) & 3;
            if (codes == 0) {
                visit(row, code, 0.0);
                continue;
            }
            const double value = code == kBetween ? between_[next + count_between(codes & before)] : 0.0;
            visit(row, code, value);
            next += count_between(codes);
        }
    }

    // Replaces the alphas of one label: read(row, &value) returns the code of a row.
    template <class Read>
    void replace(int lane, Read&& read) {
        std::vector<double> between;
        std::size_t next = 0;
        for (std::size_t row = 0; row < codes_.size(); ++row) {
            std::uint32_t codes = 0;
            for (int other = 0; other < kLanes; ++other) {
                std::uint32_t code = codes_[row] >> (2 * other) & 3;
                double value = code == kBetween ? between_[next++] : 0.0;
                if (other == lane) code = read(row, &value);
                if (code == kBetween) between.push_back(value);
                codes |= code << (2 * other);
            }
            codes_[row] = codes;
        }
        between_ = std::move(between);
    }

    // Of one label.
    std::int64_t count_between_of(int lane) const {
        std::int64_t count = 0;
        for (const std::uint32_t codes : codes_) count += (codes >> (2 * lane) & 3) == kBetween;
        return count;
    }

  private:
    static int count_between(std::uint32_t codes) { return __builtin_popcount(codes >> 1 & 0x55555555u); }

    std::vector<std::uint32_t> codes_;
    std::vector<double> between_;
};

}  // namespace widemargin
