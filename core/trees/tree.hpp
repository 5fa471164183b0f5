// Binary decision trees as flat arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/split_gain.hpp"

namespace widemargin {

// Node 0 is the root. Children come after their parents, so that every walk ends.
struct Tree {
    std::vector<std::int32_t> column;  // -1 for a leaf
    std::vector<double> threshold;     // examples with x[column] <= threshold go to the left
    std::vector<std::int32_t> left, right;
    std::vector<Mass> mass;  // of the training examples that reach the node

    std::int32_t size() const { return std::int32_t(column.size()); }
    bool is_leaf(std::int32_t node) const { return column[node] < 0; }

    // A new leaf.
    std::int32_t add(const Mass& reached) {
        column.push_back(-1);
        threshold.push_back(0);
        left.push_back(-1);
        right.push_back(-1);
        mass.push_back(reached);
        return size() - 1;
    }

    void make_leaf(std::int32_t node) {
        column[node] = left[node] = right[node] = -1;
        threshold[node] = 0;
    }
};

// The nodes that can be reached, each followed by its left subtree and then by its right one. places[node]
// becomes the new number of a node, or of the leaf that is left of its subtree.
inline Tree in_preorder(const Tree& tree, std::vector<std::int32_t>& places) {
    struct Visit {
        std::int32_t node, parent;
        bool is_right;
    };
    Tree ordered;
    places.assign(tree.size(), -1);
    std::vector<Visit> waiting{{0, -1, false}};
    while (!waiting.empty()) {
        const Visit visit = waiting.back();
        waiting.pop_back();
        const std::int32_t node = visit.node, place = ordered.add(tree.mass[node]);
        places[node] = place;
        if (visit.parent >= 0) (visit.is_right ? ordered.right : ordered.left)[visit.parent] = place;
        if (tree.is_leaf(node)) continue;
        ordered.column[place] = tree.column[node];
        ordered.threshold[place] = tree.threshold[node];
        waiting.push_back({tree.right[node], place, true});
        waiting.push_back({tree.left[node], place, false});
    }
    return ordered;
}

}  // namespace widemargin
