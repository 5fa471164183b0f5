// One tree or list of rules per label: growing them on several threads, and scoring rows by all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "trees/pruning.hpp"
#include "trees/rules.hpp"
#include "trees/tree_builder.hpp"

namespace widemargin {

struct LabelExamples {
    std::int64_t n_labels;
    const std::int8_t* signs;  // labels x examples
    const double* weights;     // examples, the same for all labels; null: 1 each
};

// work(builder, label, stop) for every label, after its tree has grown.
template <typename T, class Work, class Poll>
void grow_each(const SortedColumns<T>& columns, const LabelExamples& labels, const TreeOptions& options,
               int n_threads, Work&& make_work, Poll&& poll) {
    Pieces pieces(labels.n_labels, 1);
    run_work(
        int(std::max<std::int64_t>(std::min<std::int64_t>(n_threads, labels.n_labels), 1)),
        saturated_product(columns.x.n_values() + columns.x.n_columns, labels.n_labels), 20000,
        [&](int, const StopFlag& stop) {
            TreeBuilder<T> builder(columns);
            auto work = make_work();
            pieces.each(stop, [&](std::int64_t label) {
                builder.grow({labels.signs + label * columns.x.n_rows, labels.weights}, options, stop);
                work(builder, label, stop);
            });
        },
        poll);
}

// confidence: of the pruning, at least 1 for none
template <typename T, class Poll>
std::vector<Tree> grow_trees(const SortedColumns<T>& columns, const LabelExamples& labels,
                             const TreeOptions& options, double confidence, int n_threads, Poll&& poll) {
    std::vector<Tree> trees(labels.n_labels);
    const auto make_work = [&] {
        return [&, places = std::vector<std::int32_t>()](TreeBuilder<T>& builder, std::int64_t label,
                                                         const StopFlag&) mutable {
            if (confidence < 1) prune(builder.tree(), confidence);
            trees[label] = in_preorder(builder.tree(), places);
        };
    };
    grow_each(columns, labels, options, n_threads, make_work, poll);
    return trees;
}

// The rules of each label in order; the last one is the default.
template <typename T, class Poll>
std::vector<std::vector<Rule>> grow_rules(const SortedColumns<T>& columns, const LabelExamples& labels,
                                          const TreeOptions& options, double confidence, int n_threads,
                                          Poll&& poll) {
    std::vector<std::vector<Rule>> rules(labels.n_labels);
    const auto make_work = [&] {
        return [&, maker = RuleMaker<T>(columns)](TreeBuilder<T>& builder, std::int64_t label,
                                                  const StopFlag& stop) mutable {
            const std::int8_t* const signs = labels.signs + label * columns.x.n_rows;
            rules[label] = maker.rules(builder.tree(), signs, builder.weights(), confidence, stop);
        };
    };
    grow_each(columns, labels, options, n_threads, make_work, poll);
    return rules;
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

// Lists of rules one after the other. The first rule of a list whose conditions all hold gives the score.
struct RuleLists {
    std::int64_t n_lists;
    const std::int64_t* begin;             // lists + 1
    const std::int64_t* conditions_begin;  // rules + 1; the last rule of a list has no conditions
    const std::int32_t* column;
    const std::uint8_t* above;
    const double* threshold;
    const double* score;  // of a rule

    // The first rule of a list that covers an example.
    std::int64_t rule(std::int64_t list, const double* x) const {
        std::int64_t rule = begin[list];
        while (rule + 1 < begin[list + 1] && !covers(rule, x)) ++rule;
        return rule;
    }

    bool covers(std::int64_t rule, const double* x) const {
        for (std::int64_t c = conditions_begin[rule]; c < conditions_begin[rule + 1]; ++c)
            if ((x[column[c]] > threshold[c]) != bool(above[c])) return false;
        return true;
    }
};

// work(i, x) for every row i, where x has the values of all columns.
template <typename T, class Work, class Poll>
void for_dense_rows(const CsrView<T>& x, std::int64_t n_scores, int n_threads, Work&& work, Poll&& poll) {
    Pieces pieces(x.n_rows, 64);
    run_work(
        n_threads, saturated_product(x.n_rows, 8 * n_scores) + x.n_values() + x.n_columns, 1000000,
        [&](int, const StopFlag& stop) {
            std::vector<double> dense(x.n_columns, 0.0);
            pieces.each(stop, [&](std::int64_t i) {
                const Row<T> row = x.row(i);
                for (std::int64_t k = 0; k < row.size; ++k) dense[row.indices[k]] = double(row.values[k]);
                work(i, dense.data());
                for (std::int64_t k = 0; k < row.size; ++k) dense[row.indices[k]] = 0;
            });
        },
        poll);
}

// scores: rows x trees
template <typename T, class Poll>
void score_by_trees(const CsrView<T>& x, const Forest& forest, double* scores, int n_threads, Poll&& poll) {
    const auto work = [&](std::int64_t i, const double* values) {
        for (std::int64_t tree = 0; tree < forest.n_trees; ++tree)
            scores[i * forest.n_trees + tree] = forest.score[forest.leaf(tree, values)];
    };
    for_dense_rows(x, forest.n_trees, n_threads, work, poll);
}

// scores: rows x lists
template <typename T, class Poll>
void score_by_rules(const CsrView<T>& x, const RuleLists& rules, double* scores, int n_threads, Poll&& poll) {
    const auto work = [&](std::int64_t i, const double* values) {
        for (std::int64_t list = 0; list < rules.n_lists; ++list)
            scores[i * rules.n_lists + list] = rules.score[rules.rule(list, values)];
    };
    for_dense_rows(x, rules.n_lists, n_threads, work, poll);
}

}  // namespace widemargin
