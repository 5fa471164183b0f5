// What the words of a text are: runs of characters, or what a pattern matches.
#pragma once

#include <cstdint>
#include <memory>

#include "text/patterns/pattern.hpp"

namespace widemargin {

// What counts as part of a word.
enum class Alphabet : uint8_t {
    alnum,       // letters, marks, numbers
    unicode,     // these and connectors such as the underscore
    characters,  // no words: all characters, each run of white space as one space
    bytes,       // UTF-8 as it is: no case folding, and a lone surrogate is its three bytes
    pattern      // what a pattern matches; all characters are kept, U+FFFD for what is none
};

// Which runs are tokens.
struct TokenRule {
    Alphabet alphabet = Alphabet::alnum;
    bool join_numbers = true;  // every number becomes kNumberToken
    int64_t min_length = 1;    // in characters; shorter words are removed, n-grams of characters are not
    bool fold_case = true;
    std::shared_ptr<const Pattern> token = nullptr;    // of Alphabet::pattern
    std::shared_ptr<const Pattern> ignored = nullptr;  // becomes spaces before anything else
};

}  // namespace widemargin
