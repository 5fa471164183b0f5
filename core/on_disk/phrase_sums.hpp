// How strongly the words of phrases are associated, from the sorted terms of a collection with their totals.
//
// As NgramTerms::associations in core/text/ngram_terms.hpp, without the tree of prefixes: an n-gram is its
// words with a space between them, and what stands before the last space is its prefix. Terms with the same
// prefix of the same length follow each other among those of that length. Terms are read twice: `add` sums,
// `ratio` walks through the sums again.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/terms/association.hpp"

namespace widemargin::on_disk {

class PhraseSums {
  public:
    void add(std::string_view term, double total) {
        Parts parts;
        if (!split(term, parts)) return;
        Length& length = at(parts.n);
        if (length.beginnings.empty() || length.prefix != parts.prefix) {
            length.prefix = parts.prefix;
            length.beginnings.push_back(0);
        }
        length.beginnings.back() += total;
        length.endings[std::string(parts.last)] += total;
        length.all += total;
    }

    double ratio(std::string_view term, double total) {
        Parts parts;
        if (!split(term, parts)) return std::numeric_limits<double>::infinity();
        Length& length = at(parts.n);
        if (!length.again || length.prefix != parts.prefix) {
            length.next += length.again;
            length.again = true;
            length.prefix = parts.prefix;
        }
        const auto ending = length.endings.find(std::string(parts.last));
        if (length.next >= length.beginnings.size() || ending == length.endings.end())
            throw std::invalid_argument("other terms than the first time");
        return log_likelihood_ratio(total, length.beginnings[length.next], ending->second, length.all);
    }

  private:
    struct Parts {
        int n;
        std::string_view prefix, last;
    };
    struct Length {
        std::vector<double> beginnings;  // in the order of the prefixes
        std::unordered_map<std::string, double> endings;
        double all = 0;
        std::string prefix;
        size_t next = 0;
        bool again = false;
    };

    // False for single words and for pairs, whose words have a mark between them.
    static bool split(std::string_view term, Parts& parts) {
        const size_t space = term.rfind(' ');
        if (space == std::string_view::npos) return false;
        parts.prefix = term.substr(0, space);
        parts.last = term.substr(space + 1);
        parts.n = 2;
        for (const char c : parts.prefix) parts.n += c == ' ';
        if (parts.n != 3) return true;
        const size_t first = parts.prefix.find(' ');
        const std::string_view middle = parts.prefix.substr(first + 1);
        return middle != "..." && middle != "~";
    }

    Length& at(int n) {
        if (static_cast<int>(lengths_.size()) <= n) lengths_.resize(n + 1);
        return lengths_[n];
    }

    std::vector<Length> lengths_;
};

}  // namespace widemargin::on_disk
