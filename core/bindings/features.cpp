// Functions of the core that select features.
#include "bindings/bindings.hpp"
#include "sparse/chi_square.hpp"
#include "sparse/term_counts.hpp"

namespace widemargin {

namespace {

// together: labels x terms. label_indptr: where the rows of each label begin in label_rows.
template <typename T>
void count_by_label_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                           Input<std::int64_t> label_indptr, Input<std::int32_t> label_rows,
                           OutputMatrix<std::int32_t> together, int n_threads) {
    const CsrView<T> x = csr_view(indptr, indices, values, std::int64_t(together.shape(1)));
    require_threads(n_threads);
    require_size(label_indptr, std::int64_t(together.shape(0)) + 1, "label_indptr");
    require_size(label_rows, label_indptr(together.shape(0)), "label_rows");
    without_gil([&] {
        count_by_label(x, std::int64_t(together.shape(0)), label_indptr.data(), label_rows.data(),
                       together.data(), n_threads, poll_signals);
    });
}

template <typename T>
void register_count_by_label(nb::module_& m) {
    using nb::arg;
    m.def("count_by_label", &count_by_label_arrays<T>, arg("indptr").noconvert(), arg("indices").noconvert(),
          arg("values").noconvert(), arg("label_indptr").noconvert(), arg("label_rows").noconvert(),
          arg("together").noconvert(), arg("n_threads"));
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
    require_shape(scores, n_labels, n_terms, "scores");
    const ChiSquareTerms terms{term_frequencies.data(), of_terms.data(), std::int64_t(of_terms.size())};
    const ChiSquareLabels labels{label_frequencies.data(), of_labels.data(), std::int64_t(of_labels.size())};
    without_gil(
        [&] { chi_square(together.data(), terms, labels, n, scores.data(), n_threads, poll_signals); });
}

}  // namespace

void register_select(nb::module_& m) {
    register_count_by_label<float>(m);
    register_count_by_label<double>(m);
    using nb::arg;
    m.def("chi_square", &chi_square_arrays, arg("together").noconvert(), arg("term_frequencies").noconvert(),
          arg("of_terms").noconvert(), arg("label_frequencies").noconvert(), arg("of_labels").noconvert(),
          arg("n"), arg("scores").noconvert(), arg("n_threads"));
}

}  // namespace widemargin
