// The examples of several labels that are left out, in batches that are settled together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sparse/csr.hpp"

namespace widemargin {

struct Batch {
    std::size_t label, begin, end;  // examples `begin` to `end` of the list of a label
    Indices open{};                 // those that it does not settle
};

// Batches of at most `width` examples of the labels `first` to `last`; size_of(label): how many it has.
template <class SizeOf>
std::vector<Batch> batches_of(std::size_t first, std::size_t last, std::size_t width, SizeOf&& size_of) {
    std::vector<Batch> batches;
    for (std::size_t label = first; label < last; ++label) {
        const std::size_t size = size_of(label);
        for (std::size_t begin = 0; begin < size; begin += width)
            batches.push_back({label, begin, std::min(begin + width, size)});
    }
    return batches;
}

}  // namespace widemargin
