// Python's view of term weighting.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings.hpp"
#include "weighing.hpp"

namespace widemargin {
namespace {

void weigh(Input<int64_t> indptr, Input<int32_t> indices, Input<int32_t> counts,
           std::optional<Input<double>> collection, DocumentComponent document, Normalization normalization,
           Output<float> weights, int n_threads) {
    const auto non_zeros = static_cast<int64_t>(indices.size());
    const int64_t n_rows = static_cast<int64_t>(indptr.size()) - 1;
    require_size(counts, non_zeros, "counts");
    require_size(weights, non_zeros, "weights");
    if (n_rows < 0 || indptr(0) != 0 || indptr(n_rows) != non_zeros)
        throw nb::value_error("indptr does not fit indices");
    const double* factors = collection ? collection->data() : nullptr;
    const Runner run(n_threads, non_zeros);
    without_gil([&] {
        Pieces work(n_rows, 256);
        run([&](int, const StopFlag& stop) {
            Weigher weigher(document, factors, normalization);
            for (int64_t r, end; !stop && work.next(r, end);)
                for (; r < end; ++r) {
                    const int64_t at = indptr.data()[r];
                    weigher.row(indices.data() + at, counts.data() + at, indptr.data()[r + 1] - at,
                                weights.data() + at);
                }
        });
    });
}

}  // namespace

void register_weight(nb::module_& m) {
    nb::enum_<DocumentComponent>(m, "DocumentComponent")
        .value("binary", DocumentComponent::binary)
        .value("term_frequency", DocumentComponent::term_frequency)
        .value("augmented", DocumentComponent::augmented)
        .value("logarithmic", DocumentComponent::logarithmic)
        .value("square_root", DocumentComponent::square_root);
    nb::enum_<Normalization>(m, "Normalization")
        .value("none", Normalization::none)
        .value("length_2", Normalization::length_2)
        .value("length_1", Normalization::length_1);
    m.def("weigh", &weigh, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("counts").noconvert(), nb::arg("collection").none().noconvert(), nb::arg("document"),
          nb::arg("normalization"), nb::arg("weights").noconvert(), nb::arg("n_threads"));
}

}  // namespace widemargin
