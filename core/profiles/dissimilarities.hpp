// Dissimilarities of texts and n-gram profiles (Teytaud and Jalam, Kernel-based text categorization, 2.1).
//
// Problem: d(text, profile) for many texts and profiles, both rows of counts c. N is the sum of a row, f =
// c/N its frequencies. A zero count that stands in a logarithm or a denominator is replaced by `unseen` (half
// an occurrence, 0.5 in the document): u = unseen/N. d(T1, T2) is
//
//   ct              sum min(|R2 - R1|, DMAX) over the n-grams of T1 with R1 < NMAX, where R is the rank from
//   0
//                   by decreasing count (ties: by column), and DMAX for an n-gram that is missing
//   kl              sum f2 log(f2 / f1) over the n-grams of T2, zeros replaced in f1
//   kl_all          the same over the n-grams of either, zeros replaced in both: the formula to the letter.
//   The
//                   many n-grams that a short text lacks outweigh those that it has
//   cosine          1 - f1.f2 / (|f1| |f2|)
//   chi2            2 sum (f1 - f2)^2 / (f1 + f2)
//   chi2_asymmetric sum (f1 - f2)^2 / f2, zeros replaced in f2
//
// text_first makes the text T1; it has no effect on the symmetric ones.
//
// Every dissimilarity is base(p) + sum alone(x) + sum shared(x, v) for text n-grams of value x: base is the
// profile without any n-gram of the text, alone the text's n-gram if the profile lacks it, and shared
// corrects both if the profile has it with the value v. So a text costs one visit per n-gram that it shares
// with a profile: the inverted index `by_term` holds, for every n-gram, the profiles that have it.
//
// Inputs: texts, texts x terms; ProfileIndex, with the values v that the kind needs (the comments of the
// rules below); ProfileSums. Output: texts x profiles. Texts are divided among threads.
//
// An empty text has N = 1 in u, an empty profile the largest N of all profiles; neither has frequencies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "large_array.hpp"
#include "parallel.hpp"
#include "simd/loops.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

enum class DissimilarityKind : int { ct, kl, kl_all, cosine, chi2, chi2_asymmetric };

struct DissimilarityRule {
    DissimilarityKind kind;
    bool text_first;
    double unseen;
    double n_max, d_max;  // NMAX and DMAX
};

// One number per profile each: of the frequencies v, over its n-grams.
struct ProfileSums {
    const double* size;     // how many n-grams
    const double* mass;     // sum v: 1, or 0 without n-grams
    const double* squares;  // sum v^2
    const double* logs;     // sum log v
    const double* entropy;  // sum v log v
    const double* unseen;   // u
    const double* log_unseen;
    const double* ranks;  // sum min(|DMAX - R|, DMAX) over R < NMAX
};

// For every n-gram, the profiles that have it.
struct ProfileIndex {
    CsrView<double> by_term;  // terms x profiles
    // For kl of text, the same once more, in single precision: half the memory traffic, and errors of 1e-7 in
    // logarithms that were estimated from counts. The n-grams of many profiles are lines of `stride` values,
    // 0 for the profiles without it, which vector loops add. The others are in `few`: how many profiles, then
    // these. place[term] is the line of a term, or -1 - its position in `few`. Null: there is only by_term.
    struct Few {
        std::int32_t profile;  // first the number of profiles
        float value;
    };
    const float* lines = nullptr;
    const std::int32_t* place = nullptr;
    const Few* few = nullptr;
    std::int64_t stride = 0;

    const float* line(std::int32_t at) const { return lines + at * stride; }

    // Prefetches the values of a term.
    WIDEMARGIN_HOT void fetch(std::int32_t term) const {
        const std::int32_t at = place[term];
        if (at < 0) {
            prefetch(few + (-1 - at));
            prefetch(few + (-1 - at) + 8);
        } else {
            for (std::int64_t p = 0; p < stride; p += 16) prefetch(line(at) + p);
        }
    }
};

// The same of one text, and the value x of each of its n-grams.
class TextSums {
  public:
    template <typename T>
    void read(const Row<T>& row, const DissimilarityRule& rule) {
        size = mass = squares = logs = entropy = ranks = 0;
        double total = 0;
        for (std::int64_t k = 0; k < row.size; ++k) total += row.values[k];
        unseen = rule.unseen / (total > 0 ? total : 1);
        x.resize(row.size);
        const bool needs_logs = rule.kind == DissimilarityKind::kl || rule.kind == DissimilarityKind::kl_all;
        const double log_total = needs_logs && total > 0 ? std::log(total) : 0;
        for (std::int64_t k = 0; k < row.size; ++k) {
            const double t = row.values[k] > 0 ? row.values[k] / total : 0;
            x[k] = t;
            if (t <= 0) continue;
            size += 1;
            mass += t;
            squares += t * t;
            if (needs_logs) {
                // Most n-grams of a short text occur once, and log 1 is 0.
                const double log_t = (row.values[k] == 1 ? 0 : std::log(double(row.values[k]))) - log_total;
                logs += log_t;
                entropy += t * log_t;
            }
        }
        if (rule.kind == DissimilarityKind::ct) rank(row, rule);
    }

    // For "kl" of text without the text's entropy: n occurrences, each an entry of the row.
    void read_occurrences(std::int64_t n) {
        mass = n > 0;
        entropy = 0;
        x.assign(n, 1.0 / static_cast<double>(n));
    }

    double size, mass, squares, logs, entropy, unseen, ranks;
    std::vector<double> x;  // frequencies; for ct ranks. Below 0: not counted

  private:
    template <typename T>
    void rank(const Row<T>& row, const DissimilarityRule& rule) {
        order_.resize(row.size);
        for (std::int64_t k = 0; k < row.size; ++k) order_[k] = static_cast<std::int32_t>(k);
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::int32_t a, std::int32_t b) { return row.values[a] > row.values[b]; });
        for (std::int64_t r = 0; r < row.size; ++r) {
            const double R = static_cast<double>(r);
            const bool counts = row.values[order_[r]] > 0 && !(rule.text_first && R >= rule.n_max);
            x[order_[r]] = counts ? R : -1;
            if (counts) ranks += std::min(std::abs(rule.d_max - R), rule.d_max);
        }
    }

    Indices order_;
};

// The rules. `v` is what by_term holds for a profile, `p` its number; all_alone is the sum of alone(x).
struct KlOfText {  // sum f_text log(f_text / f_profile) over the text; v: log(f / u)
    const ProfileSums& profiles;
    const TextSums& text;
    double base(std::int64_t) const { return 0; }
    double all_alone(std::int64_t p) const { return text.entropy - text.mass * profiles.log_unseen[p]; }
    double alone(double x, std::int64_t p) const { return x * (std::log(x) - profiles.log_unseen[p]); }
    double shared(double x, double v, std::int64_t) const { return -x * v; }
};

struct KlOfProfile {  // sum f_profile log(f_profile / f_text) over the profile; v: f
    const ProfileSums& profiles;
    const TextSums& text;
    const double log_unseen = std::log(text.unseen);
    double base(std::int64_t p) const { return profiles.entropy[p] - profiles.mass[p] * log_unseen; }
    double all_alone(std::int64_t) const { return 0; }
    double alone(double, std::int64_t) const { return 0; }
    double shared(double x, double v, std::int64_t) const { return -v * (std::log(x) - log_unseen); }
};

// The same over the n-grams of both: those of the profile alone have the frequency u of the text.
struct KlAllOfText : KlOfText {
    const double log_unseen = std::log(text.unseen);
    double base(std::int64_t p) const {
        return text.unseen * (profiles.size[p] * log_unseen - profiles.logs[p]);
    }
    double shared(double x, double v, std::int64_t p) const {
        return (text.unseen - x) * v + text.unseen * (profiles.log_unseen[p] - log_unseen);
    }
};

// And those of the text alone have the frequency u of the profile.
struct KlAllOfProfile : KlOfProfile {
    double all_alone(std::int64_t p) const {
        return profiles.unseen[p] * (text.size * profiles.log_unseen[p] - text.logs);
    }
    double alone(double x, std::int64_t p) const {
        return profiles.unseen[p] * (profiles.log_unseen[p] - std::log(x));
    }
    double shared(double x, double v, std::int64_t p) const {
        return KlOfProfile::shared(x, v, p) - alone(x, p);
    }
};

struct Cosine {  // v: f / |f|
    const ProfileSums& profiles;
    const TextSums& text;
    const double scale = text.squares > 0 ? 1 / std::sqrt(text.squares) : 0;
    double base(std::int64_t) const { return 1; }
    double all_alone(std::int64_t) const { return 0; }
    double alone(double, std::int64_t) const { return 0; }
    double shared(double x, double v, std::int64_t) const { return -x * scale * v; }
};

struct ChiSquareDistance {  // v: f
    const ProfileSums& profiles;
    const TextSums& text;
    double base(std::int64_t p) const { return 2 * profiles.mass[p]; }
    double all_alone(std::int64_t) const { return 2 * text.mass; }
    double alone(double x, std::int64_t) const { return 2 * x; }
    double shared(double x, double v, std::int64_t) const { return -8 * x * (v / (x + v)); }
};

struct ChiSquareByProfile {  // sum (f_text - f_profile)^2 / f_profile; v: f
    const ProfileSums& profiles;
    const TextSums& text;
    double base(std::int64_t p) const { return profiles.mass[p]; }
    double all_alone(std::int64_t p) const {
        const double u = profiles.unseen[p];
        return text.squares / u - 2 * text.mass + text.size * u;
    }
    double alone(double x, std::int64_t p) const { return term(x, profiles.unseen[p]); }
    double shared(double x, double v, std::int64_t p) const { return term(x, v) - v - alone(x, p); }
    static double term(double a, double b) { return (a - b) * ((a - b) / b); }
};

struct ChiSquareByText {  // sum (f_profile - f_text)^2 / f_text; v: f
    const ProfileSums& profiles;
    const TextSums& text;
    double base(std::int64_t p) const {
        return profiles.squares[p] / text.unseen - 2 * profiles.mass[p] + profiles.size[p] * text.unseen;
    }
    double all_alone(std::int64_t) const { return text.mass; }
    double alone(double x, std::int64_t) const { return x; }
    double shared(double x, double v, std::int64_t) const {
        return ChiSquareByProfile::term(v, x) - x - ChiSquareByProfile::term(v, text.unseen);
    }
};

struct RanksOfProfile {  // over the n-grams of the profile; v: R, by_term without those from NMAX on
    const ProfileSums& profiles;
    const TextSums& text;
    const double d_max;
    double base(std::int64_t p) const { return profiles.ranks[p]; }
    double all_alone(std::int64_t) const { return 0; }
    double alone(double, std::int64_t) const { return 0; }
    double shared(double x, double v, std::int64_t) const {
        return std::min(std::abs(x - v), d_max) - std::min(std::abs(d_max - v), d_max);
    }
};

struct RanksOfText {  // over the n-grams of the text; v: R
    const ProfileSums& profiles;
    const TextSums& text;
    const double d_max;
    double base(std::int64_t) const { return 0; }
    double all_alone(std::int64_t) const { return text.ranks; }
    double alone(double x, std::int64_t) const { return std::min(std::abs(d_max - x), d_max); }
    double shared(double x, double v, std::int64_t p) const {
        return std::min(std::abs(v - x), d_max) - alone(x, p);
    }
};

// work(rule), for the rule that `wanted` names.
template <class Work>
void with_rule(const DissimilarityRule& wanted, const ProfileSums& profiles, const TextSums& text,
               Work&& work) {
    switch (wanted.kind) {
        case DissimilarityKind::ct:
            return wanted.text_first ? work(RanksOfText{profiles, text, wanted.d_max})
                                     : work(RanksOfProfile{profiles, text, wanted.d_max});
        case DissimilarityKind::kl:
            return wanted.text_first ? work(KlOfProfile{profiles, text}) : work(KlOfText{profiles, text});
        case DissimilarityKind::kl_all:
            return wanted.text_first ? work(KlAllOfProfile{{profiles, text}})
                                     : work(KlAllOfText{{profiles, text}});
        case DissimilarityKind::cosine:
            return work(Cosine{profiles, text});
        case DissimilarityKind::chi2:
            return work(ChiSquareDistance{profiles, text});
        case DissimilarityKind::chi2_asymmetric:
            return wanted.text_first ? work(ChiSquareByProfile{profiles, text})
                                     : work(ChiSquareByText{profiles, text});
    }
}

// Whether an n-gram of value x counts.
inline bool counts(const DissimilarityRule& wanted, double x) {
    return wanted.kind == DissimilarityKind::ct ? x >= 0 : x > 0;
}

// Adds the shared parts of n n-grams of a text, x each, to `sums`, which have room for index.stride profiles.
inline void add_shared(const std::int32_t* terms, const double* x, std::int64_t n, const ProfileIndex& index,
                       double* sums) {
    // Memory is prefetched so many terms before it is needed, its place twice as many.
    constexpr std::int64_t kLinesAtOnce = 16, kAhead = 12;
    double factors[kLinesAtOnce];
    const float* lines[kLinesAtOnce];
    std::int64_t n_lines = 0;
    const auto add_lines = [&] {
        vector_loops().over<float>().add_columns(factors, lines, n_lines, index.stride, sums);
        n_lines = 0;
    };
    for (std::int64_t k = 0; k < std::min(2 * kAhead, n); ++k) prefetch(index.place + terms[k]);
    for (std::int64_t k = 0; k < std::min(kAhead, n); ++k) index.fetch(terms[k]);
    for (std::int64_t k = 0; k < n; ++k) {
        if (k + 2 * kAhead < n) prefetch(index.place + terms[k + 2 * kAhead]);
        if (k + kAhead < n) index.fetch(terms[k + kAhead]);
        const std::int32_t at = index.place[terms[k]];
        if (at >= 0) {
            factors[n_lines] = -x[k];
            lines[n_lines++] = index.line(at);
            if (n_lines == kLinesAtOnce) add_lines();
            continue;
        }
        const ProfileIndex::Few* having = index.few + (-1 - at);
        for (const auto* end = having + having->profile; having < end;) {
            ++having;
            sums[having->profile] -= x[k] * double(having->value);
        }
    }
    if (n_lines > 0) add_lines();
}

// The same by any rule.
template <typename T, class Rule>
void add_shared(const Row<T>& row, const TextSums& text, const ProfileIndex& index,
                const DissimilarityRule& wanted, const Rule& rule, double* sums) {
    if (std::is_same_v<Rule, KlOfText> && index.place)
        return add_shared(row.indices, text.x.data(), row.size, index, sums);
    constexpr std::int64_t kAhead = 8;
    const CsrView<double>& by_term = index.by_term;
    for (std::int64_t k = 0; k < row.size; ++k) {
        if (k + 2 * kAhead < row.size) prefetch(by_term.indptr + row.indices[k + 2 * kAhead]);
        if (k + kAhead < row.size) {
            prefetch(by_term.indices + by_term.indptr[row.indices[k + kAhead]]);
            prefetch(by_term.values + by_term.indptr[row.indices[k + kAhead]]);
        }
        const double x = text.x[k];
        if (!counts(wanted, x)) continue;
        const Row<double> having = by_term.row(row.indices[k]);
        for (std::int64_t h = 0; h < having.size; ++h)
            sums[having.indices[h]] += rule.shared(x, having.values[h], having.indices[h]);
    }
}

// out: texts x profiles.
template <typename T, class Poll>
void dissimilarities(const CsrView<T>& texts, const ProfileIndex& index, const ProfileSums& profiles,
                     const DissimilarityRule& wanted, double* out, int n_threads, Poll&& poll) {
    const std::int64_t n_profiles = index.by_term.n_columns;
    Pieces pieces(texts.n_rows, 16);
    const auto work = [&](int, const StopFlag& stop) {
        TextSums text;
        std::vector<double> sums(std::max(index.stride, n_profiles), 0.0);
        pieces.each(stop, [&](std::int64_t i) {
            const Row<T> row = texts.row(i);
            text.read(row, wanted);
            with_rule(wanted, profiles, text, [&](const auto& rule) {
                for (std::int64_t p = 0; p < n_profiles; ++p) sums[p] = rule.base(p) + rule.all_alone(p);
                add_shared(row, text, index, wanted, rule, sums.data());
            });
            std::copy(sums.begin(), sums.begin() + n_profiles, out + i * n_profiles);
        });
    };
    const std::int64_t steps =
        saturated_product(texts.n_values() + texts.n_rows, std::max<std::int64_t>(n_profiles, 1));
    run_work(n_threads, steps, 1000000, work, poll);
}

// The parts of the dissimilarities of one text: out is its n-grams x profiles, base (profiles,). Their sums
// over the n-grams, and the base, are the dissimilarities.
template <typename T>
void dissimilarity_parts(const Row<T>& row, const CsrView<double>& by_term, const ProfileSums& profiles,
                         const DissimilarityRule& wanted, double* base, double* out) {
    const std::int64_t n_profiles = by_term.n_columns;
    TextSums text;
    text.read(row, wanted);
    with_rule(wanted, profiles, text, [&](const auto& rule) {
        for (std::int64_t p = 0; p < n_profiles; ++p) base[p] = rule.base(p);
        for (std::int64_t k = 0; k < row.size; ++k) {
            double* const parts = out + k * n_profiles;
            const double x = text.x[k];
            const bool is_counted = counts(wanted, x);
            for (std::int64_t p = 0; p < n_profiles; ++p) parts[p] = is_counted ? rule.alone(x, p) : 0;
            if (!is_counted) continue;
            const Row<double> having = by_term.row(row.indices[k]);
            for (std::int64_t h = 0; h < having.size; ++h)
                parts[having.indices[h]] += rule.shared(x, having.values[h], having.indices[h]);
        }
    });
}

}  // namespace widemargin
