// Python's view of the kernel machines.
#include "bindings/bindings.hpp"
#include "kernel/decomposition.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_rounding.hpp"
#include "left_out/leave_one_out_kernel.hpp"

namespace widemargin {

namespace {

struct KernelSvmOptions : DecompositionOptions {
    double kappa;           // above 0: the stabilized hyperplane
    bool as_linear;         // use a weight vector instead of kernel values
    bool single_precision;  // of the kernel values that are kept
    std::int64_t cache_bytes;
};

// All arrays belong to the caller; L labels.
struct KernelSvmResults {
    double *alpha, *s;              // L x size
    std::int64_t* selections;       // L x size: how often each was in a working set
    double* progress;               // L x 3, read by another thread
    double *intercept, *violation;  // L
    std::int64_t* iterations;       // L
    std::uint8_t* converged;        // L
};

// The required accuracy of leave-one-out scores, and properties of the kernel. certify: whether it is
// positive semi-definite. For a precomputed matrix, that holds up to `ridge` times its diagonal, and
// `asymmetry` is its distance from a symmetric one; both are relative to sqrt(K_ii K_jj).
struct LeftOutAccuracy {
    double accuracy;  // infinity: only the signs have to be certain
    bool certify;
    double asymmetry, ridge;
};

// Trains the machine of one label.
template <class Engine>
void solve_label(Engine& engine, const KernelProblem& problem, const DecompositionOptions& options,
                 const KernelSvmResults& results, std::int64_t label, const StopFlag& stop) {
    const std::int64_t n = problem.n, size = problem.size;
    std::vector<double> y(size), upper(size);
    double *const alpha = results.alpha + label * size, *const s = results.s + label * size;
    for (std::int64_t i = 0; i < size; ++i) {
        // After the examples come the artificial ones of the stabilized hyperplane, one of each sign.
        y[i] = i < n ? problem.signs[label * n + i] : (i == n ? 1.0 : -1.0);
        upper[i] = i < n ? problem.upper[label * n + i] : std::numeric_limits<double>::infinity();
        alpha[i] = problem.start ? problem.start[label * size + i] : 0.0;
    }
    Decomposition machine(engine, options, y.data(), upper.data(), alpha, s, results.progress + label * 3);
    const DecompositionReport report = machine.solve(stop);
    std::copy_n(machine.selections().begin(), size, results.selections + label * size);
    results.intercept[label] = report.intercept;
    results.violation[label] = report.violation;
    results.iterations[label] = report.iterations;
    results.converged[label] = report.converged;
}

template <class Results>
std::pair<KernelProblem, Results> checked(std::int64_t n, double kappa, const Filled<KernelProblem>& problem,
                                          const Filled<Results>& results) {
    const std::int64_t size = n + (kappa > 0 ? 2 : 0);
    Sizes sizes{{"examples", n}, {"variables", size}};
    KernelProblem fits = problem.fitting(sizes);
    fits.n_labels = sizes.at("labels");
    fits.n = n;
    fits.size = size;
    return {fits, results.fitting(sizes)};
}

EngineChoice engine_for(const KernelProblem& problem, const KernelSvmOptions& options, int n_threads,
                        std::int64_t n_tasks) {
    return {options.as_linear,   problem.gram, options.kappa, options.cache_bytes,
            options.working_set, n_threads,    n_tasks,       options.prefer_cached};
}

std::int64_t train_kernel_svm(const Csr& csr, const Filled<KernelParameters>& kernel,
                              const Filled<KernelProblem>& problem, const Filled<KernelSvmOptions>& options,
                              const Filled<KernelSvmResults>& results, int n_threads) {
    return csr.visit(n_threads, [&](const auto& x) {
        const auto task = checked(x.n_rows, options.core.kappa, problem, results);
        if (options.core.single_precision && task.first.gram)
            throw nb::value_error("a kernel matrix that is given has double precision");
        std::int64_t rows = 0;
        const KernelSvmOptions& method = options.core;
        // If cached rows are preferred, the size of the cache steers the path of the solver.
        const EngineChoice engine = engine_for(task.first, method, n_threads, task.first.n_labels);
        const auto solve = [&](auto real) {
            return with_engine<decltype(real)>(x, kernel.core, engine, [&](int threads, auto&& make_engine) {
                solve_labels(
                    task.first.n_labels, threads, make_engine,
                    [&](auto& own, std::int64_t label, const StopFlag& stop) {
                        solve_label(own, task.first, method, task.second, label, stop);
                    },
                    poll_signals);
            });
        };
        without_gil([&] { rows = options.core.single_precision ? solve(0.0F) : solve(0.0); });
        return rows;
    });
}

void leave_one_out(const Csr& csr, const Filled<KernelParameters>& kernel,
                   const Filled<KernelProblem>& problem, const Filled<KernelSvmOptions>& options,
                   const Filled<LeftOutAccuracy>& accuracy, const Filled<LeftOutResults>& results,
                   int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        const KernelSvmOptions& method = options.core;
        const LeftOutAccuracy& wanted = accuracy.core;
        const auto checked_arrays = checked(x.n_rows, method.kappa, problem, results);
        const LeftOutTask task{checked_arrays.first, checked_arrays.second};
        if (!task.start) throw nb::value_error("start: the solution on all examples is missing");
        LeftOutOptions left_out{method,
                                method.kappa > 0  ? Hyperplane::stabilized
                                : method.equality ? Hyperplane::biased
                                                  : Hyperplane::unbiased,
                                method.kappa,
                                kernel.core.offset > 0,
                                wanted.accuracy,
                                wanted.certify,
                                method.cache_bytes,
                                !wanted.certify ? 0.0
                                : task.gram     ? wanted.asymmetry + 4 * kUnit
                                                : kernel_rounding(kernel.core, x),
                                wanted.ridge};
        left_out.method.row_values = most_values(x);
        // Rows are kept in double precision: what single precision loses would be more than certificates can
        // spare.
        without_gil([&] {
            with_engine<double>(x, kernel.core, engine_for(task, method, n_threads, n_threads),
                                [&](int threads, auto&& make_engine) {
                                    leave_one_out_kernel(task, left_out, threads, make_engine, poll_signals);
                                });
        });
    });
}

// out (rows of a x rows of b): kernel values between two sets of rows over the same columns.
void kernel_values(const Csr& rows, const Csr& columns, const Filled<KernelParameters>& kernel,
                   OutputMatrix<double> out, int n_threads) {
    rows.visit(n_threads, [&](const auto& a) {
        columns.visit(n_threads, [&](const auto& b) {
            require_shape(out, {a.n_rows, b.n_rows}, "out");
            if (a.n_columns != b.n_columns) throw nb::value_error("the matrices differ in their columns");
            without_gil([&] { kernel_block(a, b, kernel.core, out.data(), n_threads, poll_signals); });
        });
    });
}

// out (n x n): kernel values between the rows of one matrix.
void kernel_matrix(const Csr& rows, const Filled<KernelParameters>& kernel, OutputMatrix<double> out,
                   int n_threads) {
    rows.visit(n_threads, [&](const auto& x) {
        require_shape(out, {x.n_rows, x.n_rows}, "out");
        without_gil([&] { kernel_gram(x, kernel.core, out.data(), n_threads, poll_signals); });
    });
}

}  // namespace

void register_kernel(nb::module_& m) {
    using nb::arg;
    nb::enum_<KernelKind>(m, "KernelKind")
        .value("linear", KernelKind::linear)
        .value("polynomial", KernelKind::polynomial)
        .value("rbf", KernelKind::rbf)
        .value("sigmoid", KernelKind::sigmoid)
        .value("chi2", KernelKind::chi2);
    nb::enum_<Selection>(m, "Selection")
        .value("steepest", Selection::steepest)
        .value("second_order", Selection::second_order)
        .value("random", Selection::random);
    Fields<KernelParameters>(m, "KernelParameters")
        .values("kind", &KernelParameters::kind, "gamma", &KernelParameters::gamma, "degree",
                &KernelParameters::degree, "coef0", &KernelParameters::coef0, "power",
                &KernelParameters::power, "offset", &KernelParameters::offset);
    Fields<KernelProblem>(m, "KernelProblem")
        .arrays(shape("labels", "examples"), "signs", &KernelProblem::signs, "upper", &KernelProblem::upper)
        .optional(shape("labels", "variables"), "start", &KernelProblem::start)
        .optional(shape("examples", "examples"), "gram", &KernelProblem::gram);
    using Options = KernelSvmOptions;
    Fields<Options>(m, "KernelSvmOptions")
        .values("equality", &Options::equality, "working_set", &Options::working_set, "selection",
                &Options::selection, "prefer_cached", &Options::prefer_cached, "shrinking",
                &Options::shrinking, "shrink_history", &Options::shrink_history, "shrink_threshold",
                &Options::shrink_threshold, "tol", &Options::tol, "max_iterations", &Options::max_iterations,
                "seed", &Options::seed, "kappa", &Options::kappa, "as_linear", &Options::as_linear,
                "single_precision", &Options::single_precision, "cache_bytes", &Options::cache_bytes);
    Fields<KernelSvmResults>(m, "KernelSvmResults")
        .arrays(shape("labels", "variables"), "alpha", &KernelSvmResults::alpha, "s", &KernelSvmResults::s,
                "selections", &KernelSvmResults::selections)
        .arrays(shape("labels", 3), "progress", &KernelSvmResults::progress)
        .arrays(shape("labels"), "intercept", &KernelSvmResults::intercept, "violation",
                &KernelSvmResults::violation, "iterations", &KernelSvmResults::iterations, "converged",
                &KernelSvmResults::converged);
    m.def("train_kernel_svm", &train_kernel_svm, arg("csr"), arg("kernel"), arg("problem"), arg("options"),
          arg("results"), arg("n_threads"));

    Fields<LeftOutAccuracy>(m, "LeftOutAccuracy")
        .values("accuracy", &LeftOutAccuracy::accuracy, "certify", &LeftOutAccuracy::certify, "asymmetry",
                &LeftOutAccuracy::asymmetry, "ridge", &LeftOutAccuracy::ridge);
    Fields<LeftOutResults>(m, "LeftOutResults")
        .arrays(shape("labels", "examples"), "scores", &LeftOutResults::scores, "accuracy",
                &LeftOutResults::accuracy)
        .arrays(shape("labels"), "retrained", &LeftOutResults::retrained, "unstable",
                &LeftOutResults::unstable, "iterations", &LeftOutResults::iterations)
        .arrays(shape(1), "progress", &LeftOutResults::progress)
        .optional(shape("labels", "examples"), "asked", &LeftOutResults::asked);
    m.def("leave_one_out_kernel", &leave_one_out, arg("csr"), arg("kernel"), arg("problem"), arg("options"),
          arg("accuracy"), arg("results"), arg("n_threads"));
    m.def("kernel_block", &kernel_values, arg("rows"), arg("columns"), arg("kernel"), array("out"),
          arg("n_threads"));
    m.def("kernel_gram", &kernel_matrix, arg("rows"), arg("kernel"), array("out"), arg("n_threads"));
}

}  // namespace widemargin
