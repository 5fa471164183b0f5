// Python's view of the kernel machines.
#include "bindings/bindings.hpp"
#include "kernel/decomposition.hpp"
#include "kernel/kernel_rounding.hpp"
#include "left_out/leave_one_out_kernel.hpp"

namespace widemargin {

struct DecompositionArrays {
    InputMatrix<std::int8_t> signs;
    InputMatrix<double> upper;
    OutputMatrix<double> alpha, s, progress;
    Output<double> intercept, violation;
    Output<std::int64_t> iterations;
    Output<std::uint8_t> converged;
};

// Labels are shared out to threads; make_engine(stop) gives each thread its own.
template <class MakeEngine>
void solve_labels(const DecompositionArrays& a, const DecompositionOptions& options, int n_threads,
                  std::int64_t size, MakeEngine&& make_engine) {
    const std::int64_t n_labels = a.signs.shape(0), n = a.signs.shape(1);
    Pieces labels(n_labels, 1);
    run_parallel(
        static_cast<int>(std::min<std::int64_t>(n_threads, n_labels)),
        [&](int, const StopFlag& stop) {
            auto engine = make_engine(stop);
            std::vector<double> y(size), upper(size), alpha(size), s(size);
            std::int64_t label, end;
            while (!stop && labels.next(label, end)) {
                for (std::int64_t i = 0; i < size; ++i) {
                    // Behind the examples: the artificial ones of the stabilized hyperplane, one of each
                    // sign.
                    y[i] = i < n ? a.signs.data()[label * n + i] : (i == n ? 1.0 : -1.0);
                    upper[i] =
                        i < n ? a.upper.data()[label * n + i] : std::numeric_limits<double>::infinity();
                    alpha[i] = a.alpha.data()[label * size + i];
                }
                double* const progress = a.progress.data() + label * 3;
                const DecompositionReport report =
                    Decomposition(*engine, options, y.data(), upper.data(), alpha.data(), s.data(), progress)
                        .solve(stop);
                std::copy(alpha.begin(), alpha.end(), a.alpha.data() + label * size);
                std::copy(s.begin(), s.end(), a.s.data() + label * size);
                a.intercept.data()[label] = report.intercept;
                a.violation.data()[label] = report.violation;
                a.iterations.data()[label] = report.iterations;
                a.converged.data()[label] = report.converged;
            }
        },
        poll_signals);
}

// kind: the number of a KernelKind; -1: `gram` is the kernel matrix. alpha and s have two more columns than
// signs when `kappa` > 0 (stabilized). `start`: alpha holds where to begin. Returns the number of kernel rows
// computed.
template <typename T, typename Real>
std::int64_t train_kernel_svm(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                              std::int64_t n_columns, InputMatrix<Real> gram, int kind, double gamma,
                              double degree, double coef0, double power, double offset, double kappa,
                              bool as_linear, InputMatrix<std::int8_t> signs, InputMatrix<double> upper,
                              bool equality, std::int64_t working_set, int selection, bool prefer_cached,
                              bool shrinking, std::int64_t shrink_history, double shrink_threshold,
                              double tol, std::int64_t max_iterations, std::uint64_t seed,
                              std::int64_t cache_bytes, int n_threads, OutputMatrix<double> alpha,
                              OutputMatrix<double> s, OutputMatrix<double> progress, Output<double> intercept,
                              Output<double> violation, Output<std::int64_t> iterations,
                              Output<std::uint8_t> converged) {
    const CsrView<T> x = csr_view(indptr, indices, values, n_columns);
    const std::int64_t n = x.n_rows, n_labels = signs.shape(0), size = n + (kappa > 0 ? 2 : 0);
    require_threads(n_threads);
    if (kind < 0) require_shape(gram, n, n, "gram");
    require_shape(signs, n_labels, n, "signs");
    require_shape(upper, n_labels, n, "upper");
    require_shape(alpha, n_labels, size, "alpha");
    require_shape(s, n_labels, size, "s");
    require_shape(progress, n_labels, 3, "progress");
    require_size(intercept, n_labels, "intercept");
    require_size(violation, n_labels, "violation");
    require_size(iterations, n_labels, "iterations");
    require_size(converged, n_labels, "converged");
    const KernelParameters kernel{KernelKind(kind < 0 ? 0 : kind), gamma, degree, coef0, power, offset};
    const DecompositionOptions options{
        equality,         working_set, Selection(selection), prefer_cached, shrinking, shrink_history,
        shrink_threshold, tol,         max_iterations,       seed};
    const DecompositionArrays arrays{signs,     upper,     alpha,      s,        progress,
                                     intercept, violation, iterations, converged};
    std::int64_t rows = 0;
    without_gil([&] {
        if (as_linear) {
            solve_labels(arrays, options, n_threads, size, [&](const StopFlag& stop) {
                return std::make_unique<WeightVector<T>>(x, offset, kappa > 0, kappa, stop);
            });
            return;
        }
        KernelMatrix<T, Real> matrix(x, kernel, kind < 0 ? gram.data() : nullptr, kappa > 0, kappa,
                                     cache_bytes);
        const int labels = static_cast<int>(n_labels);
        if (matrix.keeps_all()) {
            const int row_threads = std::max(n_threads / labels, 1);
            solve_labels(arrays, options, n_threads, matrix.size(), [&](const StopFlag& stop) {
                return std::make_unique<KeptRows<T, Real>>(matrix, row_threads, stop);
            });
        } else {
            // With a preference for cached rows the size of a cache steers the path, so that it must not
            // depend on the number of threads: one label after the other, with all the memory and all threads
            // for rows.
            const int label_threads = prefer_cached ? 1 : std::max(std::min(n_threads, labels), 1);
            const int row_threads = std::max(n_threads / label_threads, 1);
            solve_labels(arrays, options, label_threads, matrix.size(), [&](const StopFlag& stop) {
                return std::make_unique<CachedRows<T, Real>>(matrix, cache_bytes / label_threads, working_set,
                                                             row_threads, stop);
            });
        }
        rows = matrix.rows_computed();
    });
    return rows;
}

template <typename T, typename Real>
void register_train_kernel_svm(nb::module_& m, const char* name) {
    using nb::arg;
    m.def(name, &train_kernel_svm<T, Real>, arg("indptr").noconvert(), arg("indices").noconvert(),
          arg("values").noconvert(), arg("n_columns"), arg("gram").noconvert(), arg("kind"), arg("gamma"),
          arg("degree"), arg("coef0"), arg("power"), arg("offset"), arg("kappa"), arg("as_linear"),
          arg("signs").noconvert(), arg("upper").noconvert(), arg("equality"), arg("working_set"),
          arg("selection"), arg("prefer_cached"), arg("shrinking"), arg("shrink_history"),
          arg("shrink_threshold"), arg("tol"), arg("max_iterations"), arg("seed"), arg("cache_bytes"),
          arg("n_threads"), arg("alpha").noconvert(), arg("s").noconvert(), arg("progress").noconvert(),
          arg("intercept").noconvert(), arg("violation").noconvert(), arg("iterations").noconvert(),
          arg("converged").noconvert());
}

// The arguments of train_kernel_svm; alpha (labels x size) is where the solution is near, feasible. accuracy:
// of the scores, infinity for their signs. certify: whether the kernel is positive semi-definite; of a
// precomputed matrix, up to `ridge` times its diagonal, and `asymmetry` is how far it is from symmetric, both
// of sqrt(K_ii K_jj).
template <typename T, typename Real>
void left_out(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
              std::int64_t n_columns, InputMatrix<Real> gram, int kind, double gamma, double degree,
              double coef0, double power, double offset, double kappa, bool as_linear,
              InputMatrix<std::int8_t> signs, InputMatrix<double> upper, bool equality,
              std::int64_t working_set, int selection, std::int64_t shrink_history, double tol,
              std::int64_t max_iterations, std::uint64_t seed, std::int64_t cache_bytes, int n_threads,
              InputMatrix<double> alpha, double accuracy, bool certify, double asymmetry, double ridge,
              OutputMatrix<double> scores, OutputMatrix<double> accuracies, Output<std::int64_t> retrained,
              Output<std::int64_t> unstable, Output<std::int64_t> iterations, Output<std::int64_t> progress) {
    const CsrView<T> x = csr_view(indptr, indices, values, n_columns);
    const std::int64_t n = x.n_rows, n_labels = signs.shape(0), size = n + (kappa > 0 ? 2 : 0);
    require_threads(n_threads);
    if (kind < 0) require_shape(gram, n, n, "gram");
    require_shape(signs, n_labels, n, "signs");
    require_shape(upper, n_labels, n, "upper");
    require_shape(alpha, n_labels, size, "alpha");
    require_shape(scores, n_labels, n, "scores");
    require_shape(accuracies, n_labels, n, "accuracies");
    require_size(retrained, n_labels, "retrained");
    require_size(unstable, n_labels, "unstable");
    require_size(iterations, n_labels, "iterations");
    require_size(progress, 1, "progress");
    const KernelParameters kernel{KernelKind(kind < 0 ? 0 : kind), gamma, degree, coef0, power, offset};
    // Shrinking pays where rows cost nothing and looking at all examples does. What is cached must not steer
    // the path: it depends on who came before.
    const LeftOutOptions options{
        {equality, working_set, Selection(selection), false, as_linear, shrink_history, 0.0, tol,
         max_iterations, seed, most_values(x)},
        kappa > 0 ? Hyperplane::stabilized : (equality ? Hyperplane::biased : Hyperplane::unbiased),
        kappa,
        offset > 0,
        accuracy,
        certify,
        cache_bytes,
        !certify ? 0.0 : (kind < 0 ? asymmetry + 4 * kUnit : kernel_rounding(kernel, x)),
        ridge};
    const LeftOutTask task{std::int64_t(signs.shape(0)),
                           n,
                           size,
                           signs.data(),
                           upper.data(),
                           alpha.data(),
                           scores.data(),
                           accuracies.data(),
                           retrained.data(),
                           unstable.data(),
                           iterations.data(),
                           progress.data()};
    without_gil([&] {
        if (as_linear) {
            leave_one_out_kernel(
                task, options, n_threads,
                [&](const StopFlag& stop) {
                    return std::make_unique<WeightVector<T>>(x, offset, kappa > 0, kappa, stop);
                },
                poll_signals);
            return;
        }
        KernelMatrix<T, Real> matrix(x, kernel, kind < 0 ? gram.data() : nullptr, kappa > 0, kappa,
                                     cache_bytes);
        if (matrix.keeps_all()) {
            leave_one_out_kernel(
                task, options, n_threads,
                [&](const StopFlag& stop) { return std::make_unique<KeptRows<T, Real>>(matrix, 1, stop); },
                poll_signals);
        } else {
            leave_one_out_kernel(
                task, options, n_threads,
                [&](const StopFlag& stop) {
                    return std::make_unique<CachedRows<T, Real>>(matrix, cache_bytes / n_threads, working_set,
                                                                 1, stop);
                },
                poll_signals);
        }
    });
}

template <typename T, typename Real>
void register_leave_one_out(nb::module_& m) {
    using nb::arg;
    m.def("leave_one_out_kernel", &left_out<T, Real>, arg("indptr").noconvert(), arg("indices").noconvert(),
          arg("values").noconvert(), arg("n_columns"), arg("gram").noconvert(), arg("kind"), arg("gamma"),
          arg("degree"), arg("coef0"), arg("power"), arg("offset"), arg("kappa"), arg("as_linear"),
          arg("signs").noconvert(), arg("upper").noconvert(), arg("equality"), arg("working_set"),
          arg("selection"), arg("shrink_history"), arg("tol"), arg("max_iterations"), arg("seed"),
          arg("cache_bytes"), arg("n_threads"), arg("alpha").noconvert(), arg("accuracy"), arg("certify"),
          arg("asymmetry"), arg("ridge"), arg("scores").noconvert(), arg("accuracies").noconvert(),
          arg("retrained").noconvert(), arg("unstable").noconvert(), arg("iterations").noconvert(),
          arg("progress").noconvert());
}

// out (rows of a x rows of b): kernel values between two sets of rows over the same columns.
template <typename T>
void kernel_block(Input<std::int64_t> a_indptr, Input<std::int32_t> a_indices, Input<T> a_values,
                  Input<std::int64_t> b_indptr, Input<std::int32_t> b_indices, Input<T> b_values,
                  std::int64_t n_columns, int kind, double gamma, double degree, double coef0, double power,
                  double offset, int n_threads, OutputMatrix<double> out) {
    const CsrView<T> a = csr_view(a_indptr, a_indices, a_values, n_columns);
    const CsrView<T> b = csr_view(b_indptr, b_indices, b_values, n_columns);
    const std::int64_t n_a = a.n_rows, n_b = b.n_rows;
    require_threads(n_threads);
    require_shape(out, n_a, n_b, "out");
    without_gil([&] {
        const InvertedIndex<T> index(b, {KernelKind(kind), gamma, degree, coef0, power, offset});
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

template <typename T>
void register_kernel_block(nb::module_& m) {
    using nb::arg;
    m.def("kernel_block", &kernel_block<T>, arg("a_indptr").noconvert(), arg("a_indices").noconvert(),
          arg("a_values").noconvert(), arg("b_indptr").noconvert(), arg("b_indices").noconvert(),
          arg("b_values").noconvert(), arg("n_columns"), arg("kind"), arg("gamma"), arg("degree"),
          arg("coef0"), arg("power"), arg("offset"), arg("n_threads"), arg("out").noconvert());
}

void register_kernel(nb::module_& m) {
    // Rows of a small problem are kept in double precision, of a large one in single; to leave one out always
    // in double: what single precision loses would be more than the certificates can spare.
    register_train_kernel_svm<float, double>(m, "train_kernel_svm");
    register_train_kernel_svm<double, double>(m, "train_kernel_svm");
    register_train_kernel_svm<float, float>(m, "train_kernel_svm");
    register_train_kernel_svm<double, float>(m, "train_kernel_svm");
    register_leave_one_out<float, double>(m);
    register_leave_one_out<double, double>(m);
    register_kernel_block<float>(m);
    register_kernel_block<double>(m);
}

}  // namespace widemargin
