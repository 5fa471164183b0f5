// Python's view of the dissimilarities of texts and n-gram profiles.
#include "bindings/bindings.hpp"
#include "bindings/text/texts.hpp"
#include "profiles/dissimilarities.hpp"
#include "profiles/text_dissimilarities.hpp"

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

// An index, and the owners of its arrays. lines: n-grams of many profiles x at least the number of profiles;
// place: one number per term, or none; few: pairs of a number and the bits of a float.
struct BoundProfiles {
    BoundProfiles(const Csr& by_term, InputMatrix<float> lines, Input<std::int32_t> place,
                  InputMatrix<std::int32_t> few)
        : matrix(by_term),
          arrays{nb::ndarray<>(lines.handle()), nb::ndarray<>(place.handle()), nb::ndarray<>(few.handle())} {
        index.by_term = by_term.of_type<double>();
        if (place.size() == 0) return;
        require_size(place, index.by_term.n_rows, "place");
        const auto n_lines = std::int64_t(lines.shape(0)), n_few = std::int64_t(few.shape(0));
        index.stride = std::int64_t(lines.shape(1));
        if (index.stride < index.by_term.n_columns) throw nb::value_error("lines are too short");
        require_shape(few, {n_few, 2}, "few");
        for (std::size_t term = 0; term < place.size(); ++term) {
            const std::int64_t at = place(term);
            const Row<double> having = index.by_term.row(std::int64_t(term));
            if (at >= n_lines || (at < 0 && -at + having.size > n_few))
                throw nb::value_error("place is not in lines or few");
            if (at >= 0) continue;
            bool same = few(-1 - at, 0) == having.size;
            for (std::int64_t h = 0; same && h < having.size; ++h) same = few(h - at, 0) == having.indices[h];
            if (!same) throw nb::value_error("few and by_term do not fit each other");
        }
        index.lines = lines.data();
        index.place = place.data();
        index.few = reinterpret_cast<const ProfileIndex::Few*>(few.data());
    }

    ProfileIndex index{};
    Csr matrix;
    nb::ndarray<> arrays[3];
};

void dissimilarities_arrays(const Csr& texts, const BoundProfiles& bound, const Filled<ProfileSums>& profiles,
                            const Filled<DissimilarityRule>& rule, OutputMatrix<double> out, int n_threads) {
    const ProfileIndex& index = bound.index;
    texts.visit(n_threads, [&](const auto& x) {
        const ProfileSums sums = fitting(x, index.by_term, profiles);
        require_shape(out, {x.n_rows, index.by_term.n_columns}, "out");
        without_gil([&] { dissimilarities(x, index, sums, rule.core, out.data(), n_threads, poll_signals); });
    });
}

// "kl", profile to text, without what is the same for all profiles.
void text_dissimilarities_arrays(const Texts& texts, const BoundIndex<TermIndex>& terms,
                                 const BoundProfiles& bound, const Filled<ProfileSums>& profiles,
                                 OutputMatrix<double> out, int n_threads) {
    require_threads(n_threads);
    const ProfileIndex& index = bound.index;
    if (terms.index.n_columns() != index.by_term.n_rows)
        throw nb::value_error("terms and by_term do not fit each other");
    Sizes sizes{{"profiles", index.by_term.n_columns}};
    const ProfileSums sums = profiles.fitting(sizes);
    require_shape(out, {std::int64_t(texts.views.size()), index.by_term.n_columns}, "out");
    without_gil([&] {
        text_dissimilarities(texts.views, terms.rule, terms.index, index, sums, out.data(), n_threads,
                             poll_signals);
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
    nb::class_<BoundProfiles>(m, "ProfileIndex")
        .def(nb::init<const Csr&, InputMatrix<float>, Input<std::int32_t>, InputMatrix<std::int32_t>>(),
             arg("by_term"), array("lines"), array("place"), array("few"));
    m.def("dissimilarities", &dissimilarities_arrays, arg("texts"), arg("index"), arg("profiles"),
          arg("rule"), array("out"), arg("n_threads"));
    m.def("text_dissimilarities", &text_dissimilarities_arrays, arg("texts"), arg("terms"), arg("index"),
          arg("profiles"), array("out"), arg("n_threads"));
    m.def("dissimilarity_parts", &dissimilarity_parts_arrays, arg("text"), arg("by_term"), arg("profiles"),
          arg("rule"), array("base"), array("out"));
}

}  // namespace widemargin
