// Python's view of the descent on one part of the rows.
#include "linear/by_blocks/local_descent.hpp"

#include "bindings/bindings.hpp"

namespace widemargin {

namespace {

void descend(const Csr& csr, const Filled<LocalTask>& task, const Filled<LocalOptions>& options) {
    csr.visit(1, [&](const auto& x) {
        Sizes sizes{{"examples", x.n_rows}, {"columns_and_bias", x.n_columns + 1}};
        const LocalTask checked = task.fitting(sizes);
        // In a worker of a cluster this is not the main thread, and signals are for others.
        without_gil([&] { descend_locally(x, checked, options.core, [] {}); });
    });
}

}  // namespace

void register_local_descent(nb::module_& m) {
    Fields<LocalTask>(m, "LocalTask")
        .arrays(shape("examples"), "signs", &LocalTask::signs, "upper", &LocalTask::upper, "diagonal",
                &LocalTask::diagonal, "alpha", &LocalTask::alpha)
        .arrays(shape("columns_and_bias"), "w", &LocalTask::w, "delta", &LocalTask::delta);
    Fields<LocalOptions>(m, "LocalOptions")
        .values("bias", &LocalOptions::bias, "sigma", &LocalOptions::sigma, "passes", &LocalOptions::passes,
                "seed", &LocalOptions::seed);
    m.def("descend_locally", &descend, nb::arg("csr"), nb::arg("task"), nb::arg("options"),
          "Passes of dual coordinate descent over one part of the rows (CoCoA+).");
}

}  // namespace widemargin
