// Python's view of the transductive machines.
#include "kernel/transduction.hpp"

#include "bindings/bindings.hpp"

namespace widemargin {

template <class T>
using OutputTable = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Of a linear machine; its kernel values take 72 megabytes, twice.
constexpr std::int64_t kLargestWorkingSet = 3000;

constexpr std::int64_t kMachines = 3;  // inductive, transductive, at par
constexpr std::int64_t kCosts = 6;
constexpr std::int64_t kProgress = 4;  // violation, active examples, iterations, whether the label is done

struct TransductionArrays {
    InputMatrix<std::int8_t> signs;
    InputMatrix<double> cost, costs;
    Input<std::int64_t> num_plus;
    OutputTable<double> machines;
    OutputMatrix<double> intercepts;
    OutputTable<double> levels;
    Output<std::int64_t> n_levels;
    Output<std::uint8_t> converged;
    OutputMatrix<double> progress;
};

template <class MakeEngine>
void transduce_labels(const TransductionArrays& a, const TransductionOptions& options, int n_threads,
                      MakeEngine&& make_engine) {
    const std::int64_t n_labels = a.signs.shape(0), n = a.signs.shape(1), most_levels = a.levels.shape(1);
    Pieces labels(n_labels, 1);
    run_parallel(
        static_cast<int>(std::min<std::int64_t>(n_threads, n_labels)),
        [&](int, const StopFlag& stop) {
            auto engine = make_engine(stop);
            std::int64_t label, end;
            while (!stop && labels.next(label, end)) {
                const double* const costs = a.costs.data() + kCosts * label;
                const TransductionTask task{a.signs.data() + label * n,
                                            a.cost.data() + label * n,
                                            costs[0],
                                            costs[1],
                                            costs[2],
                                            costs[3],
                                            costs[4],
                                            costs[5],
                                            a.num_plus.data()[label]};
                double* const progress = a.progress.data() + kProgress * label;
                Transduction machine(*engine, options, task, progress);
                const auto keep = [&](std::int64_t which) {
                    double* out = a.machines.data() + (kMachines * label + which) * 3 * n;
                    for (const auto* const part : {&machine.y(), &machine.alpha(), &machine.s()}) {
                        out = std::copy(part->begin(), part->end(), out);
                    }
                    a.intercepts.data()[kMachines * label + which] = machine.intercept();
                };
                machine.induce(stop);
                keep(0);
                machine.search(stop);
                keep(1);
                const std::vector<TransductionLevel> levels = machine.levels();
                machine.go_on_to_par(stop);
                keep(2);
                a.converged.data()[label] = machine.converged();
                a.n_levels.data()[label] = static_cast<std::int64_t>(levels.size());
                for (std::size_t l = 0; l < levels.size() && std::int64_t(l) < most_levels; ++l) {
                    double* const row = a.levels.data() + (label * most_levels + std::int64_t(l)) * 7;
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

// The kernel's arguments are those of train_kernel_svm; the type of the empty third matrix says how exactly
// its values are kept. signs, cost: labels x examples; costs: labels x 6 (of unlabeled negative and positive
// examples, at first, at the end and at par with labeled ones); machines: labels x 9 x examples (y, alpha
// and s of the inductive machine, the transductive one and that at par); intercepts: labels x 3; levels:
// labels x most levels x 7, as in TransductionLevel.
template <typename T, typename Real>
void train_transductive_svm(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                            std::int64_t n_columns, InputMatrix<Real>, int kind, double gamma, double degree,
                            double coef0, double power, double offset, InputMatrix<std::int8_t> signs,
                            InputMatrix<double> cost, InputMatrix<double> costs, Input<std::int64_t> num_plus,
                            bool equality, double growth, bool many, double tol, std::int64_t max_iterations,
                            std::uint64_t seed, std::int64_t cache_bytes, int n_threads,
                            OutputTable<double> machines, OutputMatrix<double> intercepts,
                            OutputTable<double> levels, Output<std::int64_t> n_levels,
                            Output<std::uint8_t> converged, OutputMatrix<double> progress) {
    const CsrView<T> x = csr_view(indptr, indices, values, n_columns);
    const std::int64_t n = x.n_rows, all_labels = signs.shape(0);
    require_threads(n_threads);
    require_shape(signs, all_labels, n, "signs");
    require_shape(cost, all_labels, n, "cost");
    require_shape(costs, all_labels, kCosts, "costs");
    require_size(num_plus, all_labels, "num_plus");
    require_size(machines, all_labels * kMachines * 3 * n, "machines");
    require_shape(intercepts, all_labels, kMachines, "intercepts");
    require_size(levels, all_labels * std::int64_t(levels.shape(1)) * 7, "levels");
    require_size(n_levels, all_labels, "n_levels");
    require_size(converged, all_labels, "converged");
    require_shape(progress, all_labels, kProgress, "progress");
    const KernelParameters kernel{KernelKind(kind), gamma, degree, coef0, power, offset};
    const TransductionArrays arrays{signs,      cost,   costs,    num_plus,  machines,
                                    intercepts, levels, n_levels, converged, progress};
    const int n_labels = static_cast<int>(signs.shape(0));
    without_gil([&] {
        const bool keeps_all = n * n * static_cast<std::int64_t>(sizeof(Real)) <= cache_bytes;
        if (kind == 0 && !keeps_all) {
            // Every step looks at all examples: the more there are, the more of them have to move in one.
            const std::int64_t working_set = std::min<std::int64_t>(std::max<std::int64_t>(n / 50, 20), 400);
            const TransductionOptions options{
                {equality, working_set, Selection::steepest, false, true, 10, 0.0, tol, max_iterations, seed},
                growth,
                many,
                kLargestWorkingSet};
            transduce_labels(arrays, options, n_threads, [&](const StopFlag& stop) {
                return std::make_unique<WeightVector<T>>(x, offset, false, 0.0, stop);
            });
            return;
        }
        const TransductionOptions options{
            {equality, equality ? 2 : 10, equality ? Selection::second_order : Selection::steepest, false,
             true, 1000, 0.0, tol, max_iterations, seed},
            growth,
            many,
            0};
        KernelMatrix<T, Real> matrix(x, kernel, nullptr, false, 0.0, cache_bytes);
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
    });
}

template <typename T, typename Real>
void register_train_transductive_svm(nb::module_& m) {
    using nb::arg;
    m.def("train_transductive_svm", &train_transductive_svm<T, Real>, arg("indptr").noconvert(),
          arg("indices").noconvert(), arg("values").noconvert(), arg("n_columns"),
          arg("precision").noconvert(), arg("kind"), arg("gamma"), arg("degree"), arg("coef0"), arg("power"),
          arg("offset"), arg("signs").noconvert(), arg("cost").noconvert(), arg("costs").noconvert(),
          arg("num_plus").noconvert(), arg("equality"), arg("growth"), arg("many"), arg("tol"),
          arg("max_iterations"), arg("seed"), arg("cache_bytes"), arg("n_threads"),
          arg("machines").noconvert(), arg("intercepts").noconvert(), arg("levels").noconvert(),
          arg("n_levels").noconvert(), arg("converged").noconvert(), arg("progress").noconvert());
}

void register_transduction(nb::module_& m) {
    register_train_transductive_svm<float, double>(m);
    register_train_transductive_svm<double, double>(m);
    register_train_transductive_svm<float, float>(m);
    register_train_transductive_svm<double, float>(m);
}

}  // namespace widemargin
