// A regular expression as an automaton over classes of characters, and its matches in a text.
//
// The automaton is made in Python (text/patterns): states are ordered lists of positions in the expression,
// those after a complete match removed, so that the longest run of the automaton ends where a backtracking
// matcher would end its first match. A step reads one character, and says whether a match ended before it:
// whether a word boundary is there depends on the character after it. The last class stands for the end of
// the text. Patterns do not match the empty text.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "text/unicode.hpp"

namespace widemargin {

class Pattern {
  public:
    // `starts` are the first characters of ranges, ascending from 0, and `classes` the class of each; the
    // table has a row for every state with one entry per class and one for the end: twice the next state (0
    // is dead), plus 1 if a match ended before the character. `first` are the states before a text, and after
    // a word character; `words` tells which classes are word characters.
    Pattern(const std::vector<uint32_t>& starts, const std::vector<uint32_t>& classes,
            std::vector<int32_t> table, std::array<int32_t, 2> first, std::vector<uint8_t> words)
        : table_(std::move(table)), first_(first), words_(std::move(words)) {
        width_ = words_.size() + 1;
        const bool whole = !table_.empty() && table_.size() % width_ == 0 && words_.size() < 0x10000;
        if (!whole || starts.empty() || starts.size() != classes.size() || starts[0] != 0)
            throw std::invalid_argument("the tables of a pattern do not fit each other");
        const auto n_states = static_cast<int64_t>(table_.size() / width_);
        for (size_t i = 0; i < starts.size(); ++i)
            if (classes[i] >= words_.size() || starts[i] >= unicode::kCodePoints ||
                (i > 0 && starts[i] <= starts[i - 1]))
                throw std::invalid_argument("a pattern has ranges that do not ascend, or an unknown class");
        for (const int32_t entry : table_)
            if (entry < 0 || entry / 2 >= n_states)
                throw std::invalid_argument("a pattern has an unknown state");
        for (const int32_t state : first_)
            if (state < 0 || state >= n_states) throw std::invalid_argument("a pattern has an unknown state");
        fill(starts, classes);
    }

    uint32_t class_of(uint32_t c) const {
        return c < 128 ? ascii_[c] : pages_[(static_cast<uint32_t>(page_[c >> 8]) << 8) | (c & 255)];
    }

    // Calls use(begin, end) with every match in a text of `size` places, in order. next(at) returns the
    // character at a place and moves `at` to the place after it.
    template <class Next, class Use>
    void find_all(int64_t size, Next&& next, Use&& use) const {
        bool word = false;  // whether the character before is one of a word
        for (int64_t begin = 0; begin < size;) {
            int64_t after = begin;
            const uint32_t k = class_of(next(after));
            int32_t state = table_[first_[word] * width_ + k] / 2;
            if (state == 0) {
                word = words_[k];
                begin = after;
                continue;
            }
            int64_t end = -1;
            bool last_word = words_[k], end_word = false;
            for (int64_t at = after; state != 0;) {
                if (at >= size) {
                    if (table_[state * width_ + width_ - 1] & 1) end = at, end_word = last_word;
                    break;
                }
                int64_t following = at;
                const uint32_t read = class_of(next(following));
                const int32_t entry = table_[state * width_ + read];
                if (entry & 1) end = at, end_word = last_word;
                last_word = words_[read];
                state = entry / 2;
                at = following;
            }
            if (end < 0) {
                word = words_[k];
                begin = after;
            } else {
                use(begin, end);
                word = end_word;
                begin = end;
            }
        }
    }

  private:
    void fill(const std::vector<uint32_t>& starts, const std::vector<uint32_t>& classes) {
        std::map<std::vector<uint16_t>, uint16_t> known;
        std::vector<uint16_t> one(256);
        page_.resize(unicode::kCodePoints / 256);
        size_t range = 0;
        for (uint32_t c = 0; c < unicode::kCodePoints; ++c) {
            while (range + 1 < starts.size() && starts[range + 1] <= c) ++range;
            one[c & 255] = static_cast<uint16_t>(classes[range]);
            if (c < 128) ascii_[c] = one[c];
            if ((c & 255) != 255) continue;
            const auto found = known.emplace(one, static_cast<uint16_t>(known.size()));
            if (found.second) pages_.insert(pages_.end(), one.begin(), one.end());
            page_[c >> 8] = found.first->second;
        }
    }

    std::vector<int32_t> table_;
    std::array<int32_t, 2> first_;
    std::vector<uint8_t> words_;
    size_t width_;
    std::array<uint16_t, 128> ascii_;
    std::vector<uint16_t> page_, pages_;  // the page of each 256 characters, and the classes of every page
};

}  // namespace widemargin
