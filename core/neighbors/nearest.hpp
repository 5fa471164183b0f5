// The nearest documents of a document by the cosine, exactly (joachims 2.5.3).
//
// Problem: of the rows z_i of an index, those with the k largest cosines x.z_i > 0, where of equal cosines
// the earlier row comes first. With weights c_i, row i counts c_i times, and the last one only in part.
// Definition of a cosine: the sum of the products of 32-bit values, in 64 bits, in the order of the columns.
// The products are exact, so it is the same number on every machine, and equal rows have equal cosines.
//
// Method: add up the rare columns for all rows. The rows with the largest sums get their cosines, whose
// k-th largest bounds what is worth looking at. Then either the next group of columns is added up, or, where
// that is cheaper, all rows get their cosines whose sum plus the bound of the remaining groups reaches the
// k-th largest. Sums are of 32 bits; the bound includes their rounding. Rows are visited in blocks, so that
// sums stay in the cache and a later block starts with a bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "neighbors/cosine_index.hpp"

namespace widemargin {

struct Neighbor {
    double cosine;
    std::int32_t row;
    double count;  // how often it counts

    bool operator<(const Neighbor& other) const {
        return cosine > other.cosine || (cosine == other.cosine && row < other.row);
    }
};

// The workspace of one thread.
class NearestSearch {
  public:
    NearestSearch(const CosineIndex& index, double k)
        : index_(index), k_(k), query_(index.rows().n_columns, 0.0f), sums_(kBlock + kStep) {}

    // The neighbors of a row of length 1, nearest first; `left_out` is a row to leave out, or -1.
    const std::vector<Neighbor>& find(const Row<float>& x, std::int64_t left_out) {
        found_.clear();
        counted_ = 0;
        open(x);
        const std::int64_t n = index_.rows().n_rows;
        for (first_ = 0; first_ < n; first_ += kBlock) {
            size_ = std::min(kBlock, n - first_);
            search_block(left_out);
        }
        for (std::int64_t j = 0; j < x.size; ++j) query_[x.indices[j]] = 0.0f;
        std::sort(found_.begin(), found_.end());
        double left = k_;
        for (Neighbor& each : found_) {
            each.count = std::min(each.count, left);
            left -= each.count;
        }
        while (!found_.empty() && found_.back().count <= 0) found_.pop_back();
        return found_;
    }

  private:
    struct Term {
        const Posting *begin, *end;  // of all rows, or what is left of them
        const Posting* here;         // the end of those in the current block
        float value;
    };

    static constexpr std::int64_t kBlock = 32768;
    static constexpr std::int64_t kStep = CosineIndex::kStep;
    static constexpr std::size_t kAhead = 4;  // rows that are prefetched
    static constexpr float kDone = -1e30f;    // the sum of a row that needs no further look

    void open(const Row<float>& x) {
        for (int g = 0; g < kGroups; ++g) {
            terms_[g].clear();
            lengths_[g] = postings_[g] = 0;
        }
        for (std::int64_t j = 0; j < x.size; ++j) {
            const std::int32_t column = x.indices[j];
            const float value = x.values[j];
            query_[column] = value;
            const Posting *begin = index_.begin(column), *end = index_.end(column);
            prefetch(begin);
            if (value == 0 || begin == end) continue;
            const int g = index_.group(column);
            terms_[g].push_back({begin, end, begin, value});
            lengths_[g] += double(value) * double(value);
            postings_[g] += double(end - begin);
        }
        for (double& length : lengths_) length = std::sqrt(length) * (1 + 1e-6);
        // So many products and sums of 32 bits, all sizes together at most 1; several times what it takes.
        rounding_ = 2.4e-7 * double(x.size + 2 * kGroups);
    }

    static void prefetch([[maybe_unused]] const Posting* posting) {
#if defined(__GNUC__)
        __builtin_prefetch(posting);
#endif
    }

    void search_block(std::int64_t left_out) {
        std::fill(sums_.begin(), sums_.begin() + size_, 0.0f);
        std::fill(sums_.begin() + size_, sums_.begin() + size_ + kStep, kDone);
        if (left_out >= first_ && left_out < first_ + size_) sums_[left_out - first_] = kDone;
        int next = 0;
        do {
            add_group(next++);
            if (!is_full()) take_largest();
        } while (!is_full() && next < kGroups);
        if (!is_full()) return take_all();
        const double share = double(size_) / double(index_.rows().n_rows);
        const auto worth = [&] { return share * postings_[next] / index_.exact_cost(); };
        while (next < kGroups && !find_near(next, worth())) add_group(next++);
        if (next == kGroups) find_near(next, double(size_));
        take_near();
    }

    // Whether as many as wanted are found: what is farther than the farthest of them does not matter.
    bool is_full() const { return counted_ >= k_; }

    void add_group(int g) {
        const std::int64_t end = first_ + size_;
        const auto before = [](const Posting& posting, std::int64_t row) { return posting.row < row; };
        for (Term& term : terms_[g]) {
            // Postings of earlier blocks may not have been read.
            if (first_ > 0) term.begin = std::lower_bound(term.here, term.end, first_, before);
            const bool last = end == index_.rows().n_rows;
            term.here = last ? term.end : std::lower_bound(term.begin, term.end, end, before);
            float* const sums = sums_.data();
            const std::int64_t first = first_;
            const float value = term.value;
            for (const Posting *p = term.begin, *here = term.here; p < here; ++p)
                sums[p->row - first] += value * p->value;
        }
    }

    // Cosines of about k rows with the largest sums, if these are positive.
    void take_largest() {
        const auto wanted = static_cast<std::size_t>(std::ceil(std::min(k_, double(size_))));
        steps_.clear();
        for (std::int64_t begin = 0; begin < size_; begin += kStep) {
            float most = kDone;
            for (std::int64_t i = 0; i < kStep; ++i) most = std::max(most, sums_[begin + i]);
            steps_.push_back(most);
        }
        // If there are enough steps, the largest of k of them are k rows with large sums.
        if (steps_.size() >= 2 * wanted) {
            largest_ = steps_;
        } else {
            largest_.assign(sums_.begin(), sums_.begin() + size_);
        }
        float least = std::numeric_limits<float>::min();
        if (wanted <= largest_.size()) {
            std::nth_element(largest_.begin(), largest_.begin() + (wanted - 1), largest_.end(),
                             std::greater<>());
            least = std::max(least, largest_[wanted - 1]);
        }
        near_.clear();
        for (std::size_t step = 0; step < steps_.size(); ++step) {
            if (steps_[step] < least) continue;
            for (std::int64_t i = step * kStep; i < std::int64_t(step + 1) * kStep; ++i)
                if (sums_[i] >= least) near_.push_back({std::int32_t(i), sums_[i]});
        }
        take_near();
    }

    // Cosines of all rows with a shared column, whose product may be too small for 32 bits.
    void take_all() {
        for (const std::vector<Term>& terms : terms_) {
            for (const Term& term : terms) {
                for (const Posting* p = term.begin; p < term.here; ++p)
                    if (sums_[p->row - first_] != kDone) take(p->row - first_);
            }
        }
    }

    // Finds the rows that may be nearer than the farthest one found, if the groups from `next` on are
    // bounded; false if these are more than `most`.
    bool find_near(int next, double most) {
        static_assert(kGroups == 3, "the bound below adds up two groups");
        float length[kGroups] = {};
        for (int g = next; g < kGroups; ++g) length[g] = static_cast<float>(lengths_[g]);
        const float *of1 = index_.lengths(1) + first_, *of2 = index_.lengths(2) + first_,
                    *sums = sums_.data();
        const float least = this->least();
        near_.clear();
        for (std::int64_t begin = 0; begin < size_; begin += kStep) {
            float bounds[kStep], largest = kDone;
            for (std::int64_t i = 0; i < kStep; ++i) {
                const std::int64_t at = begin + i;
                bounds[i] = sums[at] + length[1] * of1[at] + length[2] * of2[at];
            }
            for (const float bound : bounds) largest = std::max(largest, bound);
            if (largest < least) continue;
            for (std::int64_t i = 0; i < kStep; ++i)
                if (bounds[i] >= least) near_.push_back({std::int32_t(begin + i), bounds[i]});
            if (double(near_.size()) > most) return false;
        }
        return true;
    }

    // What the bound of a cosine must reach.
    float least() const { return static_cast<float>(found_.front().cosine - rounding_); }

    void take_near() {
        for (std::size_t p = 0; p < near_.size(); ++p) {
            if (p + kAhead < near_.size()) index_.rows().row(first_ + near_[p + kAhead].row).prefetch();
            if (!is_full() || near_[p].value >= least()) take(near_[p].row);
        }
    }

    // Compares row i of the block with those found.
    void take(std::int64_t i) {
        sums_[i] = kDone;
        const Row<float> row = index_.rows().row(first_ + i);
        double cosine = 0;
        for (std::int64_t k = 0; k < row.size; ++k)
            cosine += double(query_[row.indices[k]]) * double(row.values[k]);
        const Neighbor one{cosine, static_cast<std::int32_t>(first_ + i), index_.weight(first_ + i)};
        if (!(cosine > 0) || one.count == 0 || (is_full() && !(one < found_.front()))) return;
        found_.push_back(one);  // a heap with the farthest one in front
        std::push_heap(found_.begin(), found_.end());
        counted_ += one.count;
        while (counted_ - found_.front().count >= k_) {
            counted_ -= found_.front().count;
            std::pop_heap(found_.begin(), found_.end());
            found_.pop_back();
        }
    }

    const CosineIndex& index_;
    double k_;
    std::vector<float> query_;  // one number per column, 0 between searches
    std::vector<float> sums_, steps_, largest_;
    std::vector<Posting> near_;  // rows of the block to compare, and bounds of their cosines
    std::vector<Term> terms_[kGroups];
    double lengths_[kGroups], postings_[kGroups];  // of the query: lengths, and postings to read
    double rounding_ = 0, counted_ = 0;
    std::vector<Neighbor> found_;
    std::int64_t first_ = 0, size_ = 0;  // the current block
};

}  // namespace widemargin
