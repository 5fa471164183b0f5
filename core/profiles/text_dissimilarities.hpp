// The dissimilarities "kl" of texts and profiles, straight from the texts.
//
// Problem: as KlOfText in profiles/dissimilarities.hpp, minus sum f log f of the text, which is the same for
// all profiles and decides nothing. The rest, -sum f (log u + v), is a sum over occurrences: each of the N
// n-grams of a text adds its profiles' values, divided by N. So no row of counts is sorted, weighted, copied
// or checked, which takes most of the time if texts are short.
//
// Inputs: texts, the index of the terms and the rule that made it; the profiles' index, one row per term, and
// sums. Output: texts x profiles. Texts are divided among threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "profiles/dissimilarities.hpp"
#include "text/counting.hpp"

namespace widemargin {

template <class Poll>
void text_dissimilarities(const std::vector<TextView>& texts, const TextRule& rule, const TermIndex& terms,
                          const ProfileIndex& index, const ProfileSums& profiles, double* out, int n_threads,
                          Poll&& poll) {
    const std::int64_t n_profiles = index.by_term.n_columns;
    const DissimilarityRule wanted{DissimilarityKind::kl, false, 0, 0, 0};
    Pieces pieces(static_cast<std::int64_t>(texts.size()), 16);
    const auto work = [&](int, const StopFlag& stop) {
        Normalizer normalizer(rule.tokens);
        Tokenizer tokenizer(rule.tokens);
        OccurrenceCounter<TermIndex> counter(terms, rule.ngrams, false);
        TextSums text;
        std::vector<double> sums(std::max(index.stride, n_profiles), 0.0);
        pieces.each(stop, [&](std::int64_t i) {
            normalizer.read(texts[i]);
            push_text(normalizer, tokenizer, rule.kind, terms, {terms.units()}, counter);
            counter.end_document([&](const std::int32_t* columns, std::int64_t n) {
                text.read_occurrences(n);
                const KlOfText kl{profiles, text};
                for (std::int64_t p = 0; p < n_profiles; ++p) sums[p] = kl.all_alone(p);
                add_shared(Row<float>{columns, nullptr, n}, text, index, wanted, kl, sums.data());
            });
            std::copy(sums.begin(), sums.begin() + n_profiles, out + i * n_profiles);
        });
    };
    std::int64_t length = 0;
    for (const TextView& text : texts) length += text.length;
    const std::int64_t steps = saturated_product(length, std::max<std::int64_t>(n_profiles, 1));
    run_work(n_threads, steps, 1000000, work, poll);
}

}  // namespace widemargin
