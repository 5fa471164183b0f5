// Python's view of the text part of the core: texts, the passes over them, counts, weights.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <memory>
#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/text/texts.hpp"
#include "text/counting.hpp"
#include "text/weighing.hpp"

namespace widemargin {
namespace {

// Writes strings to arrays that Python allocated.
void write_strings(const Strings& strings, Output<uint8_t> bytes, Output<int64_t> offsets) {
    require_size(bytes, static_cast<int64_t>(strings.bytes.size()), "bytes");
    require_size(offsets, strings.size() + 1, "offsets");
    std::copy(strings.bytes.begin(), strings.bytes.end(), reinterpret_cast<char*>(bytes.data()));
    std::copy(strings.offsets.begin(), strings.offsets.end(), offsets.data());
}

TextRule make_rule(UnitKind kind, bool alnum, int64_t min_length, int min_n, int max_n, int reach,
                   bool ordered) {
    TextRule rule;
    rule.kind = kind;
    rule.tokens.alphabet = kind == UnitKind::characters ? Alphabet::characters
                           : kind == UnitKind::bytes    ? Alphabet::bytes
                           : alnum                      ? Alphabet::alnum
                                                        : Alphabet::unicode;
    rule.tokens.join_numbers = alnum && kind == UnitKind::words;
    rule.tokens.min_length = min_length;
    if (min_n < 1 || max_n < min_n || max_n > 255) throw nb::value_error("1 <= min_n <= max_n <= 255");
    if (reach < 0 || reach > 256) throw nb::value_error("0 <= reach <= 256");
    if (reach > 0 && kind != UnitKind::words) throw nb::value_error("only words have pairs");
    rule.ngrams = {min_n, max_n, kind == UnitKind::characters_in_words, {reach, ordered}};
    return rule;
}

void set_patterns(TextRule& rule, const BoundPattern* token, const BoundPattern* ignored, bool fold_case) {
    const bool words = rule.kind == UnitKind::words || rule.kind == UnitKind::characters_in_words;
    if (token && !words) throw nb::value_error("only words are found by a pattern");
    if (rule.kind == UnitKind::bytes && (ignored || !fold_case))
        throw nb::value_error("bytes are as they are");
    rule.tokens.fold_case = fold_case;
    if (ignored) rule.tokens.ignored = ignored->pattern;
    if (!token) return;
    rule.tokens.token = token->pattern;
    rule.tokens.alphabet = Alphabet::pattern;
    rule.tokens.join_numbers = false;
}

template <class T>
void write(const std::vector<T>& values, Output<T> out, const char* name) {
    require_size(out, static_cast<int64_t>(values.size()), name);
    std::copy(values.begin(), values.end(), out.data());
}

// Rows that are not written to a matrix yet.
struct CountRows {
    Rows rows;
    int n_threads;

    void release(Output<int64_t> indptr, Output<int32_t> indices, Output<int32_t> counts) {
        require_size(indptr, rows.n_rows() + 1, "indptr");
        require_size(indices, rows.non_zeros(), "indices");
        require_size(counts, rows.non_zeros(), "counts");
        const Runner run(n_threads, rows.non_zeros());
        without_gil([&] { rows.release(indptr.data(), indices.data(), counts.data(), run); });
    }
};

template <class Index>
CountRows count(const BoundIndex<Index>& bound, const Texts& texts, const TokenMap* map,
                const ConceptMap* concepts, int n_threads) {
    CountRows result;
    const Runner run(n_threads, texts.length());
    result.n_threads = n_threads;
    without_gil([&] {
        result.rows = count_known(texts.views, bound.rule, bound.index,
                                  {map ? *map : bound.index.units(), concepts}, run.n_threads, run);
    });
    return result;
}

template <class Index>
Occurrences locate(const BoundIndex<Index>& bound, const Texts& texts, const TokenMap* map,
                   const ConceptMap* concepts) {
    if (texts.views.size() != 1) throw nb::value_error("locate takes one text");
    Occurrences result;
    without_gil([&] {
        result = locate_known(texts.views[0], bound.rule, bound.index,
                              {map ? *map : bound.index.units(), concepts});
    });
    return result;
}

template <class Index>
void skip(BoundIndex<Index>& bound, Input<uint8_t> bytes, Input<int64_t> offsets) {
    const Strings strings = copy_strings(bytes, offsets);
    for (int64_t i = 0; i < strings.size(); ++i) bound.index.skip(strings.token(i));
}

// The value of each string as a unit, known or not.
template <class Index>
void units(const BoundIndex<Index>& bound, Input<uint8_t> bytes, Input<int64_t> offsets,
           Output<uint64_t> out) {
    const Strings strings = copy_strings(bytes, offsets);
    require_size(out, strings.size(), "out");
    for (int64_t i = 0; i < strings.size(); ++i) {
        const Token token = strings.token(i);
        const uint64_t* found = bound.index.units().find(token);
        out.data()[i] = found ? *found : bound.index.missing(token);
    }
}

template <class Index>
void bind_index(nb::class_<BoundIndex<Index>>& index) {
    index
        .def("count", &count<Index>, nb::arg("texts"), nb::arg("map").none(), nb::arg("concepts").none(),
             nb::arg("n_threads"))
        .def("locate", &locate<Index>, nb::arg("texts"), nb::arg("map").none(), nb::arg("concepts").none())
        .def("skip", &skip<Index>, array("bytes"), array("offsets"))
        .def("units", &units<Index>, array("bytes"), array("offsets"), array("out"));
}

void weigh(Input<int64_t> indptr, Input<int32_t> indices, Input<int32_t> counts,
           std::optional<Input<double>> collection, DocumentComponent document, Normalization normalization,
           Output<float> weights, int n_threads) {
    const auto non_zeros = static_cast<int64_t>(indices.size());
    const int64_t n_rows = static_cast<int64_t>(indptr.size()) - 1;
    require_size(counts, non_zeros, "counts");
    require_size(weights, non_zeros, "weights");
    if (n_rows < 0 || indptr(0) != 0 || indptr(n_rows) != non_zeros)
        throw nb::value_error("indptr does not fit indices");
    if (collection) {
        uint32_t greatest = 0;  // a negative number is larger than any column
        for (int64_t k = 0; k < non_zeros; ++k) greatest = std::max(greatest, uint32_t(indices.data()[k]));
        if (non_zeros > 0 && greatest >= collection->size())
            throw nb::value_error("indices names a column without a factor");
    }
    const double* factors = collection ? collection->data() : nullptr;
    const Runner run(n_threads, non_zeros / 4);  // a weight takes less time than a character
    without_gil([&] {
        Pieces work(n_rows, 256);
        run([&](int, const StopFlag& stop) {
            Weigher weigher(document, factors, normalization);
            work.each(stop, [&](int64_t r) {
                const int64_t at = indptr.data()[r];
                weigher.row(indices.data() + at, counts.data() + at, indptr.data()[r + 1] - at,
                            weights.data() + at);
            });
        });
    });
}

// Adds the rows to `frequencies`, one after the other; `factors` has one number for each value.
void running_factors(Input<int64_t> indptr, Input<int32_t> indices, bool probabilistic, double power,
                     int64_t n_documents, Output<int64_t> frequencies, Output<double> factors) {
    const auto non_zeros = static_cast<int64_t>(indices.size());
    const int64_t n_rows = static_cast<int64_t>(indptr.size()) - 1;
    require_size(factors, non_zeros, "factors");
    if (n_rows < 0 || indptr(0) != 0 || indptr(n_rows) != non_zeros)
        throw nb::value_error("indptr does not fit indices");
    for (int64_t k = 0; k < non_zeros; ++k) {
        if (uint32_t(indices.data()[k]) >= frequencies.size())  // a negative number is larger than any column
            throw nb::value_error("indices names a column without a frequency");
    }
    without_gil([&] {
        RunningFactors running(probabilistic, power, n_documents, frequencies.data());
        for (int64_t r = 0; r < n_rows; ++r) {
            const int64_t at = indptr.data()[r];
            running.row(indices.data() + at, indptr.data()[r + 1] - at, factors.data() + at);
        }
    });
}

}  // namespace

void register_text(nb::module_& m) {
    nb::enum_<UnitKind>(m, "UnitKind")
        .value("words", UnitKind::words)
        .value("characters", UnitKind::characters)
        .value("characters_in_words", UnitKind::characters_in_words)
        .value("bytes", UnitKind::bytes);
    nb::class_<TextRule>(m, "TextRule")
        .def(
            "__init__",
            [](TextRule* self, UnitKind kind, bool alnum, int64_t min_length, int min_n, int max_n, int reach,
               bool ordered) {
                new (self) TextRule(make_rule(kind, alnum, min_length, min_n, max_n, reach, ordered));
            },
            nb::arg("kind"), nb::arg("alnum"), nb::arg("min_length"), nb::arg("min_n"), nb::arg("max_n"),
            nb::arg("reach") = 0, nb::arg("ordered") = true)
        .def("set_patterns", &set_patterns, nb::arg("token").none(), nb::arg("ignored").none(),
             nb::arg("fold_case"), "Tokens are what `token` matches; what `ignored` matches is left out.");

    nb::class_<Texts>(m, "Texts")
        .def(nb::init<>())
        .def("__len__", [](const Texts& texts) { return texts.views.size(); })
        .def_prop_ro("n_units", &Texts::length, "Characters, or bytes, in all texts.")
        .def("add_objects", &Texts::add_objects, nb::arg("sequence"))
        .def("add_column", &Texts::add_column<int32_t>, array("offsets"), array("data"))
        .def("add_column", &Texts::add_column<int64_t>, array("offsets"), array("data"));

    nb::class_<CountRows>(m, "CountRows")
        .def_prop_ro("n_rows", [](const CountRows& self) { return self.rows.n_rows(); })
        .def_prop_ro("non_zeros", [](const CountRows& self) { return self.rows.non_zeros(); })
        .def("release", &CountRows::release, array("indptr"), array("indices"), array("counts"));

    nb::class_<TokenPass>(m, "TokenPass")
        .def(
            "__init__",
            [](TokenPass* self, const Texts& texts, const TextRule& rule, int n_threads) {
                const Runner run(n_threads, texts.length());
                std::unique_ptr<TokenPass> pass;
                without_gil([&] {
                    pass = std::make_unique<TokenPass>(texts.views, rule.tokens, run.n_threads, run);
                });
                new (self) TokenPass(std::move(*pass));
            },
            nb::arg("texts"), nb::arg("rule"), nb::arg("n_threads"))
        .def_prop_ro("n_distinct", [](const TokenPass& self) { return self.distinct.size(); })
        .def_prop_ro("n_bytes", [](const TokenPass& self) { return self.distinct.bytes.size(); })
        .def(
            "distinct",
            [](const TokenPass& self, Output<uint8_t> bytes, Output<int64_t> offsets) {
                write_strings(self.distinct, bytes, offsets);
            },
            array("bytes"), array("offsets"))
        .def_prop_ro("n_tokens", &TokenPass::n_tokens)
        .def(
            "sequences",
            [](const TokenPass& self, Output<int64_t> lengths, Output<int32_t> tokens) {
                require_size(lengths, self.n_documents(), "lengths");
                require_size(tokens, self.n_tokens(), "tokens");
                self.sequences(lengths.data(), tokens.data());
            },
            array("lengths"), array("tokens"), "The tokens of every text, as positions in `distinct`.");

    struct BoundCounts {
        std::unique_ptr<CollectionCounts> counts;
        int n_threads;
        int64_t work;
    };
    nb::class_<BoundCounts>(m, "CollectionCounts")
        .def_prop_ro("n_terms", [](BoundCounts& self) { return self.counts->terms().n_terms(); })
        .def(
            "document_frequencies",
            [](BoundCounts& self, Output<int32_t> out) {
                require_size(out, self.counts->terms().n_terms(), "out");
                self.counts->terms().document_frequencies(out.data());
            },
            array("out"))
        .def(
            "totals",
            [](BoundCounts& self, Output<int64_t> out) {
                require_size(out, self.counts->terms().n_terms(), "out");
                if (!self.counts->terms().has_totals()) throw nb::value_error("counted without totals");
                self.counts->terms().totals(out.data());
            },
            array("out"))
        .def(
            "associations",
            [](BoundCounts& self, Output<double> out) {
                require_size(out, self.counts->terms().n_terms(), "out");
                if (!self.counts->terms().has_totals()) throw nb::value_error("counted without totals");
                self.counts->terms().associations(out.data());
            },
            array("out"))
        .def(
            "mark_pairs",
            [](BoundCounts& self, Output<uint8_t> out) {
                require_size(out, self.counts->terms().n_terms(), "out");
                self.counts->terms().mark_pairs(out.data());
            },
            array("out"))
        .def(
            "keep",
            [](BoundCounts& self, Input<uint8_t> marked) {
                require_size(marked, self.counts->terms().n_terms(), "marked");
                self.counts->terms().keep(marked.data());
            },
            array("marked"))
        .def(
            "term_offsets",
            [](BoundCounts& self, Output<int64_t> offsets) {
                require_size(offsets, self.counts->terms().n_terms() + 1, "offsets");
                return self.counts->terms().offsets(offsets.data());
            },
            array("offsets"))
        .def(
            "term_bytes",
            [](BoundCounts& self, Input<int64_t> offsets, Output<uint8_t> bytes) {
                const int64_t n_terms = self.counts->terms().n_terms();
                require_size(offsets, n_terms + 1, "offsets");
                require_size(bytes, offsets(n_terms), "bytes");
                const Runner run(self.n_threads, self.work);
                without_gil([&] {
                    self.counts->terms().write(offsets.data(), reinterpret_cast<char*>(bytes.data()), run);
                });
            },
            array("offsets"), array("bytes"))
        .def("rows", [](BoundCounts& self) {
            CountRows result;
            result.n_threads = self.n_threads;
            const Runner run(self.n_threads, self.work);
            without_gil([&] { result.rows = std::move(self.counts->finish(run)); });
            return result;
        });
    m.def(
        "count_units",
        [](TokenPass& pass, UnitMap& map, const TextRule& rule, bool totals, int n_threads) {
            const auto n_distinct = static_cast<size_t>(pass.distinct.size());
            if (map.unit_of.size() != n_distinct ||
                (!map.entries.empty() && map.number_of.size() != n_distinct))
                throw nb::value_error("the map does not fit the tokens");
            int64_t work = 0;
            for (const TokenPass::Piece& piece : pass.pieces) work += piece.tokens.size() * 4;
            const Runner run(n_threads, work);
            BoundCounts result{nullptr, n_threads, work};
            without_gil([&] {
                result.counts = std::make_unique<CollectionCounts>(pass, std::move(map), rule.ngrams, totals,
                                                                   run.n_threads, run);
            });
            return result;
        },
        nb::arg("tokens"), nb::arg("map"), nb::arg("rule"), nb::arg("totals"), nb::arg("n_threads"));
    m.def(
        "count_terms",
        [](const Texts& texts, const TextRule& rule, Input<uint8_t> bytes, Input<int64_t> offsets,
           bool totals, int n_threads) {
            const Strings skipped = copy_strings(bytes, offsets);
            const Runner run(n_threads, texts.length());
            BoundCounts result{nullptr, n_threads, texts.length()};
            without_gil([&] {
                result.counts = std::make_unique<CollectionCounts>(texts.views, rule, skipped, totals,
                                                                   run.n_threads, run);
            });
            return result;
        },
        nb::arg("texts"), nb::arg("rule"), array("bytes"), array("offsets"), nb::arg("totals"),
        nb::arg("n_threads"));

    nb::class_<Occurrences>(m, "Occurrences")
        .def("__len__", [](const Occurrences& self) { return self.column.size(); })
        .def(
            "read",
            [](const Occurrences& self, Output<int32_t> column, Output<int64_t> begin, Output<int64_t> end,
               Output<int64_t> gap_begin, Output<int64_t> gap_end) {
                write(self.column, column, "column");
                write(self.begin, begin, "begin");
                write(self.end, end, "end");
                write(self.gap_begin, gap_begin, "gap_begin");
                write(self.gap_end, gap_end, "gap_end");
            },
            array("column"), array("begin"), array("end"), array("gap_begin"), array("gap_end"));

    nb::class_<BoundIndex<TermIndex>> term_index(m, "TermIndex");
    term_index.def(
        "__init__",
        [](BoundIndex<TermIndex>* self, Input<uint8_t> bytes, Input<int64_t> offsets, const TextRule& rule) {
            const Strings terms = copy_strings(bytes, offsets);
            std::unique_ptr<TermIndex> index;
            without_gil([&] {
                index = std::make_unique<TermIndex>(terms, rule.kind == UnitKind::words, rule.ngrams.pairs);
            });
            new (self) BoundIndex<TermIndex>{std::move(*index), rule};
        },
        array("bytes"), array("offsets"), nb::arg("rule"));
    bind_index(term_index);
    nb::class_<BoundIndex<HashIndex>> hash_index(m, "HashIndex");
    hash_index.def(
        "__init__",
        [](BoundIndex<HashIndex>* self, int64_t n_columns, const TextRule& rule) {
            if (n_columns < 1 || n_columns > 0x7FFFFFFF) throw nb::value_error("1 <= n_columns < 2**31");
            new (self) BoundIndex<HashIndex>{HashIndex(n_columns, rule.ngrams.pairs), rule};
        },
        nb::arg("n_columns"), nb::arg("rule"));
    bind_index(hash_index);

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
    m.def("weigh", &weigh, array("indptr"), array("indices"), array("counts"), array("collection").none(),
          nb::arg("document"), nb::arg("normalization"), array("weights"), nb::arg("n_threads"));
    m.def("running_factors", &running_factors, array("indptr"), array("indices"), nb::arg("probabilistic"),
          nb::arg("power"), nb::arg("n_documents"), array("frequencies"), array("factors"));
}

}  // namespace widemargin
