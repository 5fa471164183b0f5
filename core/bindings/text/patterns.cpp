// Python's view of patterns: the tables of an automaton, and its matches in texts.
#include <memory>
#include <stdexcept>

#include "bindings/bindings.hpp"
#include "bindings/text/texts.hpp"
#include "text/patterns/pattern.hpp"

namespace widemargin {
namespace {

template <class T>
std::vector<T> copied(const Input<T>& values) {
    return std::vector<T>(values.data(), values.data() + values.size());
}

}  // namespace

void register_patterns(nb::module_& m) {
    nb::class_<BoundPattern>(m, "Pattern")
        .def(
            "__init__",
            [](BoundPattern* self, Input<uint32_t> starts, Input<uint32_t> classes, Input<int32_t> table,
               Input<int32_t> first, Input<uint8_t> words) {
                if (first.size() != 2) throw nb::value_error("a pattern begins in two states");
                try {
                    new (self) BoundPattern{std::make_shared<const Pattern>(
                        copied(starts), copied(classes), copied(table),
                        std::array<int32_t, 2>{first(0), first(1)}, copied(words))};
                } catch (const std::invalid_argument& error) {
                    throw nb::value_error(error.what());
                }
            },
            array("starts"), array("classes"), array("table"), array("first"), array("words"))
        .def(
            "find_all",
            [](const BoundPattern& self, Input<uint32_t> characters) {
                std::vector<int64_t> places;
                const auto next = [&](int64_t& at) {
                    const uint32_t c = characters(at++);
                    return c < unicode::kCodePoints ? c : unicode::kInvalid;
                };
                self.pattern->find_all(static_cast<int64_t>(characters.size()), next,
                                       [&](int64_t begin, int64_t end) {
                                           places.push_back(begin);
                                           places.push_back(end);
                                       });
                nb::list found;
                for (const int64_t place : places) found.append(place);
                return found;
            },
            array("characters"), "The beginnings and ends of all matches, alternating.");
}

}  // namespace widemargin
