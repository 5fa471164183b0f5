// Python's view of what tokens stand for: units, stems, the concepts of a thesaurus.
#include "text/terms/thesaurus.hpp"

#include <memory>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/text/texts.hpp"
#include "text/terms/term_index.hpp"

namespace widemargin {
namespace {

// Numbers from -1 up to below `end`.
std::vector<int32_t> checked_numbers(const Input<int32_t>& numbers, int64_t end, const char* name) {
    for (size_t i = 0; i < numbers.size(); ++i)
        if (numbers(i) < -1 || numbers(i) >= end)
            throw nb::value_error((std::string(name) + " has a number that is not there").c_str());
    return {numbers.data(), numbers.data() + numbers.size()};
}

TokenMap token_map(const Input<uint8_t>& bytes, const Input<int64_t>& offsets,
                   const Input<uint64_t>& values) {
    const Strings strings = copy_strings(bytes, offsets);
    require_size(values, strings.size(), "values");
    TokenMap map;
    for (int64_t i = 0; i < strings.size(); ++i) map.add(strings.token(i), values(i));
    return map;
}

Entries entries(const Input<int32_t>& words, const Input<int64_t>& offsets, const Input<int32_t>& concepts) {
    require_size(offsets, static_cast<int64_t>(concepts.size()) + 1, "offsets");
    if (offsets(0) != 0 || offsets(concepts.size()) != static_cast<int64_t>(words.size()))
        throw nb::value_error("offsets do not fit words");
    for (size_t i = 0; i < concepts.size(); ++i)
        if (offsets(i) >= offsets(i + 1) || concepts(i) < 0)
            throw nb::value_error("every entry needs words and a concept");
    return Entries({words.data(), words.data() + words.size()},
                   {offsets.data(), offsets.data() + offsets.size()},
                   {concepts.data(), concepts.data() + concepts.size()});
}

}  // namespace

void register_thesaurus(nb::module_& m) {
    m.attr("SKIP") = kSkip;
    m.attr("UNKNOWN") = kUnknown;
    nb::class_<TokenMap>(m, "TokenMap")
        .def(
            "__init__",
            [](TokenMap* self, Input<uint8_t> bytes, Input<int64_t> offsets, Input<uint64_t> values) {
                new (self) TokenMap(token_map(bytes, offsets, values));
            },
            array("bytes"), array("offsets"), array("values"));

    nb::class_<Entries>(m, "Entries")
        .def(
            "__init__",
            [](Entries* self, Input<int32_t> words, Input<int64_t> offsets, Input<int32_t> concepts) {
                new (self) Entries(entries(words, offsets, concepts));
            },
            array("words"), array("offsets"), array("concepts"));

    nb::class_<ConceptMap>(m, "ConceptMap")
        .def(
            "__init__",
            [](ConceptMap* self, const Entries& entries, Input<uint8_t> bytes, Input<int64_t> offsets,
               Input<uint64_t> numbers, Input<uint64_t> meanings) {
                if (entries.n_concepts() > meanings.size()) throw nb::value_error("a concept has no meaning");
                new (self) ConceptMap{entries,
                                      token_map(bytes, offsets, numbers),
                                      {meanings.data(), meanings.data() + meanings.size()}};
            },
            nb::arg("entries"), array("bytes"), array("offsets"), array("numbers"), array("meanings"));

    nb::class_<UnitMap>(m, "UnitMap")
        .def(
            "__init__",
            [](UnitMap* self, Input<uint8_t> bytes, Input<int64_t> offsets, Input<int32_t> unit_of) {
                Strings units = copy_strings(bytes, offsets);
                std::vector<int32_t> checked = checked_numbers(unit_of, units.size(), "unit_of");
                new (self) UnitMap{std::move(units), std::move(checked), {}, {}, {}};
            },
            array("bytes"), array("offsets"), array("unit_of"))
        .def(
            "set_concepts",
            [](UnitMap& self, const Entries& entries, Input<int32_t> number_of, Input<int32_t> meanings) {
                if (entries.n_concepts() > meanings.size()) throw nb::value_error("a concept has no meaning");
                self.number_of = checked_numbers(number_of, 0x7FFFFFFF, "number_of");
                self.meanings = checked_numbers(meanings, self.units.size(), "meanings");
                self.entries = {entries};
            },
            nb::arg("entries"), array("number_of"), array("meanings"));
}

}  // namespace widemargin
