// Python's view of nearest neighbors by the cosine.
#include "bindings/bindings.hpp"
#include "neighbors/unit_rows.hpp"
#include "neighbors/votes.hpp"

namespace widemargin {

namespace {

// out: one number per value of the matrix.
void unit_rows_arrays(const Csr& csr, Output<float> out) {
    csr.visit(1, [&](const auto& x) {
        require_size(out, x.n_values(), "out");
        without_gil([&] { unit_rows(x, out.data()); });
    });
}

// An index, and the owners of its arrays. weights: one per row, or empty.
struct BoundNeighbors {
    BoundNeighbors(const Csr& rows, Input<double> weights)
        : matrix(rows), owner(nb::ndarray<>(weights.handle())), index(made(rows, weights)) {}

    static CosineIndex made(const Csr& rows, const Input<double>& weights) {
        const CsrView<float>& x = rows.of_type<float>();
        if (weights.size()) require_size(weights, x.n_rows, "weights");
        return CosineIndex(x, weights.size() ? weights.data() : nullptr);
    }

    Queries fitting(const Csr& queries, const Input<std::int32_t>& left_out) const {
        const CsrView<float>& x = queries.of_type<float>();
        if (x.n_columns != index.rows().n_columns) throw nb::value_error("queries have other columns");
        if (left_out.size()) require_size(left_out, x.n_rows, "left_out");
        return {x, left_out.size() ? left_out.data() : nullptr};
    }

    Csr matrix;
    nb::ndarray<> owner;
    CosineIndex index;
};

// left_out: one row per query, or empty. scores: queries x labels.
void vote_arrays(const BoundNeighbors& self, const Csr& queries, Input<std::int32_t> left_out,
                 Input<std::int64_t> label_indptr, Input<std::int32_t> labels,
                 const Filled<VoteOptions>& options, OutputMatrix<double> scores, int n_threads) {
    require_threads(n_threads);
    const Queries given = self.fitting(queries, left_out);
    const std::int64_t n_rows = self.index.rows().n_rows, n_labels = std::int64_t(scores.shape(1));
    require_size(label_indptr, n_rows + 1, "label_indptr");
    require_size(labels, label_indptr(n_rows), "labels");
    require_shape(scores, {given.rows.n_rows, n_labels}, "scores");
    const LabelsOfRows of_rows{n_labels, label_indptr.data(), labels.data()};
    without_gil(
        [&] { vote(self.index, given, of_rows, options.core, scores.data(), n_threads, poll_signals); });
}

// rows, cosines and counts: queries x the most neighbors that are wanted.
void nearest_arrays(const BoundNeighbors& self, const Csr& queries, Input<std::int32_t> left_out, double k,
                    OutputMatrix<std::int32_t> rows, OutputMatrix<double> cosines,
                    OutputMatrix<double> counts, int n_threads) {
    require_threads(n_threads);
    const Queries given = self.fitting(queries, left_out);
    const auto room = std::int64_t(rows.shape(1));
    const Shape shape{given.rows.n_rows, room};
    require_shape(rows, shape, "rows");
    require_shape(cosines, shape, "cosines");
    require_shape(counts, shape, "counts");
    const Found found{room, rows.data(), cosines.data(), counts.data()};
    without_gil([&] { nearest(self.index, given, k, found, n_threads, poll_signals); });
}

}  // namespace

void register_neighbors(nb::module_& m) {
    using nb::arg;
    m.def("unit_rows", &unit_rows_arrays, arg("csr"), array("out"));
    Fields<VoteOptions>(m, "VoteOptions").values("k", &VoteOptions::k, "by_cosine", &VoteOptions::by_cosine);
    nb::class_<BoundNeighbors>(m, "NeighborIndex")
        .def(nb::init<const Csr&, Input<double>>(), arg("rows"), array("weights"))
        .def("vote", &vote_arrays, arg("queries"), array("left_out"), array("label_indptr"), array("labels"),
             arg("options"), array("scores"), arg("n_threads"))
        .def("nearest", &nearest_arrays, arg("queries"), array("left_out"), arg("k"), array("rows"),
             array("cosines"), array("counts"), arg("n_threads"));
}

}  // namespace widemargin
