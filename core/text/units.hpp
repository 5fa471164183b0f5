// Sources of units: the words, the characters, the characters within words, or the bytes of a document.
#pragma once

#include <cstdint>

#include "text/normalizer.hpp"
#include "text/occurrences.hpp"
#include "text/terms/thesaurus.hpp"
#include "text/tokenizer.hpp"
#include "text/vocabulary.hpp"

namespace widemargin {

enum class UnitKind : uint8_t { words, characters, characters_in_words, bytes };

// How many different units there are, if they are characters or bytes. A byte is the character of the same
// number: terms of bytes are strings of the first 256 characters, and sort as the bytes do.
inline uint32_t n_characters(UnitKind kind) { return kind == UnitKind::bytes ? 256 : unicode::kCodePoints; }

// Marks both ends of a word if its characters are the units.
inline constexpr uint32_t kBoundary = '_';

// Characters, with a separator in place of what is not a character.
template <class Counter>
void push_characters(const Normalizer& text, Counter& counter) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.bytes());
    const unsigned char* end = bytes + text.size();
    if (text.ascii()) return counter.push_bytes(bytes, text.size());
    for (const unsigned char* p = bytes; p < end;) {
        const unsigned char* begin = p;
        if (*p < 0x80) {
            ++p;
            counter.push_character(*begin, begin - bytes, p - bytes);
        } else if (*p == kBreak) {
            ++p;
            counter.push_separator();
        } else {
            const uint32_t c = unicode::decode_valid(p);
            counter.push_character(c, begin - bytes, p - bytes);
        }
        if (counter.full()) counter.flush();
    }
}

template <class Counter>
void push_bytes(const Normalizer& text, Counter& counter) {
    counter.push_bytes(reinterpret_cast<const unsigned char*>(text.bytes()), text.size());
}

// The characters of each word between two boundaries; n-grams do not leave the word.
template <class Counter>
void push_characters_in_words(const Normalizer& text, Tokenizer& tokenizer, Counter& counter) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.bytes());
    tokenizer.for_each_word(text, [&](const uint32_t* edges, size_t n_edges) {
        for (size_t e = 0; e < n_edges; e += 2) {
            const int64_t begin = edges[e], end = edges[e + 1];
            if (!tokenizer.long_enough(text.bytes() + begin, end - begin)) continue;
            counter.push_character(kBoundary, begin, begin);
            for (const unsigned char* p = bytes + begin; p < bytes + end;) {
                const int64_t at = p - bytes;
                const uint32_t c = unicode::decode_valid(p);
                counter.push_character(c, at, p - bytes);
            }
            counter.push_character(kBoundary, end, end);
            counter.push_separator();
            if (counter.full()) counter.flush();
        }
    });
}

// What words stand for: their values as units, and the concepts of a thesaurus, if there is one.
struct WordMap {
    const TokenMap& values;
    const ConceptMap* concepts = nullptr;
};

// Words, looked up in `map`. The value of an unknown word is index.missing().
template <class Index>
void push_words(const Normalizer& text, Tokenizer& tokenizer, const Index& index, const WordMap& map,
                OccurrenceCounter<Index>& counter) {
    const auto value_of = [&](const Token& token) {
        const uint64_t* found = map.values.find(token);
        return found ? *found : index.missing(token);
    };
    const auto push = [&](uint64_t value, int64_t begin, int64_t end) {
        if (value != kSkip) counter.push(value, begin, end);
    };
    if (!map.concepts) {
        tokenizer.read(text, [&](const Token* tokens, size_t n) {
            for (size_t i = 0; i < n; ++i) map.values.fetch(tokens[i]);
            for (size_t i = 0; i < n; ++i) push(value_of(tokens[i]), tokens[i].begin, tokens[i].end);
            if (counter.full()) counter.flush();
        });
        return;
    }
    const TokenMap& numbers = map.concepts->numbers;
    EntryReader<uint64_t> reader(map.concepts->entries, map.concepts->meanings);
    tokenizer.read(text, [&](const Token* tokens, size_t n) {
        for (size_t i = 0; i < n; ++i) map.values.fetch(tokens[i]);
        for (size_t i = 0; i < n; ++i) {
            const uint64_t* number = numbers.find(tokens[i]);
            reader.push({value_of(tokens[i]), number ? static_cast<uint32_t>(*number) : kNone,
                         tokens[i].begin, tokens[i].end},
                        push);
        }
        if (counter.full()) counter.flush();
    });
    reader.finish(push);
}

}  // namespace widemargin
