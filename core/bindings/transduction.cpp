// Python's view of the transductive machines.
#include "kernel/transduction.hpp"

#include "bindings/bindings.hpp"

namespace widemargin {

namespace {

// For a linear machine; its kernel values take 72 megabytes, twice.
constexpr std::int64_t kLargestWorkingSet = 3000;

constexpr int kMachines = 3;  // inductive, transductive, at par
constexpr int kCosts = 6;
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
    std::int64_t n_labels, n, most_levels;
};

template <class MakeEngine>
void transduce_labels(const TransductionArrays& a, const TransductionOptions& options, int n_threads,
                      MakeEngine&& make_engine) {
    const std::int64_t n = a.n;
    Pieces labels(a.n_labels, 1);
    run_parallel(
        static_cast<int>(std::min<std::int64_t>(n_threads, a.n_labels)),
        [&](int, const StopFlag& stop) {
            auto engine = make_engine(stop);
            std::int64_t label, end;
            while (!stop && labels.next(label, end)) {
                const double* const costs = a.costs + kCosts * label;
                const TransductionTask task{a.signs + label * n,
                                            a.cost + label * n,
                                            costs[0],
                                            costs[1],
                                            costs[2],
                                            costs[3],
                                            costs[4],
                                            costs[5],
                                            a.num_plus[label]};
                double* const progress = a.progress + kProgress * label;
                Transduction machine(*engine, options, task, progress);
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
                machine.go_on_to_par(stop);
                keep(2);
                a.converged[label] = machine.converged();
                a.n_levels[label] = static_cast<std::int64_t>(levels.size());
                for (std::size_t l = 0; l < levels.size() && std::int64_t(l) < a.most_levels; ++l) {
                    double* const row = a.levels + (label * a.most_levels + std::int64_t(l)) * kRecorded;
                    row[0] = levels[l].cost_negative;
                    row[1] = levels[l].cost_positive;
                    row[2] = levels[l].first_objective;
                    row[3] = levels[l].objective;
                    row[4] = levels[l].squared_weights;
                    row[5] = static_cast<double>(levels[l].switches);
                    row[6] = static_cast<double>(levels[l].solutions);
                }
                progress[kProgress - 1] = 1;
            }
        },
        poll_signals);
}

template <typename Real, typename T>
void transduce(const CsrView<T>& x, const KernelParameters& kernel, const TransductionArrays& arrays,
               const TransductiveSvmOptions& wanted, int n_threads) {
    const std::int64_t n = x.n_rows, cache_bytes = wanted.cache_bytes;
    const bool equality = wanted.equality;
    const bool keeps_all = n * n * static_cast<std::int64_t>(sizeof(Real)) <= cache_bytes;
    if (kernel.kind == KernelKind::linear && !keeps_all) {
        // Every step scans all examples: the more there are, the more of them should move in one step.
        const std::int64_t working_set = std::min<std::int64_t>(std::max<std::int64_t>(n / 50, 20), 400);
        const TransductionOptions options{{equality, working_set, Selection::steepest, false, true, 10, 0.0,
                                           wanted.tol, wanted.max_iterations, wanted.seed},
                                          wanted.growth,
                                          wanted.many,
                                          kLargestWorkingSet};
        transduce_labels(arrays, options, n_threads, [&](const StopFlag& stop) {
            return std::make_unique<WeightVector<T>>(x, kernel.offset, false, 0.0, stop);
        });
        return;
    }
    const TransductionOptions options{
        {equality, equality ? 2 : 10, equality ? Selection::second_order : Selection::steepest, false, true,
         1000, 0.0, wanted.tol, wanted.max_iterations, wanted.seed},
        wanted.growth,
        wanted.many,
        0};
    KernelMatrix<T, Real> matrix(x, kernel, nullptr, false, 0.0, cache_bytes);
    const int n_labels = static_cast<int>(arrays.n_labels);
    if (keeps_all) {
        const int row_threads = std::max(n_threads / n_labels, 1);
        transduce_labels(arrays, options, n_threads, [&](const StopFlag& stop) {
            return std::make_unique<KeptRows<T, Real>>(matrix, row_threads, stop);
        });
    } else {
        const int label_threads = std::max(std::min(n_threads, n_labels), 1);
        const int row_threads = std::max(n_threads / label_threads, 1);
        transduce_labels(arrays, options, label_threads, [&](const StopFlag& stop) {
            return std::make_unique<CachedRows<T, Real>>(matrix, cache_bytes / label_threads,
                                                         options.solver.working_set, row_threads, stop);
        });
    }
}

void train_transductive_svm(const Csr& csr, const Filled<KernelParameters>& kernel,
                            const Filled<TransductionProblem>& problem,
                            const Filled<TransductiveSvmOptions>& options,
                            const Filled<TransductionResults>& results, int n_threads) {
    require_threads(n_threads);
    csr.visit([&](const auto& x) {
        Sizes sizes{{"examples", x.n_rows}};
        TransductionArrays arrays{problem.fitting(sizes), results.fitting(sizes), 0, x.n_rows, 0};
        arrays.n_labels = sizes.at("labels");
        arrays.most_levels = sizes.at("most_levels");
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
        .arrays(shape("labels"), "n_levels", &Results::n_levels, "converged", &Results::converged)
        .arrays(shape("labels", kProgress), "progress", &Results::progress);
    m.def("train_transductive_svm", &train_transductive_svm, arg("csr"), arg("kernel"), arg("problem"),
          arg("options"), arg("results"), arg("n_threads"));
}

}  // namespace widemargin
