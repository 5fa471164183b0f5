// Python's view of the transductive machines.
#include "kernel/transduction.hpp"

#include "bindings/bindings.hpp"

namespace widemargin {

namespace {

// For a linear machine; its kernel values take 72 megabytes, twice.
constexpr std::int64_t kLargestWorkingSet = 3000;

constexpr int kMachines = 3;  // inductive, transductive, at par
constexpr int kCosts = sizeof(UnlabeledCosts) / sizeof(double);
constexpr int kRecorded = 7;  // numbers per level
constexpr int kProgress = 4;  // violation, active examples, iterations, whether the label is done

// All arrays belong to the caller; L labels, n examples.
struct TransductionProblem {
    const std::int8_t* signs;      // L x n
    const double* cost;            // L x n
    const double* costs;           // L x 6: of unlabeled negative and positive examples, at first, at the end
                                   // and at par with labeled ones
    const std::int64_t* num_plus;  // L
};

struct TransductionResults {
    double* machines;    // L x 9 x n: y, alpha and s of the inductive machine, the transductive one and that
                         // at par
    double* intercepts;  // L x 3
    double* levels;      // L x most levels x 7, as in TransductionLevel
    std::int32_t*
        switched;  // L x most switches x 2: the exchanged pairs in order, as many as there is room for
    std::int64_t* n_levels;  // L
    std::uint8_t* converged;
    double* progress;  // L x 4, read by another thread
};

struct TransductiveSvmOptions {
    bool equality;
    double growth;
    bool many;
    double tol;
    std::int64_t max_iterations;
    std::uint64_t seed;
    bool single_precision;  // of the kernel values that are kept
    std::int64_t cache_bytes;
};

struct TransductionArrays : TransductionProblem, TransductionResults {
    std::int64_t n_labels, n, most_levels, most_switches;
};

template <class Engine>
void transduce_label(Engine& engine, const TransductionArrays& a, const TransductionOptions& options,
                     std::int64_t label, const StopFlag& stop) {
    const std::int64_t n = a.n;
    double* const progress = a.progress + kProgress * label;
    const TransductionTask task{reinterpret_cast<const UnlabeledCosts*>(a.costs)[label], a.signs + label * n,
                                a.cost + label * n, a.num_plus[label]};
    Transduction machine(engine, options, task, progress);
    const auto keep = [&](std::int64_t which) {
        double* out = a.machines + (kMachines * label + which) * 3 * n;
        for (const auto* const part : {&machine.y(), &machine.alpha(), &machine.s()}) {
            out = std::copy(part->begin(), part->end(), out);
        }
        a.intercepts[kMachines * label + which] = machine.intercept();
    };
    machine.induce(stop);
    keep(0);
    machine.search(stop);
    keep(1);
    const std::vector<TransductionLevel> levels = machine.levels();
    const Indices& switched = machine.switched();
    std::copy_n(switched.begin(), std::min<std::int64_t>(switched.size(), 2 * a.most_switches),
                a.switched + label * 2 * a.most_switches);
    machine.go_on_to_par(stop);
    keep(2);
    a.converged[label] = machine.converged();
    a.n_levels[label] = static_cast<std::int64_t>(levels.size());
    double* row = a.levels + label * a.most_levels * kRecorded;
    for (std::size_t l = 0; l < levels.size() && std::int64_t(l) < a.most_levels; ++l) {
        const TransductionLevel& level = levels[l];
        const double recorded[kRecorded] = {
            level.cost_negative,   level.cost_positive,    level.first_objective,  level.objective,
            level.squared_weights, double(level.switches), double(level.solutions)};
        row = std::copy(recorded, recorded + kRecorded, row);
    }
    progress[kProgress - 1] = 1;
}

template <typename Real, typename T>
void transduce(const CsrView<T>& x, const KernelParameters& kernel, const TransductionArrays& arrays,
               const TransductiveSvmOptions& wanted, int n_threads) {
    const std::int64_t n = x.n_rows;
    const bool equality = wanted.equality;
    const bool as_linear = kernel.kind == KernelKind::linear &&
                           n * n * static_cast<std::int64_t>(sizeof(Real)) > wanted.cache_bytes;
    DecompositionOptions solver{equality,
                                equality ? 2 : 10,
                                equality ? Selection::second_order : Selection::steepest,
                                false,
                                true,
                                1000,
                                0.0,
                                wanted.tol,
                                wanted.max_iterations,
                                wanted.seed};
    if (as_linear) {
        // Every step scans all examples: the more there are, the more of them should move in one step.
        solver.working_set = std::min<std::int64_t>(std::max<std::int64_t>(n / 50, 20), 400);
        solver.selection = Selection::steepest;
        solver.shrink_history = 10;
    }
    const TransductionOptions options{solver, wanted.growth, wanted.many, as_linear ? kLargestWorkingSet : 0};
    const EngineChoice engine{as_linear, nullptr,         0.0,  wanted.cache_bytes, solver.working_set,
                              n_threads, arrays.n_labels, false};
    with_engine<Real>(x, kernel, engine, [&](int threads, auto&& make_engine) {
        solve_labels(
            arrays.n_labels, threads, make_engine,
            [&](auto& own, std::int64_t label, const StopFlag& stop) {
                transduce_label(own, arrays, options, label, stop);
            },
            poll_signals);
    });
}

void train_transductive_svm(const Csr& csr, const Filled<KernelParameters>& kernel,
                            const Filled<TransductionProblem>& problem,
                            const Filled<TransductiveSvmOptions>& options,
                            const Filled<TransductionResults>& results, int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        Sizes sizes{{"examples", x.n_rows}};
        TransductionArrays arrays{problem.fitting(sizes), results.fitting(sizes), 0, x.n_rows, 0, 0};
        arrays.n_labels = sizes.at("labels");
        arrays.most_levels = sizes.at("most_levels");
        arrays.most_switches = sizes.at("most_switches");
        const auto train = [&](auto real) {
            transduce<decltype(real)>(x, kernel.core, arrays, options.core, n_threads);
        };
        without_gil([&] { options.core.single_precision ? train(0.0F) : train(0.0); });
    });
}

}  // namespace

void register_transduction(nb::module_& m) {
    using nb::arg;
    using Problem = TransductionProblem;
    Fields<Problem>(m, "TransductionProblem")
        .arrays(shape("labels", "examples"), "signs", &Problem::signs, "cost", &Problem::cost)
        .arrays(shape("labels", kCosts), "costs", &Problem::costs)
        .arrays(shape("labels"), "num_plus", &Problem::num_plus);
    using Options = TransductiveSvmOptions;
    Fields<Options>(m, "TransductiveSvmOptions")
        .values("equality", &Options::equality, "growth", &Options::growth, "many", &Options::many, "tol",
                &Options::tol, "max_iterations", &Options::max_iterations, "seed", &Options::seed,
                "single_precision", &Options::single_precision, "cache_bytes", &Options::cache_bytes);
    using Results = TransductionResults;
    Fields<Results>(m, "TransductionResults")
        .arrays(shape("labels", kMachines * 3, "examples"), "machines", &Results::machines)
        .arrays(shape("labels", kMachines), "intercepts", &Results::intercepts)
        .arrays(shape("labels", "most_levels", kRecorded), "levels", &Results::levels)
        .arrays(shape("labels", "most_switches", 2), "switched", &Results::switched)
        .arrays(shape("labels"), "n_levels", &Results::n_levels, "converged", &Results::converged)
        .arrays(shape("labels", kProgress), "progress", &Results::progress);
    m.def("train_transductive_svm", &train_transductive_svm, arg("csr"), arg("kernel"), arg("problem"),
          arg("options"), arg("results"), arg("n_threads"));
}

}  // namespace widemargin
