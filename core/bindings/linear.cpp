// Python's view of the linear learners.
#include "bindings/bindings.hpp"
#include "left_out/leave_one_out.hpp"
#include "linear/dual_cd.hpp"
#include "sparse/scoring.hpp"

namespace widemargin {

// `sample_weights` of size 0: none. `start` of size 0: from zero.
template <typename T>
void train_linear_svm_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                             std::int64_t n_columns, InputMatrix<std::int8_t> signs,
                             Input<double> cost_positive, Input<double> cost_negative,
                             Input<double> sample_weights, InputMatrix<double> start, double bias,
                             bool squared_loss, bool stop_on_gap, double tol, std::int64_t max_passes,
                             std::uint64_t seed, int n_threads, OutputMatrix<double> coef,
                             Output<double> intercept, OutputMatrix<double> alpha, OutputMatrix<double> xi,
                             Output<double> objective, Output<double> gap, Output<std::int64_t> passes,
                             Output<std::uint8_t> converged, Output<std::int64_t> labels_done) {
    const CsrView<T> x = csr_view(indptr, indices, values, n_columns);
    const std::int64_t n_labels = signs.shape(0), n = x.n_rows;
    require_threads(n_threads);
    require_shape(signs, n_labels, n, "signs");
    require_size(cost_positive, n_labels, "cost_positive");
    require_size(cost_negative, n_labels, "cost_negative");
    require_size_or_none(sample_weights, n, "sample_weights");
    require_shape_or_none(start, n_labels, n, "start");
    require_shape(coef, n_columns, n_labels, "coef");
    require_size(intercept, n_labels, "intercept");
    require_shape(alpha, n_labels, n, "alpha");
    require_shape(xi, n_labels, n, "xi");
    require_size(objective, n_labels, "objective");
    require_size(gap, n_labels, "gap");
    require_size(passes, n_labels, "passes");
    require_size(converged, n_labels, "converged");
    require_size(labels_done, 1, "labels_done");
    const LinearSvmOptions options{bias, squared_loss, stop_on_gap, tol, max_passes, seed};
    const LinearSvmTask task{std::int64_t(signs.shape(0)),
                             signs.data(),
                             cost_positive.data(),
                             cost_negative.data(),
                             sample_weights.size() ? sample_weights.data() : nullptr,
                             start.size() ? start.data() : nullptr,
                             coef.data(),
                             intercept.data(),
                             alpha.data(),
                             xi.data(),
                             objective.data(),
                             gap.data(),
                             passes.data(),
                             converged.data(),
                             labels_done.data()};
    without_gil([&] { train_linear_svm(x, task, options, n_threads, poll_signals); });
}

template <typename T>
void register_train_linear_svm(nb::module_& m) {
    using nb::arg;
    m.def("train_linear_svm", &train_linear_svm_arrays<T>, arg("indptr").noconvert(),
          arg("indices").noconvert(), arg("values").noconvert(), arg("n_columns"), arg("signs").noconvert(),
          arg("cost_positive").noconvert(), arg("cost_negative").noconvert(),
          arg("sample_weights").noconvert(), arg("start").noconvert(), arg("bias"), arg("squared_loss"),
          arg("stop_on_gap"), arg("tol"), arg("max_passes"), arg("seed"), arg("n_threads"),
          arg("coef").noconvert(), arg("intercept").noconvert(), arg("alpha").noconvert(),
          arg("xi").noconvert(), arg("objective").noconvert(), arg("gap").noconvert(),
          arg("passes").noconvert(), arg("converged").noconvert(), arg("labels_done").noconvert());
}

template <typename T>
void score_rows_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                       InputMatrix<double> weights, Input<double> intercept, OutputMatrix<double> scores,
                       int n_threads) {
    const CsrView<T> x = csr_view(indptr, indices, values, std::int64_t(weights.shape(0)));
    require_threads(n_threads);
    require_size(intercept, std::int64_t(weights.shape(1)), "intercept");
    require_shape(scores, x.n_rows, std::int64_t(weights.shape(1)), "scores");
    without_gil([&] {
        score_rows(x, weights.data(), intercept.data(), std::int64_t(weights.shape(1)), scores.data(),
                   n_threads, poll_signals);
    });
}

template <typename T>
void register_score_rows(nb::module_& m) {
    using nb::arg;
    m.def("score_rows", &score_rows_arrays<T>, arg("indptr").noconvert(), arg("indices").noconvert(),
          arg("values").noconvert(), arg("weights").noconvert(), arg("intercept").noconvert(),
          arg("scores").noconvert(), arg("n_threads"));
}

// `sample_weights` of size 0: none. `alpha` is the solution on all examples; scores, accuracy: labels x
// examples.
template <typename T>
void leave_one_out_linear_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                                 std::int64_t n_columns, InputMatrix<std::int8_t> signs,
                                 Input<double> cost_positive, Input<double> cost_negative,
                                 Input<double> sample_weights, InputMatrix<double> alpha, double bias,
                                 bool squared_loss, double accuracy_wanted, std::int64_t max_rounds,
                                 std::uint64_t seed, int n_threads, OutputMatrix<double> scores,
                                 OutputMatrix<double> accuracy, Output<std::int64_t> retrained,
                                 Output<std::int64_t> progress) {
    const CsrView<T> x = csr_view(indptr, indices, values, n_columns);
    const std::int64_t n_labels = signs.shape(0), n = x.n_rows;
    require_threads(n_threads);
    require_shape(signs, n_labels, n, "signs");
    require_size(cost_positive, n_labels, "cost_positive");
    require_size(cost_negative, n_labels, "cost_negative");
    require_size_or_none(sample_weights, n, "sample_weights");
    require_shape(alpha, n_labels, n, "alpha");
    require_shape(scores, n_labels, n, "scores");
    require_shape(accuracy, n_labels, n, "accuracy");
    require_size(retrained, n_labels, "retrained");
    require_size(progress, 1, "progress");
    const LeaveOneOutOptions options{bias, squared_loss, accuracy_wanted, max_rounds, seed};
    const LeaveOneOutTask task{std::int64_t(signs.shape(0)),
                               signs.data(),
                               cost_positive.data(),
                               cost_negative.data(),
                               sample_weights.size() ? sample_weights.data() : nullptr,
                               alpha.data(),
                               scores.data(),
                               accuracy.data(),
                               retrained.data(),
                               progress.data()};
    without_gil([&] { leave_one_out(x, task, options, n_threads, poll_signals); });
}

template <typename T>
void register_leave_one_out_linear(nb::module_& m) {
    using nb::arg;
    m.def("leave_one_out_linear", &leave_one_out_linear_arrays<T>, arg("indptr").noconvert(),
          arg("indices").noconvert(), arg("values").noconvert(), arg("n_columns"), arg("signs").noconvert(),
          arg("cost_positive").noconvert(), arg("cost_negative").noconvert(),
          arg("sample_weights").noconvert(), arg("alpha").noconvert(), arg("bias"), arg("squared_loss"),
          arg("accuracy_wanted"), arg("max_rounds"), arg("seed"), arg("n_threads"), arg("scores").noconvert(),
          arg("accuracy").noconvert(), arg("retrained").noconvert(), arg("progress").noconvert());
}

void register_linear(nb::module_& m) {
    register_leave_one_out_linear<float>(m);
    register_leave_one_out_linear<double>(m);
    register_train_linear_svm<float>(m);
    register_train_linear_svm<double>(m);
    register_score_rows<float>(m);
    register_score_rows<double>(m);
}

}  // namespace widemargin
