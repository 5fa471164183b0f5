// A thesaurus: sequences of words that are replaced by a concept before terms are counted.
//
// Words that occur in entries have numbers; other words have none. Where several entries match, the one that
// begins first is taken, and of those the longest. What it covers is not looked at again, so a concept is
// never replaced itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "text/terms/pair_table.hpp"
#include "text/vocabulary.hpp"

namespace widemargin {

// The entries as a tree of prefixes.
class Entries {
  public:
    // Entry e is the words[offsets[e]] .. words[offsets[e + 1]] and stands for concepts[e].
    Entries(const std::vector<uint32_t>& words, const std::vector<int64_t>& offsets,
            const std::vector<uint32_t>& concepts)
        : concept_of_(1, kNone) {
        uint32_t next = 1;
        for (size_t e = 0; e < concepts.size(); ++e) {
            uint32_t node = 0;  // the empty prefix
            for (int64_t i = offsets[e]; i < offsets[e + 1]; ++i)
                node = tree_.find_or_add(pair_key(node, words[i]), next).id;
            concept_of_.resize(next, kNone);
            if (node == 0) throw std::invalid_argument("an entry has no words");
            concept_of_[node] = concepts[e];
            n_concepts_ = std::max<size_t>(n_concepts_, concepts[e] + size_t{1});
        }
    }

    size_t n_concepts() const { return n_concepts_; }

    struct Match {
        size_t length;  // 0: no entry begins here
        uint32_t meaning;
    };

    // The longest entry at the beginning of `n` words.
    template <class WordAt>
    Match longest(size_t n, WordAt&& word_at) const {
        Match found{0, kNone};
        uint32_t node = 0;
        for (size_t i = 0; i < n; ++i) {
            const PairTable::Slot* slot = tree_.find(pair_key(node, word_at(i)));
            if (!slot) break;
            node = slot->id;
            if (concept_of_[node] != kNone) found = {i + 1, concept_of_[node]};
        }
        return found;
    }

  private:
    PairTable tree_;
    std::vector<uint32_t> concept_of_;  // by node
    size_t n_concepts_ = 0;
};

// Replaces entries in a stream of words.
template <class Value>
class EntryReader {
  public:
    struct Word {
        Value value;      // of the word by itself
        uint32_t number;  // in the entries, kNone if it is in none
        int64_t begin, end;
    };

    // `meanings` are the values of the concepts.
    EntryReader(const Entries& entries, const std::vector<Value>& meanings)
        : entries_(entries), meanings_(meanings) {}

    // Calls emit(value, begin, end) for what is certain after this word.
    template <class Emit>
    void push(const Word& word, Emit&& emit) {
        if (word.number != kNone) return run_.push_back(word);
        finish(emit);
        emit(word.value, word.begin, word.end);
    }

    // Calls emit for the rest, at the end of a document.
    template <class Emit>
    void finish(Emit&& emit) {
        for (size_t i = 0; i < run_.size();) {
            const Entries::Match match =
                entries_.longest(run_.size() - i, [&](size_t k) { return run_[i + k].number; });
            if (match.length == 0) {
                emit(run_[i].value, run_[i].begin, run_[i].end);
                ++i;
            } else {
                emit(meanings_[match.meaning], run_[i].begin, run_[i + match.length - 1].end);
                i += match.length;
            }
        }
        run_.clear();
    }

  private:
    const Entries& entries_;
    const std::vector<Value>& meanings_;
    std::vector<Word> run_;  // words of entries, which an entry may cover
};

// A thesaurus for an index of known terms.
struct ConceptMap {
    Entries entries;
    TokenMap numbers;                // of the tokens that occur in entries
    std::vector<uint64_t> meanings;  // the values of the concepts as units of the index
};

// What the tokens of a pass stand for.
struct UnitMap {
    Strings units;                 // sorted
    std::vector<int32_t> unit_of;  // by distinct token: the position in `units`, or -1 (omitted)
    // With a thesaurus: the numbers of distinct tokens in its entries (-1: none) and the units of concepts.
    std::vector<Entries> entries;  // none, or one
    std::vector<int32_t> number_of;
    std::vector<int32_t> meanings;
};

}  // namespace widemargin
