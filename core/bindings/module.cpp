// The extension module. Each part of the core registers its functions in a file of its own.
#include "bindings/bindings.hpp"
#include "simd/loops.hpp"

namespace widemargin {

void register_by_blocks(nb::module_& m);
void register_kernel(nb::module_& m);
void register_linear(nb::module_& m);
void register_local_descent(nb::module_& m);
void register_multiclass(nb::module_& m);
void register_neighbors(nb::module_& m);
void register_on_disk(nb::module_& m);
void register_online(nb::module_& m);
void register_patterns(nb::module_& m);
void register_profiles(nb::module_& m);
void register_sparse(nb::module_& m);
void register_squares(nb::module_& m);
void register_text(nb::module_& m);
void register_text_scores(nb::module_& m);
void register_thesaurus(nb::module_& m);
void register_transduction(nb::module_& m);
void register_trees(nb::module_& m);

}  // namespace widemargin

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of widemargin: arrays in, arrays out.";
    // Chosen here, so that an unknown value of WIDEMARGIN_SIMD raises ImportError at once instead of failing
    // a fit.
    m.attr("SIMD") = widemargin::uses_avx2() ? "avx2" : "baseline";
    widemargin::register_sparse(m);
    widemargin::register_kernel(m);
    widemargin::register_linear(m);
    widemargin::register_by_blocks(m);
    widemargin::register_local_descent(m);
    widemargin::register_multiclass(m);
    widemargin::register_neighbors(m);
    widemargin::register_online(m);
    widemargin::register_profiles(m);
    widemargin::register_squares(m);
    widemargin::register_patterns(m);
    widemargin::register_thesaurus(m);
    widemargin::register_text(m);
    widemargin::register_on_disk(m);
    widemargin::register_text_scores(m);
    widemargin::register_transduction(m);
    widemargin::register_trees(m);
}
