// A text with spaces in place of the characters that a pattern matches. The number of characters stays, so
// that places in it are places in the original.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "text/patterns/pattern.hpp"
#include "text/text_view.hpp"

namespace widemargin {

class ClearedText {
  public:
    // The view is of `text` itself if nothing matches, otherwise of a copy that is valid until the next call.
    TextView without(const Pattern& pattern, const TextView& text) {
        copy(text);
        bool changed = false;
        const auto next = [this](int64_t& at) { return readable(characters_[at++]); };
        // Matches are found before anything changes: what stands before a place is part of the rule.
        matches_.clear();
        pattern.find_all(static_cast<int64_t>(characters_.size()), next, [&](int64_t begin, int64_t end) {
            matches_.push_back({begin, end});
            changed = true;
        });
        if (!changed) return text;
        for (const Match& match : matches_)
            std::fill(characters_.begin() + match.begin, characters_.begin() + match.end, uint32_t{' '});
        return {characters_.data(), static_cast<int64_t>(characters_.size()), Encoding::ucs4};
    }

  private:
    struct Match {
        int64_t begin, end;
    };

    static uint32_t readable(uint32_t c) { return c < unicode::kCodePoints ? c : unicode::kInvalid; }

    void copy(const TextView& text) {
        characters_.clear();
        const auto* bytes = static_cast<const unsigned char*>(text.data);
        switch (text.encoding) {
            case Encoding::ascii:
            case Encoding::latin1:
                characters_.assign(bytes, bytes + text.length);
                break;
            case Encoding::utf8:
                for (const unsigned char *p = bytes, *end = bytes + text.length; p < end;)
                    characters_.push_back(unicode::decode(p, end - p));
                break;
            case Encoding::ucs2: {
                const auto* units = static_cast<const uint16_t*>(text.data);
                characters_.assign(units, units + text.length);
                break;
            }
            case Encoding::ucs4: {
                const auto* units = static_cast<const uint32_t*>(text.data);
                characters_.assign(units, units + text.length);
                break;
            }
        }
    }

    std::vector<uint32_t> characters_;
    std::vector<Match> matches_;
};

}  // namespace widemargin
