// Python's view of decision trees and boosting.
#include "bindings/bindings.hpp"
#include "trees/forest.hpp"
#include "trees/stump_committees.hpp"
#include "trees/tree_committees.hpp"

namespace widemargin {

namespace {

// Sorted columns, and the matrix that they were made of.
struct TreeColumns {
    TreeColumns(const Csr& csr, int n_threads) : csr(csr) {
        csr.visit(n_threads, [&](const auto& x) {
            without_gil([&] { columns = sort_columns(x, n_threads, poll_signals); });
        });
    }

    Csr csr;
    std::variant<SortedColumns<float>, SortedColumns<double>> columns;
};

struct GrowOptions : TreeOptions {
    double confidence;  // of the pruning
    bool rules;         // or trees
};

using Flat =
    nb::typed<nb::tuple, nb::object, nb::object, nb::object, nb::object, nb::object, nb::object, nb::object>;

template <class... Vectors>
Flat tuple_of(Vectors&... vectors) {
    return nb::borrow<Flat>(nb::make_tuple(owned(std::move(vectors))...));
}

// (begin, column, left, right, threshold, n, positive) of all trees, one after the other.
Flat flat(const std::vector<Tree>& trees) {
    std::vector<std::int64_t> begin{0};
    std::vector<std::int32_t> column, left, right;
    std::vector<double> threshold, n, positive;
    for (const Tree& tree : trees) {
        column.insert(column.end(), tree.column.begin(), tree.column.end());
        left.insert(left.end(), tree.left.begin(), tree.left.end());
        right.insert(right.end(), tree.right.begin(), tree.right.end());
        threshold.insert(threshold.end(), tree.threshold.begin(), tree.threshold.end());
        for (const Mass& mass : tree.mass) {
            n.push_back(mass.n);
            positive.push_back(mass.positive);
        }
        begin.push_back(std::int64_t(column.size()));
    }
    return tuple_of(begin, column, left, right, threshold, n, positive);
}

// (begin, conditions_begin, column, above, threshold, n, positive) of all lists of rules.
Flat flat(const std::vector<std::vector<Rule>>& lists) {
    std::vector<std::int64_t> begin{0}, conditions_begin{0};
    std::vector<std::int32_t> column;
    std::vector<std::uint8_t> above;
    std::vector<double> threshold, n, positive;
    for (const std::vector<Rule>& rules : lists) {
        for (const Rule& rule : rules) {
            for (const Condition& condition : rule.conditions) {
                column.push_back(condition.column);
                above.push_back(condition.above);
                threshold.push_back(condition.threshold);
            }
            conditions_begin.push_back(std::int64_t(column.size()));
            n.push_back(rule.mass.n);
            positive.push_back(rule.mass.positive);
        }
        begin.push_back(std::int64_t(n.size()));
    }
    return tuple_of(begin, conditions_begin, column, above, threshold, n, positive);
}

// signs: labels x examples; weights: of the examples, or empty
Flat grow(const TreeColumns& columns, InputMatrix<std::int8_t> signs, Input<double> weights,
          const Filled<GrowOptions>& options, int n_threads) {
    require_threads(n_threads);
    return std::visit(
        [&](const auto& sorted) {
            const auto n_labels = std::int64_t(signs.shape(0));
            require_shape(signs, {n_labels, sorted.x.n_rows}, "signs");
            if (weights.size()) require_size(weights, sorted.x.n_rows, "weights");
            const LabelExamples labels{n_labels, signs.data(), weights.size() ? weights.data() : nullptr};
            const GrowOptions& wanted = options.core;
            std::vector<Tree> trees;
            std::vector<std::vector<Rule>> rules;
            without_gil([&] {
                if (wanted.rules) {
                    rules = grow_rules(sorted, labels, wanted, wanted.confidence, n_threads, poll_signals);
                } else {
                    trees = grow_trees(sorted, labels, wanted, wanted.confidence, n_threads, poll_signals);
                }
            });
            return wanted.rules ? flat(rules) : flat(trees);
        },
        columns.columns);
}

template <class Scored, class Work>
void score(const Csr& csr, const Filled<Scored>& given, OutputMatrix<double>& scores, int n_threads,
           Work&& work) {
    csr.visit(n_threads, [&](const auto& x) {
        Sizes sizes;
        const Scored fits = given.fitting(sizes);
        require_shape(scores, {x.n_rows, sizes.at("starts") - 1}, "scores");
        without_gil([&] { work(x, fits, sizes.at("starts") - 1); });
    });
}

void score_trees(const Csr& csr, const Filled<Forest>& forest, OutputMatrix<double> scores, int n_threads) {
    score(csr, forest, scores, n_threads, [&](const auto& x, Forest trees, std::int64_t n_trees) {
        trees.n_trees = n_trees;
        score_by_trees(x, trees, scores.data(), n_threads, poll_signals);
    });
}

void score_rules(const Csr& csr, const Filled<RuleLists>& rules, OutputMatrix<double> scores, int n_threads) {
    score(csr, rules, scores, n_threads, [&](const auto& x, RuleLists lists, std::int64_t n_lists) {
        lists.n_lists = n_lists;
        score_by_rules(x, lists, scores.data(), n_threads, poll_signals);
    });
}

void stumps(const Csr& csr, const Filled<BoostingProblem>& problem, const Filled<StumpOptions>& options,
            const Filled<StumpResults>& results, int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        Sizes sizes{{"examples", x.n_rows}, {"rounds", options.core.n_rounds}};
        BoostingProblem task = problem.fitting(sizes);
        task.n_labels = sizes.at("labels");
        sizes.emplace("committees", options.core.together ? 1 : task.n_labels);
        const StumpResults filled = results.fitting(sizes);
        without_gil([&] { boost_stumps(Presence(x), task, options.core, filled, n_threads, poll_signals); });
    });
}

// (trees, numbers of trees of the labels, votes of all nodes, losses of all trees), label by label.
using FlatCommittees = nb::typed<nb::tuple, Flat, nb::object, nb::object, nb::object>;

FlatCommittees boost(const TreeColumns& columns, const Filled<BoostingProblem>& problem,
                     const Filled<TreeBoostingOptions>& options, int n_threads) {
    require_threads(n_threads);
    return std::visit(
        [&](const auto& sorted) {
            Sizes sizes{{"examples", sorted.x.n_rows}};
            BoostingProblem task = problem.fitting(sizes);
            task.n_labels = sizes.at("labels");
            std::vector<TreeCommittee> committees;
            without_gil(
                [&] { committees = boost_trees(sorted, task, options.core, n_threads, poll_signals); });
            std::vector<Tree> trees;
            std::vector<std::int64_t> sizes_of;
            std::vector<double> votes, losses;
            for (TreeCommittee& each : committees) {
                sizes_of.push_back(std::int64_t(each.trees.size()));
                losses.insert(losses.end(), each.losses.begin(), each.losses.end());
                for (Tree& tree : each.trees) trees.push_back(std::move(tree));
                for (const std::vector<double>& part : each.votes)
                    votes.insert(votes.end(), part.begin(), part.end());
            }
            return nb::borrow<FlatCommittees>(nb::make_tuple(
                flat(trees), owned(std::move(sizes_of)), owned(std::move(votes)), owned(std::move(losses))));
        },
        columns.columns);
}

}  // namespace

void register_trees(nb::module_& m) {
    using nb::arg;
    nb::class_<TreeColumns>(m, "TreeColumns").def(nb::init<const Csr&, int>(), arg("csr"), arg("n_threads"));
    Fields<GrowOptions>(m, "GrowOptions")
        .values("min_objects", &GrowOptions::min_objects, "max_depth", &GrowOptions::max_depth, "gain_ratio",
                &GrowOptions::gain_ratio, "penalty", &GrowOptions::penalty, "confidence",
                &GrowOptions::confidence, "rules", &GrowOptions::rules);
    Fields<Forest>(m, "Forest")
        .arrays(shape("starts"), "begin", &Forest::begin)
        .arrays(shape("nodes"), "column", &Forest::column, "left", &Forest::left, "right", &Forest::right,
                "threshold", &Forest::threshold, "score", &Forest::score);
    m.def("grow_trees", &grow, arg("columns"), array("signs"), array("weights"), arg("options"),
          arg("n_threads"));
    Fields<BoostingProblem>(m, "BoostingProblem")
        .arrays(shape("labels", "examples"), "signs", &BoostingProblem::signs)
        .optional(shape("examples"), "sample_weights", &BoostingProblem::sample_weights);
    Fields<StumpOptions>(m, "StumpOptions")
        .values("n_rounds", &StumpOptions::n_rounds, "votes", &StumpOptions::votes, "together",
                &StumpOptions::together, "smoothing", &StumpOptions::smoothing);
    Fields<StumpResults>(m, "StumpResults")
        .arrays(shape("committees", "rounds"), "columns", &StumpResults::columns, "losses",
                &StumpResults::losses)
        .arrays(shape("labels", "rounds", 2), "votes", &StumpResults::votes);
    m.def("boost_stumps", &stumps, arg("csr"), arg("problem"), arg("options"), arg("results"),
          arg("n_threads"));
    Fields<RuleLists>(m, "RuleLists")
        .arrays(shape("starts"), "begin", &RuleLists::begin)
        .arrays(shape("condition_starts"), "conditions_begin", &RuleLists::conditions_begin)
        .arrays(shape("conditions"), "column", &RuleLists::column, "above", &RuleLists::above, "threshold",
                &RuleLists::threshold)
        .arrays(shape("rules"), "score", &RuleLists::score);
    m.def("score_by_rules", &score_rules, arg("csr"), arg("rules"), array("scores"), arg("n_threads"));
    m.def("score_by_trees", &score_trees, arg("csr"), arg("forest"), array("scores"), arg("n_threads"));
    Fields<TreeBoostingOptions>(m, "TreeBoostingOptions")
        .values("min_objects", &TreeBoostingOptions::min_objects, "max_depth",
                &TreeBoostingOptions::max_depth, "gain_ratio", &TreeBoostingOptions::gain_ratio, "penalty",
                &TreeBoostingOptions::penalty, "confidence", &TreeBoostingOptions::confidence, "n_rounds",
                &TreeBoostingOptions::n_rounds, "discrete", &TreeBoostingOptions::discrete, "smoothing",
                &TreeBoostingOptions::smoothing);
    m.def("boost_trees", &boost, arg("columns"), arg("problem"), arg("options"), arg("n_threads"));
}

}  // namespace widemargin
