// Python's view of texts that become scores in one call.
#include "bindings/bindings.hpp"
#include "bindings/text/texts.hpp"
#include "scores/text_scores.hpp"
#include "text/terms/term_index.hpp"

namespace widemargin {
namespace {

// The texts of one block, what finds its terms, and their owners.
struct BoundBlock {
    template <class Index>
    BoundBlock(const BoundIndex<Index>& bound, const Texts& texts, const TokenMap* map,
               const ConceptMap* concepts)
        : block(TextBlock<Index>{&texts.views, &bound.rule, &bound.index, map ? map : &bound.index.units(),
                                 concepts}),
          n_columns(bound.index.n_columns()),
          length(texts.length()),
          n_documents(static_cast<std::int64_t>(texts.views.size())) {}

    std::variant<TextBlock<TermIndex>, TextBlock<HashIndex>> block;
    std::int64_t n_columns, length, n_documents;
};

// Rules whose arrays fit each other.
struct BoundRules {
    BoundRules(const Filled<TextRules>& given, std::int64_t n_terms)
        : held(given), sizes{{"terms", n_terms}} {
        rules = given.fitting(sizes);
        const std::int64_t n_columns = sizes.at("columns");
        const std::int64_t n_blocks = sizes.at("blocks");
        if (!rules.place && n_terms != n_columns) throw nb::value_error("there are other columns than terms");
        for (std::int64_t b = 0; b < n_blocks; ++b) {
            const std::int64_t least = b ? rules.first[b - 1] : 0;
            if (rules.first[b] < least || rules.first[b] > n_terms)
                throw nb::value_error("the blocks do not ascend");
        }
        if (!rules.place) return;
        for (std::int64_t t = 0, last = -1; t < n_terms; ++t) {
            if (rules.place[t] < 0) continue;
            if (rules.place[t] <= last || rules.place[t] >= n_columns)
                throw nb::value_error("place has a column that is not there, or not in order");
            last = rules.place[t];
        }
    }

    Filled<TextRules> held;
    Sizes sizes;
    TextRules rules;
};

template <class Index>
void score_blocks(const BoundRules& bound, const std::vector<const BoundBlock*>& given, double* scores,
                  std::int64_t n_documents, int n_threads) {
    std::vector<TextBlock<Index>> blocks;
    std::int64_t length = 0;
    for (const BoundBlock* each : given) {
        const auto* block = std::get_if<TextBlock<Index>>(&each->block);
        if (!block) throw nb::value_error("some blocks are hashed and others are not");
        blocks.push_back(*block);
        length += each->length;
    }
    const Runner run(n_threads, length);
    const std::int64_t n_labels = bound.sizes.at("labels");
    without_gil([&] { score_texts(bound.rules, n_labels, blocks, n_documents, scores, run.n_threads, run); });
}

// scores: documents x labels. One block for every one of the rules.
void score(const BoundRules& bound, const nb::list& blocks, OutputMatrix<double> scores, int n_threads) {
    const auto n_documents = std::int64_t(scores.shape(0));
    require_shape(scores, {n_documents, bound.sizes.at("labels")}, "scores");
    if (std::int64_t(blocks.size()) != bound.sizes.at("blocks") || blocks.size() == 0)
        throw nb::value_error("the blocks do not fit the rules");
    std::vector<const BoundBlock*> given;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const auto* block = nb::cast<const BoundBlock*>(nb::handle(blocks[b]));
        const std::int64_t end = b + 1 < blocks.size() ? bound.rules.first[b + 1] : bound.sizes.at("terms");
        if (!block || block->n_documents != n_documents || bound.rules.first[b] + block->n_columns > end)
            throw nb::value_error("the blocks do not fit the rules");
        given.push_back(block);
    }
    if (std::holds_alternative<TextBlock<TermIndex>>(given[0]->block))
        score_blocks<TermIndex>(bound, given, scores.data(), n_documents, n_threads);
    else
        score_blocks<HashIndex>(bound, given, scores.data(), n_documents, n_threads);
}

template <class Index>
void bind_block(nb::class_<BoundBlock>& block) {
    // The block points into its arguments.
    block.def(nb::init<const BoundIndex<Index>&, const Texts&, const TokenMap*, const ConceptMap*>(),
              nb::arg("index"), nb::arg("texts"), nb::arg("map").none(), nb::arg("concepts").none(),
              nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
}

}  // namespace

void register_text_scores(nb::module_& m) {
    Fields<TextRules>(m, "TextRules")
        .values("document", &TextRules::document, "normalization", &TextRules::normalization, "counts_only",
                &TextRules::counts_only)
        .arrays(shape("columns", "labels"), "weights", &TextRules::weights)
        .arrays(shape("labels"), "intercept", &TextRules::intercept)
        .arrays(shape("blocks"), "first", &TextRules::first)
        .optional(shape("blocks"), "block_weights", &TextRules::block_weights)
        .optional(shape("terms"), "collection", &TextRules::collection, "place", &TextRules::place)
        .optional(shape("columns"), "place_factors", &TextRules::place_factors);
    nb::class_<BoundBlock> block(m, "TextBlock");
    bind_block<TermIndex>(block);
    bind_block<HashIndex>(block);
    nb::class_<BoundRules>(m, "TextScorer")
        .def(
            "__init__",
            [](BoundRules* self, const Filled<TextRules>& rules, std::int64_t n_terms) {
                if (n_terms < 0) throw nb::value_error("the number of terms is negative");
                new (self) BoundRules(rules, n_terms);
            },
            nb::arg("rules"), nb::arg("n_terms"))
        .def("score", &score, nb::arg("blocks"), array("scores"), nb::arg("n_threads"));
}

}  // namespace widemargin
