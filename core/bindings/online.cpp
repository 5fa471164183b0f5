// Python's view of the mistake-driven learners and of the large-margin duals.
#include "bindings/bindings.hpp"
#include "online/dual_updates.hpp"
#include "online/mistake_driven.hpp"
#include "online/vote.hpp"
#include "sparse/csr_check.hpp"

namespace widemargin {

// The two parts of every weight: features x labels x 2.
using OutputPairs = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto* data_or_null(const Array& array) {
    return array.size() ? array.data() : nullptr;
}

template <class T>
nb::object owned(std::vector<T>&& values) {
    auto* const kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

// Arrays of size 0 stand for what the options do not need. Returns the changes of weights in their order as
// (label, feature, time, weight) when `keep_history`, otherwise None.
template <typename T>
nb::object learn_from_mistakes_arrays(
    Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values, std::int64_t n_columns,
    InputMatrix<std::int8_t> signs, Input<std::int64_t> first_row, const char* rule, double promotion,
    double demotion, bool by_strength, double mu, bool balanced, bool normalized, double total,
    double theta_low, double theta_high, double bias, bool normalized_strength, bool link_on_sight,
    Input<double> start, double discard_below, double discard_low, double discard_high,
    std::int64_t max_passes, bool shuffle, std::uint64_t seed, bool keep_history, bool fresh, int n_threads,
    OutputMatrix<double> weights, OutputPairs parts, OutputMatrix<double> logs, OutputMatrix<double> sums,
    OutputMatrix<std::uint8_t> links, Output<double> normalizer, Output<double> peak, Output<double> clock,
    Output<std::int64_t> seen, Output<std::int64_t> mistakes, Output<std::int64_t> passes,
    OutputMatrix<double> scores, Output<std::int64_t> labels_done) {
    const CsrView<T> x = csr_view(indptr, indices, values, n_columns);
    const std::int64_t n_labels = signs.shape(0), n_features = n_columns + (bias > 0);
    require_threads(n_threads);
    require_shape(signs, n_labels, x.n_rows, "signs");
    require_size(first_row, n_labels, "first_row");
    require_size(start, 3, "start");
    require_shape(weights, n_features, n_labels, "weights");
    require_shape_or_none(parts, n_features, n_labels, "parts");
    require_shape_or_none(logs, n_features, n_labels, "logs");
    require_shape_or_none(sums, n_labels, n_features, "sums");
    require_shape_or_none(links, n_labels, n_features, "links");
    require_size_or_none(normalizer, n_labels, "normalizer");
    require_size_or_none(peak, n_labels, "peak");
    require_size(clock, n_labels, "clock");
    require_size(seen, n_labels, "seen");
    require_size(mistakes, n_labels, "mistakes");
    require_size(passes, n_labels, "passes");
    require_shape_or_none(scores, x.n_rows, n_labels, "scores");
    require_size(labels_done, 1, "labels_done");
    const std::string name = rule;
    const MistakeRule kind = name == "additive"          ? MistakeRule::kAdditive
                             : name == "positive-winnow" ? MistakeRule::kPositiveWinnow
                             : name == "balanced-winnow" ? MistakeRule::kBalancedWinnow
                                                         : MistakeRule::kLogWinnow;
    const MistakeOptions options{kind,
                                 promotion,
                                 demotion,
                                 by_strength,
                                 {mu, balanced, normalized, total},
                                 theta_low,
                                 theta_high,
                                 bias,
                                 normalized_strength,
                                 link_on_sight,
                                 start(0),
                                 {start(1), start(2)},
                                 discard_below,
                                 discard_low,
                                 discard_high,
                                 max_passes,
                                 shuffle,
                                 seed};
    std::vector<WeightChange> history;
    const MistakeTask task{std::int64_t(signs.shape(0)),
                           signs.data(),
                           first_row.data(),
                           fresh,
                           weights.data(),
                           reinterpret_cast<BalancedParts*>(data_or_null(parts)),
                           data_or_null(logs),
                           data_or_null(sums),
                           data_or_null(links),
                           {data_or_null(normalizer), data_or_null(peak), nullptr},
                           clock.data(),
                           seen.data(),
                           mistakes.data(),
                           passes.data(),
                           data_or_null(scores),
                           labels_done.data(),
                           keep_history ? &history : nullptr};
    without_gil([&] { learn_from_mistakes(x, task, options, n_threads, poll_signals); });
    if (!keep_history) return nb::none();
    std::vector<std::int32_t> label, feature;
    std::vector<std::int64_t> time;
    std::vector<double> weight;
    for (const WeightChange& change : history) {
        label.push_back(change.label);
        feature.push_back(change.feature);
        time.push_back(change.time);
        weight.push_back(change.weight);
    }
    return nb::make_tuple(owned(std::move(label)), owned(std::move(feature)), owned(std::move(time)),
                          owned(std::move(weight)));
}

template <typename T>
void register_learn_from_mistakes(nb::module_& m) {
    using nb::arg;
    m.def("learn_from_mistakes", &learn_from_mistakes_arrays<T>, arg("indptr").noconvert(),
          arg("indices").noconvert(), arg("values").noconvert(), arg("n_columns"), arg("signs").noconvert(),
          arg("first_row").noconvert(), arg("rule"), arg("promotion"), arg("demotion"), arg("by_strength"),
          arg("mu"), arg("balanced"), arg("normalized"), arg("total"), arg("theta_low"), arg("theta_high"),
          arg("bias"), arg("normalized_strength"), arg("link_on_sight"), arg("start").noconvert(),
          arg("discard_below"), arg("discard_low"), arg("discard_high"), arg("max_passes"), arg("shuffle"),
          arg("seed"), arg("keep_history"), arg("fresh"), arg("n_threads"), arg("weights").noconvert(),
          arg("parts").noconvert(), arg("logs").noconvert(), arg("sums").noconvert(),
          arg("links").noconvert(), arg("normalizer").noconvert(), arg("peak").noconvert(),
          arg("clock").noconvert(), arg("seen").noconvert(), arg("mistakes").noconvert(),
          arg("passes").noconvert(), arg("scores").noconvert(), arg("labels_done").noconvert());
}

template <typename T>
void vote_rows_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                      std::int64_t n_columns, Input<std::int64_t> keys, Input<std::int64_t> times,
                      Input<double> weights, double start, double bias, double theta,
                      bool normalized_strength, Input<std::int64_t> seen, OutputMatrix<double> votes,
                      int n_threads) {
    const CsrView<T> x = csr_view(indptr, indices, values, n_columns);
    require_threads(n_threads);
    require_size(times, std::int64_t(keys.size()), "times");
    require_size(weights, std::int64_t(keys.size()), "weights");
    require_shape(votes, x.n_rows, std::int64_t(seen.size()), "votes");
    std::vector<double> row_sums;
    if (normalized_strength) row_sums = sums_of_strengths(x);
    const VoteTask task{std::int64_t(seen.size()),
                        std::int64_t(keys.size()),
                        keys.data(),
                        times.data(),
                        weights.data(),
                        start,
                        bias,
                        theta,
                        normalized_strength ? row_sums.data() : nullptr,
                        seen.data(),
                        votes.data()};
    without_gil([&] { vote_rows(x, task, n_threads, poll_signals); });
}

template <typename T>
void register_vote_rows(nb::module_& m) {
    using nb::arg;
    m.def("vote_rows", &vote_rows_arrays<T>, arg("indptr").noconvert(), arg("indices").noconvert(),
          arg("values").noconvert(), arg("n_columns"), arg("keys").noconvert(), arg("times").noconvert(),
          arg("weights").noconvert(), arg("start"), arg("bias"), arg("theta"), arg("normalized_strength"),
          arg("seen").noconvert(), arg("votes").noconvert(), arg("n_threads"));
}

// eta 0: Newton's step. `logs` of size 0: the SVM. `sample_weights` and `scores` of size 0: none.
template <typename T>
void learn_by_dual_updates_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                                  std::int64_t n_columns, InputMatrix<std::int8_t> signs,
                                  Input<std::int64_t> first_row, Input<double> cost_positive,
                                  Input<double> cost_negative, Input<double> sample_weights, double mu,
                                  bool balanced, bool normalized, double total, double eta, double bias,
                                  double tol, std::int64_t max_passes, bool shuffle, std::uint64_t seed,
                                  bool from_start, int n_threads, OutputMatrix<double> weights,
                                  OutputMatrix<double> logs, Output<double> normalizer, Output<double> peak,
                                  Output<double> shift, OutputMatrix<double> alpha, Output<double> objective,
                                  Output<double> gap, Output<std::int64_t> passes,
                                  Output<std::uint8_t> converged, Output<std::int64_t> overshoots,
                                  OutputMatrix<double> scores, Output<std::int64_t> labels_done) {
    const CsrView<T> x = csr_view(indptr, indices, values, n_columns);
    const std::int64_t n_labels = signs.shape(0), n_features = n_columns + (bias > 0);
    require_threads(n_threads);
    require_shape(signs, n_labels, x.n_rows, "signs");
    require_size(first_row, n_labels, "first_row");
    require_size(cost_positive, n_labels, "cost_positive");
    require_size(cost_negative, n_labels, "cost_negative");
    require_size_or_none(sample_weights, x.n_rows, "sample_weights");
    require_shape(weights, n_features, n_labels, "weights");
    require_shape_or_none(logs, n_features, n_labels, "logs");
    require_size_or_none(normalizer, n_labels, "normalizer");
    require_size_or_none(peak, n_labels, "peak");
    require_size_or_none(shift, n_labels, "shift");
    require_shape(alpha, n_labels, x.n_rows, "alpha");
    require_size(objective, n_labels, "objective");
    require_size(gap, n_labels, "gap");
    require_size(passes, n_labels, "passes");
    require_size(converged, n_labels, "converged");
    require_size(overshoots, n_labels, "overshoots");
    require_shape_or_none(scores, x.n_rows, n_labels, "scores");
    require_size(labels_done, 1, "labels_done");
    const DualOptions options{
        logs.size() == 0, {mu, balanced, normalized, total}, eta, bias, tol, max_passes, shuffle, seed};
    const DualTask task{std::int64_t(signs.shape(0)),
                        signs.data(),
                        first_row.data(),
                        cost_positive.data(),
                        cost_negative.data(),
                        data_or_null(sample_weights),
                        from_start,
                        weights.data(),
                        data_or_null(logs),
                        {data_or_null(normalizer), data_or_null(peak), data_or_null(shift)},
                        alpha.data(),
                        objective.data(),
                        gap.data(),
                        passes.data(),
                        converged.data(),
                        overshoots.data(),
                        data_or_null(scores),
                        labels_done.data()};
    without_gil([&] { learn_by_dual_updates(x, task, options, n_threads, poll_signals); });
}

template <typename T>
void register_learn_by_dual_updates(nb::module_& m) {
    using nb::arg;
    m.def("learn_by_dual_updates", &learn_by_dual_updates_arrays<T>, arg("indptr").noconvert(),
          arg("indices").noconvert(), arg("values").noconvert(), arg("n_columns"), arg("signs").noconvert(),
          arg("first_row").noconvert(), arg("cost_positive").noconvert(), arg("cost_negative").noconvert(),
          arg("sample_weights").noconvert(), arg("mu"), arg("balanced"), arg("normalized"), arg("total"),
          arg("eta"), arg("bias"), arg("tol"), arg("max_passes"), arg("shuffle"), arg("seed"),
          arg("from_start"), arg("n_threads"), arg("weights").noconvert(), arg("logs").noconvert(),
          arg("normalizer").noconvert(), arg("peak").noconvert(), arg("shift").noconvert(),
          arg("alpha").noconvert(), arg("objective").noconvert(), arg("gap").noconvert(),
          arg("passes").noconvert(), arg("converged").noconvert(), arg("overshoots").noconvert(),
          arg("scores").noconvert(), arg("labels_done").noconvert());
}

// (the CsrState, whether all values are finite, the least, the greatest, how many are not 0). Values of size
// 0 are not looked at, where somebody else does that.
template <typename T>
nb::typed<nb::tuple, int, bool, double, double, std::int64_t> check_csr_arrays(Input<std::int64_t> indptr,
                                                                               Input<std::int32_t> indices,
                                                                               Input<T> values,
                                                                               std::int64_t n_columns) {
    if (indptr.size() == 0) throw nb::value_error("indptr is empty");
    require_size_or_none(values, std::int64_t(indices.size()), "values");
    const CsrState state = check_csr(indptr.data(), std::int64_t(indptr.size()) - 1, indices.data(),
                                     std::int64_t(indices.size()), n_columns);
    const ValueCheck found = check_values(values.data(), std::int64_t(values.size()));
    return nb::borrow<nb::typed<nb::tuple, int, bool, double, double, std::int64_t>>(
        nb::make_tuple(int(state), found.all_finite, found.least, found.greatest, found.n_nonzero));
}

template <typename T>
void register_check_csr(nb::module_& m) {
    using nb::arg;
    m.def("check_csr", &check_csr_arrays<T>, arg("indptr").noconvert(), arg("indices").noconvert(),
          arg("values").noconvert(), arg("n_columns"));
}

void register_winnow(nb::module_& m) {
    register_check_csr<float>(m);
    register_check_csr<double>(m);
    register_learn_from_mistakes<float>(m);
    register_learn_from_mistakes<double>(m);
    register_vote_rows<float>(m);
    register_vote_rows<double>(m);
    register_learn_by_dual_updates<float>(m);
    register_learn_by_dual_updates<double>(m);
}

}  // namespace widemargin
