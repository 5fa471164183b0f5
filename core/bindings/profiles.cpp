// Python's view of the dissimilarities of texts and n-gram profiles.
#include "bindings/bindings.hpp"
#include "profiles/dissimilarities.hpp"

namespace widemargin {

namespace {

// The inverted index, whose rows are the columns of the texts, and the sums of its profiles.
template <typename T>
ProfileSums fitting(const CsrView<T>& texts, const CsrView<double>& by_term,
                    const Filled<ProfileSums>& profiles) {
    if (texts.n_columns != by_term.n_rows) throw nb::value_error("texts and by_term do not fit each other");
    Sizes sizes{{"profiles", by_term.n_columns}};
    return profiles.fitting(sizes);
}

// lines: n-grams of many profiles x at least the number of profiles; place: the line of every term, or -1.
void dissimilarities_arrays(const Csr& texts, const Csr& by_term, InputMatrix<float> lines,
                            Input<std::int32_t> place, const Filled<ProfileSums>& profiles,
                            const Filled<DissimilarityRule>& rule, OutputMatrix<double> out, int n_threads) {
    const ProfileIndex index{by_term.of_type<double>(), lines.data(), place.data(),
                             std::int64_t(lines.shape(0)), std::int64_t(lines.shape(1))};
    if (index.stride < index.by_term.n_columns) throw nb::value_error("lines are too short");
    if (index.n_lines > 0) require_size(place, index.by_term.n_rows, "place");
    texts.visit(n_threads, [&](const auto& x) {
        const ProfileSums sums = fitting(x, index.by_term, profiles);
        require_shape(out, {x.n_rows, index.by_term.n_columns}, "out");
        without_gil([&] { dissimilarities(x, index, sums, rule.core, out.data(), n_threads, poll_signals); });
    });
}

// base: (profiles,); out: the values of the one text x profiles.
void dissimilarity_parts_arrays(const Csr& text, const Csr& by_term, const Filled<ProfileSums>& profiles,
                                const Filled<DissimilarityRule>& rule, Output<double> base,
                                OutputMatrix<double> out) {
    const CsrView<double>& index = by_term.of_type<double>();
    text.visit(1, [&](const auto& x) {
        const ProfileSums sums = fitting(x, index, profiles);
        if (x.n_rows != 1) throw nb::value_error("the parts are those of one text");
        require_size(base, index.n_columns, "base");
        require_shape(out, {x.n_values(), index.n_columns}, "out");
        without_gil([&] { dissimilarity_parts(x.row(0), index, sums, rule.core, base.data(), out.data()); });
    });
}

}  // namespace

void register_profiles(nb::module_& m) {
    using nb::arg;
    nb::enum_<DissimilarityKind>(m, "DissimilarityKind")
        .value("ct", DissimilarityKind::ct)
        .value("kl", DissimilarityKind::kl)
        .value("kl_all", DissimilarityKind::kl_all)
        .value("cosine", DissimilarityKind::cosine)
        .value("chi2", DissimilarityKind::chi2)
        .value("chi2_asymmetric", DissimilarityKind::chi2_asymmetric);
    Fields<DissimilarityRule>(m, "DissimilarityRule")
        .values("kind", &DissimilarityRule::kind, "text_first", &DissimilarityRule::text_first, "unseen",
                &DissimilarityRule::unseen, "n_max", &DissimilarityRule::n_max, "d_max",
                &DissimilarityRule::d_max);
    Fields<ProfileSums>(m, "ProfileSums")
        .arrays(shape("profiles"), "size", &ProfileSums::size, "mass", &ProfileSums::mass, "squares",
                &ProfileSums::squares, "logs", &ProfileSums::logs, "entropy", &ProfileSums::entropy, "unseen",
                &ProfileSums::unseen, "log_unseen", &ProfileSums::log_unseen, "ranks", &ProfileSums::ranks);
    m.def("dissimilarities", &dissimilarities_arrays, arg("texts"), arg("by_term"), array("lines"),
          array("place"), arg("profiles"), arg("rule"), array("out"), arg("n_threads"));
    m.def("dissimilarity_parts", &dissimilarity_parts_arrays, arg("text"), arg("by_term"), arg("profiles"),
          arg("rule"), array("base"), array("out"));
}

}  // namespace widemargin
