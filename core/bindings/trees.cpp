// Python's view of decision trees and boosting.
#include "bindings/bindings.hpp"
#include "trees/forest.hpp"
#include "trees/stump_committees.hpp"

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
};

// (begin, column, left, right, threshold, n, positive) of all trees, one after the other.
using Flat =
    nb::typed<nb::tuple, nb::object, nb::object, nb::object, nb::object, nb::object, nb::object, nb::object>;

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
    return nb::borrow<Flat>(nb::make_tuple(
        owned(std::move(begin)), owned(std::move(column)), owned(std::move(left)), owned(std::move(right)),
        owned(std::move(threshold)), owned(std::move(n)), owned(std::move(positive))));
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
            std::vector<Tree> trees;
            without_gil([&] {
                trees = grow_trees(sorted, labels, options.core, options.core.confidence, n_threads,
                                   poll_signals);
            });
            return flat(trees);
        },
        columns.columns);
}

void score(const Csr& csr, const Filled<Forest>& forest, OutputMatrix<double> scores, int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        Sizes sizes;
        Forest trees = forest.fitting(sizes);
        trees.n_trees = sizes.at("starts") - 1;
        require_shape(scores, {x.n_rows, trees.n_trees}, "scores");
        without_gil([&] { score_by_trees(x, trees, scores.data(), n_threads, poll_signals); });
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

}  // namespace

void register_trees(nb::module_& m) {
    using nb::arg;
    nb::class_<TreeColumns>(m, "TreeColumns").def(nb::init<const Csr&, int>(), arg("csr"), arg("n_threads"));
    Fields<GrowOptions>(m, "GrowOptions")
        .values("min_objects", &GrowOptions::min_objects, "max_depth", &GrowOptions::max_depth, "gain_ratio",
                &GrowOptions::gain_ratio, "penalty", &GrowOptions::penalty, "confidence",
                &GrowOptions::confidence);
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
    m.def("score_by_trees", &score, arg("csr"), arg("forest"), array("scores"), arg("n_threads"));
}

}  // namespace widemargin
