// Python's view of the functions that only least squares uses.
#include "bindings/bindings.hpp"
#include "sparse/scoring.hpp"
#include "squares/gram_columns.hpp"

namespace widemargin {

namespace {

// The product of a sparse matrix and columns, with lines reordered: line lines[i] is that of row i. Its
// memory is on pages of the usual size. NumPy would ask for large ones, which take several times as long to
// get in a virtual machine; the models of 20 lambdas are 20 such arrays.
nb::ndarray<nb::numpy, double, nb::ndim<2>> product_lines(const Csr& csr, InputMatrix<double> columns,
                                                          Input<std::int32_t> lines, int n_threads) {
    return csr.visit(n_threads, [&](const auto& x) {
        const std::size_t width = columns.shape(1), n_lines = lines.size();
        require_shape(columns, {x.n_columns, std::int64_t(width)}, "columns");
        require_size(lines, x.n_rows, "lines");
        for (std::size_t i = 0; i < n_lines; ++i)
            if (lines(i) < 0 || lines(i) >= x.n_rows)
                throw nb::value_error("lines names a line that is not there");
        const std::vector<double> nothing(width, 0.0);
        auto* const product = new double[n_lines * width];
        const nb::capsule owner(product, [](void* p) noexcept { delete[] static_cast<double*>(p); });
        without_gil([&] {
            score_rows(x, columns.data(), nothing.data(), std::int64_t(width), product, n_threads,
                       poll_signals, lines.data());
        });
        return nb::ndarray<nb::numpy, double, nb::ndim<2>>(product, {n_lines, width}, owner);
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
    m.def("shared_columns", &shared_columns_arrays<T>, arg("csr"), array("place"), arg("n_shared"),
          array("indptr"), array("indices"), array("values"), array("own"));
    m.def("columns_by_place", &columns_by_place_arrays<T>, arg("csr"), array("place"), array("indptr"),
          array("indices"), array("values"));
}

}  // namespace

void register_squares(nb::module_& m) {
    using nb::arg;
    register_columns<float>(m);
    register_columns<double>(m);
    m.def("product_lines", &product_lines, arg("csr"), array("columns"), array("lines"), arg("n_threads"));
}

}  // namespace widemargin
