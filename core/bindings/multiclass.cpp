// Python's view of the multi-class machines.
#include "bindings/bindings.hpp"
#include "multiclass/kernel_classes.hpp"
#include "multiclass/linear_classes.hpp"

namespace widemargin {

namespace {

struct KernelClassesOptions : MulticlassOptions {
    bool single_precision;  // of the kernel values that are kept
    std::int64_t cache_bytes;
};

template <class Results>
std::pair<MulticlassProblem, Results> checked(Sizes sizes, const Filled<MulticlassProblem>& problem,
                                              const Filled<Results>& results) {
    MulticlassProblem fits = problem.fitting(sizes);
    const Results filled = results.fitting(sizes);
    fits.n = sizes.at("examples");
    fits.n_classes = sizes.at("classes");
    for (std::int64_t i = 0; i < fits.n; ++i) {
        if (fits.classes[i] < 0 || fits.classes[i] >= fits.n_classes)
            throw nb::value_error("classes: a number that is not that of a class");
    }
    return {fits, filled};
}

void train_linear(const Csr& csr, const Filled<MulticlassProblem>& problem,
                  const Filled<MulticlassOptions>& options, const Filled<LinearClassesResults>& results) {
    csr.visit(1, [&](const auto& x) {
        const auto task = checked({{"examples", x.n_rows}, {"columns", x.n_columns}}, problem, results);
        without_gil([&] { train_linear_classes(x, task.first, options.core, task.second, poll_signals); });
    });
}

std::int64_t train_kernel(const Csr& csr, const Filled<KernelParameters>& kernel,
                          const Filled<MulticlassProblem>& problem,
                          const Filled<KernelClassesOptions>& options,
                          const Filled<KernelClassesResults>& results, int n_threads) {
    return csr.visit(n_threads, [&](const auto& x) {
        const auto task = checked({{"examples", x.n_rows}}, problem, results);
        const KernelClassesOptions& method = options.core;
        if (method.single_precision && task.first.gram)
            throw nb::value_error("a kernel matrix that is given has double precision");
        std::int64_t rows = 0;
        const auto solve = [&](auto real) {
            return train_kernel_classes<decltype(real)>(x, kernel.core, method.cache_bytes, task.first,
                                                        method, task.second, n_threads, poll_signals);
        };
        without_gil([&] { rows = method.single_precision ? solve(0.0F) : solve(0.0); });
        return rows;
    });
}

// Fields that both machines share.
template <class Options>
Fields<Options> options_fields(nb::module_& m, const char* name) {
    return Fields<Options>(m, name).values("bias", &Options::bias, "each_class", &Options::each_class, "tol",
                                           &Options::tol, "max_passes", &Options::max_passes, "seed",
                                           &Options::seed);
}

template <class Results>
Fields<Results> results_fields(nb::module_& m, const char* name) {
    return Fields<Results>(m, name)
        .arrays(shape("examples", "classes"), "alpha", &Results::alpha)
        .arrays(shape("examples"), "xi", &Results::xi)
        .arrays(shape(1), "objective", &Results::objective, "gap", &Results::gap, "passes", &Results::passes,
                "converged", &Results::converged)
        .arrays(shape(3), "progress", &Results::progress);
}

}  // namespace

void register_multiclass(nb::module_& m) {
    using nb::arg;
    Fields<MulticlassProblem>(m, "MulticlassProblem")
        .arrays(shape("examples"), "classes", &MulticlassProblem::classes, "costs", &MulticlassProblem::costs)
        .optional(shape("examples", "examples"), "gram", &MulticlassProblem::gram);
    options_fields<MulticlassOptions>(m, "MulticlassOptions");
    options_fields<KernelClassesOptions>(m, "KernelClassesOptions")
        .values("single_precision", &KernelClassesOptions::single_precision, "cache_bytes",
                &KernelClassesOptions::cache_bytes);
    results_fields<LinearClassesResults>(m, "LinearClassesResults")
        .arrays(shape("columns", "classes"), "coef", &LinearClassesResults::coef)
        .arrays(shape("classes"), "intercept", &LinearClassesResults::intercept);
    results_fields<KernelClassesResults>(m, "KernelClassesResults")
        .arrays(shape("classes", "examples"), "scores", &KernelClassesResults::scores);
    m.def("train_linear_classes", &train_linear, arg("csr"), arg("problem"), arg("options"), arg("results"));
    m.def("train_kernel_classes", &train_kernel, arg("csr"), arg("kernel"), arg("problem"), arg("options"),
          arg("results"), arg("n_threads"));
}

}  // namespace widemargin
