// Python's view of the linear support vector machines and of logistic regression.
#include "bindings/bindings.hpp"
#include "left_out/leave_one_out.hpp"
#include "linear/dual_cd.hpp"
#include "linear/l1_svm.hpp"
#include "linear/label_weighted.hpp"
#include "linear/logistic.hpp"
#include "linear/multivariate/multivariate.hpp"

namespace widemargin {

namespace {

// Joins the problem and the results to one task.
template <class Task, class Problem = LinearProblem, class Results, class View>
Task checked_task(const View& x, const Filled<Problem>& problem, const Filled<Results>& results) {
    Sizes sizes{{"examples", x.n_rows}, {"columns", x.n_columns}};
    Task task{problem.fitting(sizes), results.fitting(sizes)};
    task.n_labels = sizes.at("labels");
    return task;
}

void train(const Csr& csr, const Filled<LinearProblem>& problem, const Filled<LinearSvmOptions>& options,
           const Filled<LinearSvmResults>& results, int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        const auto task = checked_task<LinearSvmTask>(x, problem, results);
        without_gil([&] { train_linear_svm(x, task, options.core, n_threads, poll_signals); });
    });
}

void train_weighted(const Csr& csr, const Filled<LinearProblem>& problem, InputMatrix<float> squared_factors,
                    const Filled<LinearSvmOptions>& options, const Filled<LinearSvmResults>& results,
                    int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        const auto task = checked_task<LinearSvmTask>(x, problem, results);
        require_shape(squared_factors, {x.n_columns, task.n_labels}, "squared_factors");
        without_gil([&] {
            train_label_weighted(x, squared_factors.data(), task, options.core, n_threads, poll_signals);
        });
    });
}

void score_factored(const Csr& csr, InputMatrix<double> weights, InputMatrix<float> squared_factors,
                    Input<double> intercept, OutputMatrix<double> scores, int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        const std::int64_t n_labels = weights.shape(1);
        require_shape(weights, {x.n_columns, n_labels}, "weights");
        require_shape(squared_factors, {x.n_columns, n_labels}, "squared_factors");
        require_size(intercept, n_labels, "intercept");
        require_shape(scores, {x.n_rows, n_labels}, "scores");
        const FactoredWeights rules{weights.data(), squared_factors.data(), intercept.data(), n_labels};
        without_gil([&] { score_factored_rows(x, rules, scores.data(), n_threads, poll_signals); });
    });
}

void train_regression(const Csr& csr, const Filled<LinearProblem>& problem,
                      const Filled<LogisticOptions>& options, const Filled<LogisticResults>& results,
                      int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        const auto task = checked_task<LogisticTask>(x, problem, results);
        without_gil([&] { train_logistic(x, task, options.core, n_threads, poll_signals); });
    });
}

void train_l1(const Csr& columns, const Filled<L1Problem>& problem, const Filled<L1Options>& options,
              const Filled<L1Results>& results, int n_threads) {
    columns.visit(n_threads, [&](const auto& x) {
        Sizes sizes{{"examples", x.n_columns}, {"columns_and_bias", x.n_rows + 1}};
        L1Task task{problem.fitting(sizes), results.fitting(sizes)};
        task.n_labels = sizes.at("labels");
        without_gil([&] { train_l1_svm(x, task, options.core, n_threads, poll_signals); });
    });
}

void train_measures(const Csr& csr, const Filled<MultivariateProblem>& problem,
                    const Filled<MultivariateOptions>& options, const Filled<MultivariateResults>& results,
                    int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        const auto task = checked_task<MultivariateTask, MultivariateProblem>(x, problem, results);
        without_gil([&] { train_multivariate(x, task, options.core, n_threads, poll_signals); });
    });
}

void leave_out(const Csr& csr, const Filled<LinearProblem>& problem,
               const Filled<LeaveOneOutOptions>& options, const Filled<LeaveOneOutResults>& results,
               int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        const auto task = checked_task<LeaveOneOutTask>(x, problem, results);
        if (!task.start) throw nb::value_error("start: the solution on all examples is missing");
        without_gil([&] { leave_one_out(x, task, options.core, n_threads, poll_signals); });
    });
}

}  // namespace

void register_linear(nb::module_& m) {
    using nb::arg;
    using Problem = LinearProblem;
    Fields<Problem>(m, "LinearProblem")
        .arrays(shape("labels", "examples"), "signs", &Problem::signs)
        .arrays(shape("labels"), "cost_positive", &Problem::cost_positive, "cost_negative",
                &Problem::cost_negative)
        .optional(shape("examples"), "sample_weights", &Problem::sample_weights)
        .optional(shape("labels", "examples"), "start", &Problem::start);
    Fields<LinearSvmOptions>(m, "LinearSvmOptions")
        .values("bias", &LinearSvmOptions::bias, "squared_loss", &LinearSvmOptions::squared_loss,
                "stop_on_gap", &LinearSvmOptions::stop_on_gap, "tol", &LinearSvmOptions::tol, "max_passes",
                &LinearSvmOptions::max_passes, "seed", &LinearSvmOptions::seed);
    Fields<LinearSvmResults>(m, "LinearSvmResults")
        .arrays(shape("columns", "labels"), "coef", &LinearSvmResults::coef)
        .arrays(shape("labels"), "intercept", &LinearSvmResults::intercept, "objective",
                &LinearSvmResults::objective, "gap", &LinearSvmResults::gap, "passes",
                &LinearSvmResults::passes, "converged", &LinearSvmResults::converged)
        .arrays(shape("labels", "examples"), "alpha", &LinearSvmResults::alpha, "xi", &LinearSvmResults::xi)
        .arrays(shape(1), "labels_done", &LinearSvmResults::labels_done);
    m.def("train_linear_svm", &train, arg("csr"), arg("problem"), arg("options"), arg("results"),
          arg("n_threads"));

    m.def("train_label_weighted_svm", &train_weighted, arg("csr"), arg("problem"), array("squared_factors"),
          arg("options"), arg("results"), arg("n_threads"));
    m.def("score_factored_rows", &score_factored, arg("csr"), array("weights"), array("squared_factors"),
          array("intercept"), array("scores"), arg("n_threads"));

    Fields<LogisticOptions>(m, "LogisticOptions")
        .values("bias", &LogisticOptions::bias, "tol", &LogisticOptions::tol, "max_passes",
                &LogisticOptions::max_passes, "seed", &LogisticOptions::seed);
    Fields<LogisticResults>(m, "LogisticResults")
        .arrays(shape("columns", "labels"), "coef", &LogisticResults::coef)
        .arrays(shape("labels"), "intercept", &LogisticResults::intercept, "objective",
                &LogisticResults::objective, "gap", &LogisticResults::gap, "passes", &LogisticResults::passes,
                "converged", &LogisticResults::converged)
        .arrays(shape("labels", "examples"), "alpha", &LogisticResults::alpha, "xi", &LogisticResults::xi)
        .arrays(shape(1), "labels_done", &LogisticResults::labels_done);
    m.def("train_logistic", &train_regression, arg("csr"), arg("problem"), arg("options"), arg("results"),
          arg("n_threads"));

    Fields<L1Problem>(m, "L1Problem")
        .arrays(shape("labels", "examples"), "signs", &L1Problem::signs)
        .arrays(shape("labels"), "cost_positive", &L1Problem::cost_positive, "cost_negative",
                &L1Problem::cost_negative)
        .optional(shape("examples"), "sample_weights", &L1Problem::sample_weights)
        .optional(shape("labels", "columns_and_bias"), "start", &L1Problem::start);
    Fields<L1Options>(m, "L1Options")
        .values("bias", &L1Options::bias, "tol", &L1Options::tol, "max_passes", &L1Options::max_passes,
                "seed", &L1Options::seed);
    Fields<L1Results>(m, "L1Results")
        .arrays(shape("labels", "columns_and_bias"), "weights", &L1Results::weights)
        .arrays(shape("labels"), "objective", &L1Results::objective, "gap", &L1Results::gap, "passes",
                &L1Results::passes, "converged", &L1Results::converged)
        .arrays(shape(1), "labels_done", &L1Results::labels_done);
    m.def("train_l1_svm", &train_l1, arg("columns"), arg("problem"), arg("options"), arg("results"),
          arg("n_threads"));

    using Measured = MultivariateResults;
    Fields<MultivariateProblem>(m, "MultivariateProblem")
        .arrays(shape("labels", "examples"), "signs", &MultivariateProblem::signs)
        .arrays(shape("labels"), "cost", &MultivariateProblem::cost)
        .optional(shape("examples"), "copies", &MultivariateProblem::copies);
    Fields<MultivariateOptions>(m, "MultivariateOptions")
        .values("bias", &MultivariateOptions::bias, "f1", &MultivariateOptions::f1, "tol",
                &MultivariateOptions::tol, "max_rounds", &MultivariateOptions::max_rounds);
    Fields<Measured>(m, "MultivariateResults")
        .arrays(shape("labels", "columns"), "weights", &Measured::weights)
        .arrays(shape("labels"), "intercept", &Measured::intercept, "objective", &Measured::objective, "gap",
                &Measured::gap, "rounds", &Measured::rounds, "converged", &Measured::converged)
        .arrays(shape(1), "labels_done", &Measured::labels_done);
    m.def("train_multivariate", &train_measures, arg("csr"), arg("problem"), arg("options"), arg("results"),
          arg("n_threads"));

    Fields<LeaveOneOutOptions>(m, "LeaveOneOutOptions")
        .values("bias", &LeaveOneOutOptions::bias, "squared_loss", &LeaveOneOutOptions::squared_loss,
                "accuracy", &LeaveOneOutOptions::accuracy, "retrain", &LeaveOneOutOptions::retrain,
                "max_rounds", &LeaveOneOutOptions::max_rounds, "seed", &LeaveOneOutOptions::seed);
    Fields<LeaveOneOutResults>(m, "LeaveOneOutResults")
        .arrays(shape("labels", "examples"), "scores", &LeaveOneOutResults::scores, "accuracy",
                &LeaveOneOutResults::accuracy)
        .arrays(shape("labels"), "retrained", &LeaveOneOutResults::retrained)
        .arrays(shape(1), "progress", &LeaveOneOutResults::progress)
        .optional(shape("labels", "examples"), "asked", &LeaveOneOutResults::asked);
    m.def("leave_one_out_linear", &leave_out, arg("csr"), arg("problem"), arg("options"), arg("results"),
          arg("n_threads"));
}

}  // namespace widemargin
