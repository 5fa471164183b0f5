// Functions of the core for least squares.
#include "bindings/bindings.hpp"
#include "sparse/scoring.hpp"
#include "squares/gram_columns.hpp"

namespace widemargin {

namespace {

// The product of a sparse matrix and columns, its lines in another order: line lines[i] is that of row i.
template <typename T>
void product_lines_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                          InputMatrix<double> columns, Input<std::int32_t> lines,
                          OutputMatrix<double> product, int n_threads) {
    const CsrView<T> x = csr_view(indptr, indices, values, std::int64_t(columns.shape(0)));
    require_threads(n_threads);
    require_size(lines, x.n_rows, "lines");
    require_shape(product, x.n_rows, std::int64_t(columns.shape(1)), "product");
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (lines(i) < 0 || lines(i) >= x.n_rows)
            throw nb::value_error("lines names a line that is not there");
    const std::vector<double> nothing(columns.shape(1), 0.0);
    without_gil([&] {
        score_rows(x, columns.data(), nothing.data(), std::int64_t(columns.shape(1)), product.data(),
                   n_threads, poll_signals, lines.data());
    });
}

template <typename T>
void order_columns_arrays(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
                          Input<std::int32_t> place, std::int64_t n_shared,
                          Output<std::int64_t> across_indptr, Output<std::int32_t> across_indices,
                          Output<T> across_values, Input<std::int64_t> down_indptr,
                          Output<std::int32_t> down_indices, Output<T> down_values, Output<double> own) {
    const CsrView<T> x = csr_view(indptr, indices, values, std::int64_t(place.size()));
    require_size(across_indptr, x.n_rows + 1, "across_indptr");
    require_size(across_values, std::int64_t(across_indices.size()), "across_values");
    require_size(down_indptr, x.n_columns + 1, "down_indptr");
    require_size(down_indices, x.n_values(), "down_indices");
    require_size(down_values, x.n_values(), "down_values");
    require_size(own, x.n_rows, "own");
    const OrderedColumns<T> out{across_indptr.data(),
                                across_indices.data(),
                                across_values.data(),
                                down_indptr.data(),
                                down_indices.data(),
                                down_values.data(),
                                own.data()};
    without_gil([&] { order_columns(x, place.data(), n_shared, out); });
}

template <typename T>
void register_sparse(nb::module_& m) {
    using nb::arg;
    m.def("order_columns", &order_columns_arrays<T>, arg("indptr").noconvert(), arg("indices").noconvert(),
          arg("values").noconvert(), arg("place").noconvert(), arg("n_shared"),
          arg("across_indptr").noconvert(), arg("across_indices").noconvert(),
          arg("across_values").noconvert(), arg("down_indptr").noconvert(), arg("down_indices").noconvert(),
          arg("down_values").noconvert(), arg("own").noconvert());
    m.def("product_lines", &product_lines_arrays<T>, arg("indptr").noconvert(), arg("indices").noconvert(),
          arg("values").noconvert(), arg("columns").noconvert(), arg("lines").noconvert(),
          arg("product").noconvert(), arg("n_threads"));
}

}  // namespace

void register_least_squares(nb::module_& m) {
    register_sparse<float>(m);
    register_sparse<double>(m);
}

}  // namespace widemargin
