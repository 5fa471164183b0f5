// One tree per label: growing them on several threads, and scoring rows by all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "trees/pruning.hpp"
#include "trees/tree_builder.hpp"

namespace widemargin {

struct LabelExamples {
    std::int64_t n_labels;
    const std::int8_t* signs;  // labels x examples
    const double* weights;     // examples, the same for all labels; null: 1 each
};

// confidence: of the pruning, at least 1 for none
template <typename T, class Poll>
std::vector<Tree> grow_trees(const SortedColumns<T>& columns, const LabelExamples& labels,
                             const TreeOptions& options, double confidence, int n_threads, Poll&& poll) {
    std::vector<Tree> trees(labels.n_labels);
    Pieces pieces(labels.n_labels, 1);
    const auto work = [&](int, const StopFlag& stop) {
        TreeBuilder<T> builder(columns);
        std::vector<std::int32_t> places;
        pieces.each(stop, [&](std::int64_t label) {
            builder.grow({labels.signs + label * columns.x.n_rows, labels.weights}, options, stop);
            if (confidence < 1) prune(builder.tree(), confidence);
            trees[label] = in_preorder(builder.tree(), places);
        });
    };
    run_work(int(std::max<std::int64_t>(std::min<std::int64_t>(n_threads, labels.n_labels), 1)),
             saturated_product(columns.x.n_values() + columns.x.n_columns, labels.n_labels), 20000, work,
             poll);
    return trees;
}

// Trees one after the other. Numbers of nodes count from the first node of their tree.
struct Forest {
    std::int64_t n_trees;
    const std::int64_t* begin;  // trees + 1
    const std::int32_t *column, *left, *right;
    const double* threshold;
    const double* score;  // of a node, if it is a leaf

    // The leaf of an example with so many values in each column.
    std::int64_t leaf(std::int64_t tree, const double* x) const {
        const std::int64_t first = begin[tree];
        std::int64_t node = first;
        while (column[node] >= 0) node = first + (x[column[node]] <= threshold[node] ? left : right)[node];
        return node;
    }
};

// scores: rows x trees
template <typename T, class Poll>
void score_by_trees(const CsrView<T>& x, const Forest& forest, double* scores, int n_threads, Poll&& poll) {
    Pieces pieces(x.n_rows, 64);
    run_work(
        n_threads, saturated_product(x.n_rows, forest.n_trees) * 8 + x.n_values(), 1000000,
        [&](int, const StopFlag& stop) {
            std::vector<double> dense(x.n_columns, 0.0);
            pieces.each(stop, [&](std::int64_t i) {
                const Row<T> row = x.row(i);
                for (std::int64_t k = 0; k < row.size; ++k) dense[row.indices[k]] = double(row.values[k]);
                for (std::int64_t tree = 0; tree < forest.n_trees; ++tree)
                    scores[i * forest.n_trees + tree] = forest.score[forest.leaf(tree, dense.data())];
                for (std::int64_t k = 0; k < row.size; ++k) dense[row.indices[k]] = 0;
            });
        },
        poll);
}

}  // namespace widemargin
