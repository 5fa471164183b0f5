// The n-grams of all threads merged into one sorted list of terms, which does not depend on the threads.
//
// For each length, the pairs (prefix, unit) of every thread are renumbered with numbers that all threads
// share, sorted and merged. Units are numbered in the order of their strings, so pairs sort as strings do.
// The order of all terms is that of a depth-first walk through the tree of prefixes: a prefix first, then its
// continuations. The pairs of a word ("w1 ... w2") are among the continuations of the first word, at the
// place of the mark between the words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "text/ngrams.hpp"
#include "text/terms/association.hpp"
#include "text/terms/merged_keys.hpp"
#include "text/unicode.hpp"
#include "text/vocabulary.hpp"

namespace widemargin {

class NgramTerms {
  public:
    explicit NgramTerms(const NgramRule& rule)
        : max_n_(rule.max_n), pairs_(rule.pairs), levels_(max_n_ + 1) {}

    // The units are sorted strings, joined by a space. ranks[t][number] is the position in `units` of the
    // unit that thread t's counter numbers `number`.
    void set_words(Strings units, std::vector<std::vector<uint32_t>> ranks) {
        units_ = std::move(units);
        ranks_ = std::move(ranks);
        n_units_ = static_cast<uint32_t>(units_.size());
    }
    // The units are characters below n_characters, by code point.
    void set_characters(size_t n_threads, uint32_t n_characters) {
        ranks_.resize(n_threads);
        n_units_ = n_characters;
    }

    // Merges the counters' n-grams and empties their tables. `run(task)` runs task(thread, stop) on as many
    // threads as there are counters.
    template <class Run>
    void merge(std::vector<NgramCounter>& counters, bool totals, Run&& run) {
        unit_bits_ = 1;
        while (n_units_ >> unit_bits_) ++unit_bits_;
        Level& first = levels_[1];
        first.document_frequency.resize(n_units_);
        if (totals) first.total.resize(n_units_);
        for (size_t t = 0; t < counters.size(); ++t) {
            const NgramCounter::Frequencies& units = counters[t].units();
            const size_t n =
                std::min(units.documents.size(), ranks_[t].empty() ? n_units_ : ranks_[t].size());
            for (uint32_t u = 0; u < n; ++u) {
                if (units.documents[u] == 0) continue;
                first.document_frequency[rank(t, u)] += units.documents[u];
                if (totals) first.total[rank(t, u)] += units.total[u];
            }
        }
        places_.resize(counters.size());
        lengths_.resize(counters.size());
        for (size_t t = 0; t < counters.size(); ++t) {
            counters[t].complete();
            places_[t].resize(counters[t].n_longer());
            lengths_[t].resize(counters[t].n_longer());
        }
        for (int n = 2; n <= max_n_; ++n) merge_level(n, counters, totals, run);
        if (pairs_.reach) merge_level(kPairs, counters, totals, run);
        number_terms();
    }

    int64_t n_terms() const { return n_terms_; }
    size_t n_threads() const { return places_.size(); }
    bool has_totals() const { return !levels_[1].total.empty(); }

    // By column: the number of documents in which each term occurs, and its total count.
    void document_frequencies(int32_t* out) const {
        for (const Level& level : levels_)
            for (size_t i = 0; i < level.column.size(); ++i)
                if (level.column[i] >= 0)
                    out[level.column[i]] = static_cast<int32_t>(level.document_frequency[i]);
    }

    void totals(int64_t* out) const {
        for (const Level& level : levels_)
            for (size_t i = 0; i < level.column.size(); ++i)
                if (level.column[i] >= 0) out[level.column[i]] = static_cast<int64_t>(level.total[i]);
    }

    // By column: how strongly the last word of an n-gram is associated with those before it, over all n-grams
    // of that length; infinite for words and for pairs.
    void associations(double* out) const {
        std::fill_n(out, n_terms_, std::numeric_limits<double>::infinity());
        for (int n = 2; n <= max_n_; ++n) {
            const Level& level = levels_[n];
            std::vector<double> beginnings(levels_[n - 1].document_frequency.size()), endings(n_units_);
            double all = 0;
            for (size_t i = 0; i < level.keys.size(); ++i) {
                if (level.column[i] < 0) continue;
                const auto total = static_cast<double>(level.total[i]);
                beginnings[prefix_of(level, i)] += total;
                endings[unit_of(level, i)] += total;
                all += total;
            }
            for (size_t i = 0; i < level.keys.size(); ++i)
                if (level.column[i] >= 0)
                    out[level.column[i]] = log_likelihood_ratio(static_cast<double>(level.total[i]),
                                                                beginnings[prefix_of(level, i)],
                                                                endings[unit_of(level, i)], all);
        }
    }

    // By column: 1 for pairs, 0 for n-grams.
    void mark_pairs(uint8_t* out) const {
        std::fill_n(out, n_terms_, uint8_t{0});
        for (const int32_t column : levels_[kPairs].column)
            if (column >= 0) out[column] = 1;
    }

    // Keeps the terms whose column is marked; the others become unknown.
    void keep(const uint8_t* marked) {
        std::vector<int32_t> renumbered(n_terms_);
        int32_t next = 0;
        for (int64_t c = 0; c < n_terms_; ++c) renumbered[c] = marked[c] ? next++ : -1;
        for (Level& level : levels_)
            for (int32_t& column : level.column)
                if (column >= 0) column = renumbered[column];
        n_terms_ = next;
    }

    // The column of every number that thread `t` assigned; -1 if it is not a term.
    ColumnMap columns(size_t t) const {
        ColumnMap map;
        map.units.resize(ranks_[t].empty() ? n_units_ : ranks_[t].size(), -1);
        for (uint32_t u = 0; u < map.units.size(); ++u)
            if (rank(t, u) != kNone) map.units[u] = levels_[1].column[rank(t, u)];
        map.longer.resize(places_[t].size());
        for (size_t i = 0; i < places_[t].size(); ++i)
            map.longer[i] = levels_[lengths_[t][i]].column[places_[t][i]];
        map.max_column = static_cast<uint32_t>(n_terms_);
        return map;
    }

    // Writes the offsets of the terms (n_terms + 1 entries); returns the number of bytes.
    int64_t offsets(int64_t* out) const {
        for (int n = 0; n <= max_n_; ++n)
            for (size_t i = 0; i < levels_[n].column.size(); ++i)
                if (levels_[n].column[i] >= 0) out[levels_[n].column[i] + 1] = length(n, i);
        out[0] = 0;
        for (int64_t c = 0; c < n_terms_; ++c) out[c + 1] += out[c];
        return out[n_terms_];
    }

    // Writes the terms' bytes at the offsets from offsets().
    template <class Run>
    void write(const int64_t* offsets, char* out, Run&& run) const {
        for (int n = 0; n <= max_n_; ++n) {
            Pieces work(static_cast<int64_t>(levels_[n].column.size()), 1 << 16);
            run([&](int, const StopFlag& stop) {
                for (int64_t i, end; !stop && work.next(i, end);)
                    for (; i < end; ++i)
                        if (levels_[n].column[i] >= 0) write_term(n, i, out + offsets[levels_[n].column[i]]);
            });
        }
    }

  private:
    static constexpr int kPairs = 0;

    // The n-grams of one length. Level 1 has no keys: its n-grams are the units themselves. Level 0 has the
    // pairs of words.
    struct Level {
        std::vector<uint64_t> keys;  // the prefix's position in the level before, then the unit; sorted
        std::vector<uint32_t> document_frequency;
        std::vector<uint64_t> total;
        std::vector<int32_t> column;
    };

    uint32_t rank(size_t t, uint32_t unit) const { return ranks_[t].empty() ? unit : ranks_[t][unit]; }

    uint32_t unit_of(const Level& level, size_t i) const {
        return static_cast<uint32_t>(level.keys[i] & ((uint64_t{1} << unit_bits_) - 1));
    }
    size_t prefix_of(const Level& level, size_t i) const { return level.keys[i] >> unit_bits_; }

    // Thread t's n-grams or pairs of one level with keys that all threads share, sorted.
    LargeArray<KeyedId> sorted_keys(int n, size_t t, NgramCounter& counter) const {
        LargeArray<KeyedId> items;
        size_t size = 0;
        const auto add_one = [&](uint32_t, uint32_t, uint32_t) { ++size; };
        if (n == kPairs) {
            counter.for_each_pair(add_one);
            items.reserve(size);
            counter.for_each_pair([&](uint32_t first, uint32_t second, uint32_t id) {
                const uint64_t key = pairs_.key(rank(t, first), rank(t, second));
                items.push_back({key >> 32 << unit_bits_ | static_cast<uint32_t>(key), id});
            });
            counter.forget_pairs();
        } else {
            counter.for_each(n, add_one);
            items.reserve(size);
            counter.for_each(n, [&](uint32_t prefix, uint32_t unit, uint32_t id) {
                const uint64_t place = n == 2 ? rank(t, prefix) : places_[t][prefix - kLonger];
                items.push_back({place << unit_bits_ | rank(t, unit), id});
            });
            counter.forget(n);
        }
        sort_by_key(items);
        return items;
    }

    template <class Run>
    void merge_level(int n, std::vector<NgramCounter>& counters, bool totals, Run&& run) {
        const size_t n_threads = counters.size();
        std::vector<LargeArray<KeyedId>> items(n_threads);
        run([&](int t, const StopFlag&) { items[t] = sorted_keys(n, t, counters[t]); });

        // Each thread merges the pairs between two bounds; equal pairs are always between the same bounds.
        const std::vector<std::vector<size_t>> bounds = cut_keys(items);
        std::vector<std::vector<uint64_t>> merged(n_threads);
        run([&](int r, const StopFlag&) { merge_range(items, bounds[r], bounds[r + 1], merged[r]); });

        Level& level = levels_[n];
        std::vector<size_t> first(n_threads + 1, 0);
        for (size_t r = 0; r < n_threads; ++r) first[r + 1] = first[r] + merged[r].size();
        if (first.back() > 0x7FFFFFF0) throw std::overflow_error("2**31 distinct n-grams or more");
        level.keys.resize(first.back());
        level.document_frequency.resize(first.back());
        if (totals) level.total.resize(first.back());
        run([&](int r, const StopFlag&) {
            std::copy(merged[r].begin(), merged[r].end(), level.keys.begin() + first[r]);
            merged[r] = std::vector<uint64_t>();
            for (size_t t = 0; t < n_threads; ++t)
                for (size_t i = bounds[r][t]; i < bounds[r + 1][t]; ++i) {
                    const auto place = static_cast<uint32_t>(first[r] + items[t][i].key);
                    const uint32_t number = items[t][i].id - kLonger;
                    places_[t][number] = place;
                    lengths_[t][number] = static_cast<uint8_t>(n);
                    level.document_frequency[place] += counters[t].longer().documents[number];
                    if (totals) level.total[place] += counters[t].longer().total[number];
                }
        });
    }

    // Columns in the order of the walk: size = the number of terms that begin with an n-gram, including
    // itself.
    void number_terms() {
        std::vector<std::vector<int64_t>> size(max_n_ + 1);
        for (int n = max_n_; n >= 1; --n) {
            const Level& level = levels_[n];
            size[n].resize(level.document_frequency.size());
            for (size_t i = 0; i < size[n].size(); ++i) size[n][i] = level.document_frequency[i] > 0;
            if (n == max_n_) continue;
            const Level& below = levels_[n + 1];
            for (size_t j = 0; j < below.keys.size(); ++j) size[n][prefix_of(below, j)] += size[n + 1][j];
        }
        // The pairs of a first word come before the continuations whose next unit sorts after the mark.
        Level& pairs = levels_[kPairs];
        const uint32_t mark = pairs.keys.empty() ? 0 : units_before(pairs_.mark());
        std::vector<int64_t> n_pairs(pairs.keys.empty() ? 0 : n_units_), before(n_pairs.size());
        for (size_t i = 0; i < pairs.keys.size(); ++i) ++n_pairs[prefix_of(pairs, i)];
        if (!n_pairs.empty() && max_n_ > 1)
            for (size_t j = 0; j < levels_[2].keys.size(); ++j)
                if (unit_of(levels_[2], j) < mark) before[prefix_of(levels_[2], j)] += size[2][j];
        for (size_t u = 0; u < n_pairs.size(); ++u) size[1][u] += n_pairs[u];
        int64_t next = 0;
        for (int64_t& s : size[1]) next += std::exchange(s, next);
        n_terms_ = next;
        if (n_terms_ > 0x7FFFFFF0) throw std::overflow_error("2**31 distinct terms or more");
        // From here on, size[n][i] is the column at which the walk reaches n-gram i.
        for (int n = 1; n <= max_n_; ++n) {
            Level& level = levels_[n];
            if (n > 1) {
                const Level& above = levels_[n - 1];
                size_t parent = ~size_t{0};
                int64_t at = 0;
                for (size_t i = 0; i < level.keys.size(); ++i) {
                    if (prefix_of(level, i) != parent) {
                        parent = prefix_of(level, i);
                        at = size[n - 1][parent] + (above.document_frequency[parent] > 0);
                    }
                    const bool behind = n == 2 && !n_pairs.empty() && unit_of(level, i) >= mark;
                    at += std::exchange(size[n][i], at + (behind ? n_pairs[parent] : 0));
                }
            }
            level.column.resize(size[n].size());
            for (size_t i = 0; i < size[n].size(); ++i)
                level.column[i] = level.document_frequency[i] > 0 ? static_cast<int32_t>(size[n][i]) : -1;
        }
        pairs.column.resize(pairs.keys.size());
        for (size_t i = 0, nth = 0; i < pairs.keys.size(); ++i) {
            const size_t u = prefix_of(pairs, i);
            nth = i > 0 && prefix_of(pairs, i - 1) == u ? nth + 1 : 0;
            const int64_t first = size[1][u] + (levels_[1].document_frequency[u] > 0) + before[u];
            pairs.column[i] = static_cast<int32_t>(first + static_cast<int64_t>(nth));
        }
    }

    // How many units sort before `mark`.
    uint32_t units_before(const char* mark) const {
        uint32_t low = 0, high = n_units_;
        const auto size = static_cast<int64_t>(std::strlen(mark));
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            const int64_t shared = std::min(size, units_.length(middle));
            const int order = std::memcmp(units_.at(middle), mark, static_cast<size_t>(shared));
            if (order < 0 || (order == 0 && units_.length(middle) < size)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    bool joined() const { return units_.size() > 0; }

    int64_t unit_length(uint32_t unit) const {
        if (joined()) return units_.length(unit);
        char character[4];
        return unicode::encode(unit, character);
    }

    int64_t length(int n, size_t i) const {
        if (n == kPairs)
            return unit_length(static_cast<uint32_t>(prefix_of(levels_[n], i))) +
                   unit_length(unit_of(levels_[n], i)) + static_cast<int64_t>(std::strlen(pairs_.mark())) + 2;
        int64_t bytes = joined() ? n - 1 : 0;
        for (; n > 1; --n) {
            bytes += unit_length(unit_of(levels_[n], i));
            i = prefix_of(levels_[n], i);
        }
        return bytes + unit_length(static_cast<uint32_t>(i));
    }

    char* write_unit(uint32_t unit, char* out) const {
        if (!joined()) return out + unicode::encode(unit, out);
        return std::copy(units_.at(unit), units_.at(unit) + units_.length(unit), out);
    }

    char* write_term(int n, size_t i, char* out) const {
        if (n == 1) return write_unit(static_cast<uint32_t>(i), out);
        if (n == kPairs) {
            out = write_unit(static_cast<uint32_t>(prefix_of(levels_[n], i)), out);
            *out++ = ' ';
            out = std::copy_n(pairs_.mark(), std::strlen(pairs_.mark()), out);
            *out++ = ' ';
            return write_unit(unit_of(levels_[n], i), out);
        }
        out = write_term(n - 1, prefix_of(levels_[n], i), out);
        if (joined()) *out++ = ' ';
        return write_unit(unit_of(levels_[n], i), out);
    }

    int max_n_;
    PairRule pairs_;
    std::vector<Level> levels_;  // by length; level 0 has the pairs
    Strings units_;
    std::vector<std::vector<uint32_t>> ranks_;
    uint32_t n_units_ = 0;
    int unit_bits_ = 1;
    // By thread, for the longer n-grams and the pairs it numbered: their levels, and their positions there.
    std::vector<std::vector<uint8_t>> lengths_;
    std::vector<std::vector<uint32_t>> places_;
    int64_t n_terms_ = 0;
};

}  // namespace widemargin
