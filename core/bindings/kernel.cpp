// Python's view of the kernel machines.
#include "bindings/bindings.hpp"
#include "kernel/decomposition.hpp"
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

// Labels are divided among threads; make_engine(stop) makes an engine for each thread.
template <class MakeEngine>
void solve_labels(const KernelProblem& problem, const DecompositionOptions& options,
                  const KernelSvmResults& results, int n_threads, MakeEngine&& make_engine) {
    const std::int64_t n = problem.n, size = problem.size;
    Pieces labels(problem.n_labels, 1);
    run_parallel(
        static_cast<int>(std::min<std::int64_t>(n_threads, problem.n_labels)),
        [&](int, const StopFlag& stop) {
            auto engine = make_engine(stop);
            std::vector<double> y(size), upper(size), alpha(size), s(size);
            std::int64_t label, end;
            while (!stop && labels.next(label, end)) {
                for (std::int64_t i = 0; i < size; ++i) {
                    // After the examples come the artificial ones of the stabilized hyperplane, one of each
                    // sign.
                    y[i] = i < n ? problem.signs[label * n + i] : (i == n ? 1.0 : -1.0);
                    upper[i] = i < n ? problem.upper[label * n + i] : std::numeric_limits<double>::infinity();
                    alpha[i] = problem.start ? problem.start[label * size + i] : 0.0;
                }
                double* const progress = results.progress + label * 3;
                const DecompositionReport report =
                    Decomposition(*engine, options, y.data(), upper.data(), alpha.data(), s.data(), progress)
                        .solve(stop);
                std::copy(alpha.begin(), alpha.end(), results.alpha + label * size);
                std::copy(s.begin(), s.end(), results.s + label * size);
                results.intercept[label] = report.intercept;
                results.violation[label] = report.violation;
                results.iterations[label] = report.iterations;
                results.converged[label] = report.converged;
            }
        },
        poll_signals);
}

// Returns the number of kernel rows computed.
template <typename Real, typename T>
std::int64_t train(const CsrView<T>& x, const KernelParameters& kernel, const KernelProblem& problem,
                   const KernelSvmOptions& options, const KernelSvmResults& results, int n_threads) {
    if (options.as_linear) {
        solve_labels(problem, options, results, n_threads, [&](const StopFlag& stop) {
            return std::make_unique<WeightVector<T>>(x, kernel.offset, options.kappa > 0, options.kappa,
                                                     stop);
        });
        return 0;
    }
    const Real* gram = nullptr;
    if constexpr (std::is_same_v<Real, double>) gram = problem.gram;
    KernelMatrix<T, Real> matrix(x, kernel, gram, options.kappa > 0, options.kappa, options.cache_bytes);
    const int labels = static_cast<int>(problem.n_labels);
    if (matrix.keeps_all()) {
        const int row_threads = std::max(n_threads / labels, 1);
        solve_labels(problem, options, results, n_threads, [&](const StopFlag& stop) {
            return std::make_unique<KeptRows<T, Real>>(matrix, row_threads, stop);
        });
    } else {
        // With a preference for cached rows, the size of the cache changes the path, so it must not depend on
        // the number of threads: labels are solved one after the other, with all memory and all threads for
        // rows.
        const int label_threads = options.prefer_cached ? 1 : std::max(std::min(n_threads, labels), 1);
        const int row_threads = std::max(n_threads / label_threads, 1);
        solve_labels(problem, options, results, label_threads, [&](const StopFlag& stop) {
            return std::make_unique<CachedRows<T, Real>>(matrix, options.cache_bytes / label_threads,
                                                         options.working_set, row_threads, stop);
        });
    }
    return matrix.rows_computed();
}

// Rows are kept in double precision: single precision would lose more than certificates allow.
template <typename T>
void leave_out(const CsrView<T>& x, const KernelParameters& kernel, const LeftOutTask& task,
               const LeftOutOptions& options, bool as_linear, std::int64_t cache_bytes, int n_threads) {
    const double kappa = options.kappa;
    const auto run = [&](auto&& make_engine) {
        leave_one_out_kernel(task, options, n_threads, make_engine, poll_signals);
    };
    if (as_linear) {
        run([&](const StopFlag& stop) {
            return std::make_unique<WeightVector<T>>(x, kernel.offset, kappa > 0, kappa, stop);
        });
        return;
    }
    KernelMatrix<T, double> matrix(x, kernel, task.gram, kappa > 0, kappa, cache_bytes);
    if (matrix.keeps_all()) {
        run([&](const StopFlag& stop) { return std::make_unique<KeptRows<T, double>>(matrix, 1, stop); });
    } else {
        run([&](const StopFlag& stop) {
            return std::make_unique<CachedRows<T, double>>(matrix, cache_bytes / n_threads,
                                                           options.method.working_set, 1, stop);
        });
    }
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

std::int64_t train_kernel_svm(const Csr& csr, const Filled<KernelParameters>& kernel,
                              const Filled<KernelProblem>& problem, const Filled<KernelSvmOptions>& options,
                              const Filled<KernelSvmResults>& results, int n_threads) {
    require_threads(n_threads);
    return csr.visit([&](const auto& x) {
        const auto task = checked(x.n_rows, options.core.kappa, problem, results);
        if (options.core.single_precision && task.first.gram)
            throw nb::value_error("a kernel matrix that is given has double precision");
        std::int64_t rows = 0;
        const auto solve = [&](auto real) {
            return train<decltype(real)>(x, kernel.core, task.first, options.core, task.second, n_threads);
        };
        without_gil([&] { rows = options.core.single_precision ? solve(0.0F) : solve(0.0); });
        return rows;
    });
}

void leave_one_out(const Csr& csr, const Filled<KernelParameters>& kernel,
                   const Filled<KernelProblem>& problem, const Filled<KernelSvmOptions>& options,
                   const Filled<LeftOutAccuracy>& accuracy, const Filled<LeftOutResults>& results,
                   int n_threads) {
    require_threads(n_threads);
    csr.visit([&](const auto& x) {
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
        without_gil([&] {
            leave_out(x, kernel.core, task, left_out, method.as_linear, method.cache_bytes, n_threads);
        });
    });
}

// out (rows of a x rows of b): kernel values between two sets of rows over the same columns.
void kernel_block(const Csr& rows, const Csr& columns, const Filled<KernelParameters>& kernel,
                  OutputMatrix<double> out, int n_threads) {
    const CsrView<double>&a = rows.of_type<double>(), &b = columns.of_type<double>();
    const std::int64_t n_a = a.n_rows, n_b = b.n_rows;
    require_threads(n_threads);
    require_shape(out, {n_a, n_b}, "out");
    if (a.n_columns != b.n_columns) throw nb::value_error("the matrices differ in their columns");
    without_gil([&] {
        const InvertedIndex<double> index(b, kernel.core);
        Pieces pieces(n_a, 16);
        run_parallel(
            static_cast<int>(std::max<std::int64_t>(std::min<std::int64_t>(n_threads, (n_a + 15) / 16), 1)),
            [&](int, const StopFlag& stop) {
                std::vector<double> sums(n_b);
                std::int64_t begin, end;
                while (!stop && pieces.next(begin, end)) {
                    for (std::int64_t i = begin; i < end && !stop; ++i) {
                        index.values(a.row(i), nullptr, n_b, sums.data(), out.data() + i * n_b);
                    }
                }
            },
            poll_signals);
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
        .arrays(shape("labels", "variables"), "alpha", &KernelSvmResults::alpha, "s", &KernelSvmResults::s)
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
        .arrays(shape(1), "progress", &LeftOutResults::progress);
    m.def("leave_one_out_kernel", &leave_one_out, arg("csr"), arg("kernel"), arg("problem"), arg("options"),
          arg("accuracy"), arg("results"), arg("n_threads"));
    m.def("kernel_block", &kernel_block, arg("rows"), arg("columns"), arg("kernel"), arg("out").noconvert(),
          arg("n_threads"));
}

}  // namespace widemargin
