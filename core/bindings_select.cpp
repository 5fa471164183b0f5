// Functions of the core that select features.
#include "bindings.hpp"
#include "term_counts.hpp"

namespace widemargin {

namespace {

template <class T>
using OutputMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// together: labels x terms. label_indptr: where the rows of each label begin in label_rows.
template <typename T>
void count_by_label_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                           Input<std::int64_t> label_indptr, Input<std::int32_t> label_rows,
                           OutputMatrix<std::int32_t> together, int n_threads) {
    const CsrView<T> x{indptr.data(), indices.data(), values.data(), std::int64_t(indptr.size()) - 1,
                       std::int64_t(together.shape(1))};
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

}  // namespace

void register_select(nb::module_& m) {
    register_count_by_label<float>(m);
    register_count_by_label<double>(m);
}

}  // namespace widemargin
