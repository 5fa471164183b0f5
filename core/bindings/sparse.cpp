// Python's view of sparse matrices: the check of their arrays, scores, counts for selecting features, and
// associations of words.
#include <nanobind/stl/unique_ptr.h>

#include "bindings/bindings.hpp"
#include "sparse/associations.hpp"
#include "sparse/chi_square.hpp"
#include "sparse/csr_check.hpp"
#include "sparse/label_factors.hpp"
#include "sparse/scoring.hpp"
#include "sparse/term_counts.hpp"
#include "sparse/term_sums.hpp"

namespace widemargin {

namespace {

// (the CsrState, whether all values are finite, the least, the greatest, the number of non-zeros). An empty
// array of values is not checked; the caller has done that.
using Found = nb::typed<nb::tuple, int, bool, double, double, std::int64_t>;

template <typename T>
Found check_csr_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                       std::int64_t n_columns) {
    if (indptr.size() == 0) throw nb::value_error("indptr is empty");
    if (values.size() != 0) require_size(values, std::int64_t(indices.size()), "values");
    const CsrState state = check_csr(indptr.data(), std::int64_t(indptr.size()) - 1, indices.data(),
                                     std::int64_t(indices.size()), n_columns);
    const ValueCheck found = check_values(values.data(), std::int64_t(values.size()));
    return nb::borrow<Found>(
        nb::make_tuple(int(state), found.all_finite, found.least, found.greatest, found.n_nonzero));
}

void score_rows_arrays(const Csr& csr, InputMatrix<double> weights, Input<double> intercept,
                       OutputMatrix<double> scores, int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        const auto n_labels = std::int64_t(intercept.size());
        require_shape(weights, {x.n_columns, n_labels}, "weights");
        require_shape(scores, {x.n_rows, n_labels}, "scores");
        without_gil([&] {
            score_rows(x, weights.data(), intercept.data(), n_labels, scores.data(), n_threads, poll_signals);
        });
    });
}

// together: labels x terms. label_indptr: where the rows of each label begin in label_rows.
void count_by_label_arrays(const Csr& csr, Input<std::int64_t> label_indptr, Input<std::int32_t> label_rows,
                           OutputMatrix<std::int32_t> together, int n_threads) {
    const auto n_labels = std::int64_t(together.shape(0));
    require_size(label_indptr, n_labels + 1, "label_indptr");
    require_size(label_rows, label_indptr(n_labels), "label_rows");
    csr.visit(n_threads, [&](const auto& x) {
        require_shape(together, {n_labels, x.n_columns}, "together");
        without_gil([&] {
            count_by_label(x, n_labels, label_indptr.data(), label_rows.data(), together.data(), n_threads,
                           poll_signals);
        });
    });
}

// row_weights: empty, or one for each row. places: labels x 2, where the room for each label begins and, when
// it returns, where its sums end.
void sums_by_label_arrays(const Csr& csr, Input<std::int64_t> label_indptr, Input<std::int32_t> label_rows,
                          Input<double> row_weights, OutputMatrix<std::int64_t> places,
                          Output<std::int32_t> indices, Output<double> values, int n_threads) {
    const auto n_labels = std::int64_t(places.shape(0));
    require_shape(places, {n_labels, 2}, "places");
    require_size(label_indptr, n_labels + 1, "label_indptr");
    require_size(label_rows, label_indptr(n_labels), "label_rows");
    require_size(values, std::int64_t(indices.shape(0)), "values");
    csr.visit(n_threads, [&](const auto& x) {
        if (row_weights.shape(0)) require_size(row_weights, x.n_rows, "row_weights");
        const double* const weights = row_weights.shape(0) ? row_weights.data() : nullptr;
        const LabelRows labels{n_labels, label_indptr.data(), label_rows.data()};
        const TermSums sums{places.data(), indices.data(), values.data()};
        without_gil([&] { sums_by_label(x, labels, weights, sums, n_threads, poll_signals); });
    });
}

// squared_factors: terms x labels. row_weights: empty if each row counts once.
void label_factors_arrays(const Csr& csr, Input<std::int64_t> label_indptr, Input<std::int32_t> label_rows,
                          Input<double> row_weights, double mix, double nearest,
                          OutputMatrix<float> squared_factors, int n_threads) {
    const auto n_labels = std::int64_t(squared_factors.shape(1));
    require_size(label_indptr, n_labels + 1, "label_indptr");
    require_size(label_rows, label_indptr(n_labels), "label_rows");
    csr.visit(n_threads, [&](const auto& x) {
        require_shape(squared_factors, {x.n_columns, n_labels}, "squared_factors");
        if (row_weights.shape(0)) require_size(row_weights, x.n_rows, "row_weights");
        const double* const weights = row_weights.shape(0) ? row_weights.data() : nullptr;
        const LabelRows labels{n_labels, label_indptr.data(), label_rows.data()};
        const FactorOptions options{mix, nearest};
        without_gil([&] {
            label_factors(x, labels, weights, options, squared_factors.data(), n_threads, poll_signals);
        });
    });
}

// together and scores: labels x terms.
void chi_square_arrays(InputMatrix<std::int32_t> together, Input<double> term_frequencies,
                       Input<double> of_terms, Input<double> label_frequencies, Input<double> of_labels,
                       double n, OutputMatrix<double> scores, int n_threads) {
    const std::int64_t n_labels = together.shape(0), n_terms = together.shape(1);
    require_threads(n_threads);
    require_size(term_frequencies, n_terms, "term_frequencies");
    require_size(of_terms, n_terms, "of_terms");
    require_size(label_frequencies, n_labels, "label_frequencies");
    require_size(of_labels, n_labels, "of_labels");
    require_shape(scores, {n_labels, n_terms}, "scores");
    const ChiSquareTerms terms{term_frequencies.data(), of_terms.data(), n_terms};
    const ChiSquareLabels labels{label_frequencies.data(), of_labels.data(), n_labels};
    without_gil(
        [&] { chi_square(together.data(), terms, labels, n, scores.data(), n_threads, poll_signals); });
}

// context_numbers: one per word, -1 for words that are no contexts. log_shares: one per context.
std::unique_ptr<Associations> associations(Input<std::int64_t> indptr, Input<std::int32_t> indices,
                                           Input<std::int32_t> context_numbers, Input<double> log_shares,
                                           int n_threads) {
    require_threads(n_threads);
    if (indptr.size() == 0) throw nb::value_error("indptr is empty");
    const auto n_documents = std::int64_t(indptr.size()) - 1;
    require_size(indices, indptr(n_documents), "indices");
    const DocumentWords words{indptr.data(), indices.data(), n_documents,
                              std::int64_t(context_numbers.size())};
    const Contexts contexts{context_numbers.data(), log_shares.data(), std::int64_t(log_shares.size())};
    std::unique_ptr<Associations> made;
    without_gil([&] { made = std::make_unique<Associations>(words, contexts, n_threads, poll_signals); });
    return made;
}

// x and out: contexts x columns.
void gram_times_arrays(const Associations& self, InputMatrix<double> x, OutputMatrix<double> out,
                       int n_threads) {
    require_threads(n_threads);
    const auto n = std::int64_t(x.shape(1));
    require_shape(x, {self.n_contexts(), n}, "x");
    require_shape(out, {self.n_contexts(), n}, "out");
    without_gil([&] { self.gram_times(x.data(), n, out.data(), n_threads, poll_signals); });
}

// x: contexts x columns. out: words x columns.
void associations_times_arrays(const Associations& self, InputMatrix<double> x, OutputMatrix<double> out,
                               int n_threads) {
    require_threads(n_threads);
    const auto n = std::int64_t(x.shape(1));
    require_shape(x, {self.n_contexts(), n}, "x");
    require_shape(out, {self.n_words(), n}, "out");
    without_gil([&] { self.times(x.data(), n, out.data(), n_threads, poll_signals); });
}

template <typename T>
void register_by_type(nb::module_& m, nb::class_<Csr>& csr) {
    using nb::arg;
    csr.def(nb::init<Input<std::int64_t>, Input<std::int32_t>, Input<T>, std::int64_t>(), array("indptr"),
            array("indices"), array("values"), arg("n_columns"));
    m.def("check_csr", &check_csr_arrays<T>, array("indptr"), array("indices"), array("values"),
          arg("n_columns"));
}

}  // namespace

void register_sparse(nb::module_& m) {
    using nb::arg;
    nb::class_<Csr> csr(m, "Csr");
    register_by_type<float>(m, csr);
    register_by_type<double>(m, csr);
    m.def("score_rows", &score_rows_arrays, arg("csr"), array("weights"), array("intercept"), array("scores"),
          arg("n_threads"));
    m.def("count_by_label", &count_by_label_arrays, arg("csr"), array("label_indptr"), array("label_rows"),
          array("together"), arg("n_threads"));
    m.def("sums_by_label", &sums_by_label_arrays, arg("csr"), array("label_indptr"), array("label_rows"),
          array("row_weights"), array("places"), array("indices"), array("values"), arg("n_threads"));
    m.def("label_factors", &label_factors_arrays, arg("csr"), array("label_indptr"), array("label_rows"),
          array("row_weights"), arg("mix"), arg("nearest"), array("squared_factors"), arg("n_threads"));
    nb::class_<Associations>(m, "Associations")
        .def(nb::new_(&associations), array("indptr"), array("indices"), array("context_numbers"),
             array("log_shares"), arg("n_threads"))
        .def_prop_ro("n_values", &Associations::n_values)
        .def("gram_times", &gram_times_arrays, array("x"), array("out"), arg("n_threads"))
        .def("times", &associations_times_arrays, array("x"), array("out"), arg("n_threads"));
    m.def("chi_square", &chi_square_arrays, array("together"), array("term_frequencies"), array("of_terms"),
          array("label_frequencies"), array("of_labels"), arg("n"), array("scores"), arg("n_threads"));
}

}  // namespace widemargin
