// Python's view of the functions that only least squares uses.
#include "bindings/bindings.hpp"
#include "sparse/scoring.hpp"
#include "squares/gram_columns.hpp"

namespace widemargin {

namespace {

// The product of a sparse matrix and columns, with lines reordered: line lines[i] is that of row i.
void product_lines_arrays(const Csr& csr, InputMatrix<double> columns, Input<std::int32_t> lines,
                          OutputMatrix<double> product, int n_threads) {
    require_threads(n_threads);
    csr.visit([&](const auto& x) {
        const auto width = std::int64_t(columns.shape(1));
        require_shape(columns, {x.n_columns, width}, "columns");
        require_size(lines, x.n_rows, "lines");
        require_shape(product, {x.n_rows, width}, "product");
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (lines(i) < 0 || lines(i) >= x.n_rows)
                throw nb::value_error("lines names a line that is not there");
        const std::vector<double> nothing(width, 0.0);
        without_gil([&] {
            score_rows(x, columns.data(), nothing.data(), width, product.data(), n_threads, poll_signals,
                       lines.data());
        });
    });
}

template <typename T>
void shared_columns_arrays(const Csr& csr, Input<std::int32_t> place, std::int64_t n_shared,
                           Output<std::int64_t> indptr, Output<std::int32_t> indices, Output<T> values,
                           Output<double> own) {
    const CsrView<T>& x = csr.of_type<T>();
    require_size(place, x.n_columns, "place");
    require_size(indptr, x.n_rows + 1, "indptr");
    require_size(values, std::int64_t(indices.size()), "values");
    require_size(own, x.n_rows, "own");
    without_gil([&] {
        shared_columns(x, place.data(), n_shared, indptr.data(), indices.data(), values.data(), own.data());
    });
}

template <typename T>
void columns_by_place_arrays(const Csr& csr, Input<std::int32_t> place, Input<std::int64_t> indptr,
                             Output<std::int32_t> indices, Output<T> values) {
    const CsrView<T>& x = csr.of_type<T>();
    require_size(place, x.n_columns, "place");
    require_size(indptr, x.n_columns + 1, "indptr");
    require_size(indices, x.n_values(), "indices");
    require_size(values, x.n_values(), "values");
    without_gil([&] { columns_by_place(x, place.data(), indptr.data(), indices.data(), values.data()); });
}

template <typename T>
void register_columns(nb::module_& m) {
    using nb::arg;
    m.def("shared_columns", &shared_columns_arrays<T>, arg("csr"), arg("place").noconvert(), arg("n_shared"),
          arg("indptr").noconvert(), arg("indices").noconvert(), arg("values").noconvert(),
          arg("own").noconvert());
    m.def("columns_by_place", &columns_by_place_arrays<T>, arg("csr"), arg("place").noconvert(),
          arg("indptr").noconvert(), arg("indices").noconvert(), arg("values").noconvert());
}

}  // namespace

void register_squares(nb::module_& m) {
    using nb::arg;
    register_columns<float>(m);
    register_columns<double>(m);
    m.def("product_lines", &product_lines_arrays, arg("csr"), arg("columns").noconvert(),
          arg("lines").noconvert(), arg("product").noconvert(), arg("n_threads"));
}

}  // namespace widemargin
