// Python's view of what is kept on disk: blocks of rows, lists of terms, hashes of documents.
#include <memory>

#include "bindings/bindings.hpp"
#include "bindings/text/texts.hpp"
#include "on_disk/block_reader.hpp"
#include "on_disk/hashes.hpp"
#include "on_disk/phrase_sums.hpp"
#include "on_disk/row_block.hpp"
#include "on_disk/terms.hpp"

namespace widemargin {

namespace {

using on_disk::RowBlockView;
using on_disk::RowBlockWriter;

// ---------------------------------------------------------------------- blocks of rows

// Row pointers that stay within `size` values.
void require_lists(const Input<std::int64_t>& indptr, std::int64_t size) {
    if (indptr.size() == 0 || indptr(0) != 0) throw nb::value_error("indptr does not begin with 0");
    const auto n = std::int64_t(indptr.size()) - 1;
    for (std::int64_t i = 0; i < n; ++i)
        if (indptr(i) > indptr(i + 1)) throw nb::value_error("indptr does not ascend");
    if (indptr(n) != size) throw nb::value_error("indptr does not end at the number of values");
}

void require_rows(const Input<std::int32_t>& which, std::int64_t n) {
    for (std::size_t i = 0; i < which.size(); ++i)
        if (which(i) < 0 || which(i) >= n) throw nb::value_error("a row that is not there");
}

// Some rows that stay within `size` values. Others are not looked at: a block is a small part of the rows.
void require_rows(const Input<std::int64_t>& indptr, std::int64_t size, const Input<std::int32_t>& which) {
    if (indptr.size() == 0 || indptr(indptr.size() - 1) != size)
        throw nb::value_error("indptr does not end at the number of values");
    require_rows(which, std::int64_t(indptr.size()) - 1);
    for (std::size_t i = 0; i < which.size(); ++i) {
        const std::int64_t begin = indptr(which(i)), end = indptr(which(i) + 1);
        if (begin < 0 || begin > end || end > size) throw nb::value_error("indptr does not ascend");
    }
}

template <class T>
void add_rows(RowBlockWriter& self, Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values,
              Input<std::int32_t> which) {
    require_size(values, std::int64_t(indices.size()), "values");
    without_gil([&] {
        require_rows(indptr, std::int64_t(indices.size()), which);
        self.add_rows(indptr.data(), indices.data(), values.data(), which.data(), std::int64_t(which.size()));
    });
}

void add_labels(RowBlockWriter& self, Input<std::int64_t> indptr, Input<std::int32_t> labels,
                Input<std::int32_t> which) {
    require_rows(indptr, std::int64_t(labels.size()), which);
    self.add_labels(indptr.data(), labels.data(), which.data(), std::int64_t(which.size()));
}

void add_keys(RowBlockWriter& self, Input<std::uint64_t> keys, Input<std::int32_t> which) {
    require_rows(which, std::int64_t(keys.size()));
    self.add_keys(keys.data(), which.data(), std::int64_t(which.size()));
}

void add_weights(RowBlockWriter& self, Input<double> weights, Input<std::int32_t> which) {
    require_rows(which, std::int64_t(weights.size()));
    self.add_weights(weights.data(), which.data(), std::int64_t(which.size()));
}

nb::object finish(RowBlockWriter& self) {
    std::vector<std::uint8_t> block;
    without_gil([&] { block = self.finish(); });
    return owned(std::move(block));
}

// A block, or its head, and the owner of its bytes.
struct RowBlock {
    explicit RowBlock(Input<std::uint8_t> bytes) : data(bytes) {
        without_gil([&] { view = std::make_unique<RowBlockView>(data.data(), std::int64_t(data.size())); });
    }
    const on_disk::Header& header() const { return view->header(); }

    Input<std::uint8_t> data;
    std::unique_ptr<RowBlockView> view;
};

void block_keys(const RowBlock& self, Output<std::uint64_t> keys) {
    require_size(keys, self.header().n_rows, "keys");
    self.view->keys(keys.data());
}

void block_weights(const RowBlock& self, Output<double> weights) {
    if (!self.header().has_weights) throw nb::value_error("the documents have no weights");
    require_size(weights, self.header().n_rows, "weights");
    self.view->weights(weights.data());
}

void block_labels(const RowBlock& self, Output<std::int64_t> indptr, Output<std::int32_t> labels) {
    require_size(indptr, self.header().n_rows + 1, "indptr");
    require_size(labels, self.header().n_labels, "labels");
    without_gil([&] { self.view->labels(indptr.data(), labels.data()); });
}

void block_sizes(const RowBlock& self, Input<std::int32_t> which, Output<std::int64_t> indptr) {
    require_size(indptr, std::int64_t(which.size()) + 1, "indptr");
    require_rows(which, self.header().n_rows);
    without_gil([&] { self.view->sizes(which.data(), std::int64_t(which.size()), indptr.data()); });
}

template <class T>
void block_rows(const RowBlock& self, Input<std::int32_t> which, Input<std::int64_t> indptr,
                Output<std::int32_t> indices, Output<T> values) {
    require_size(indptr, std::int64_t(which.size()) + 1, "indptr");
    require_size(values, std::int64_t(indices.size()), "values");
    without_gil([&] {
        require_rows(which, self.header().n_rows);
        require_lists(indptr, std::int64_t(indices.size()));
        self.view->rows(which.data(), std::int64_t(which.size()), indptr.data(), indices.data(),
                        values.data());
    });
}

// Rows of several blocks, and the owners of their bytes.
struct BlockReader {
    BlockReader(on_disk::ValueKind kind, std::int64_t n_columns, std::int64_t n_label_columns)
        : reader(kind, n_columns, n_label_columns) {}

    void add(Input<std::uint8_t> data, Input<std::int32_t> which, std::int64_t n_rows,
             std::int64_t n_entries) {
        reader.add({data.data(), std::int64_t(data.size()), which.data(), std::int64_t(which.size())}, n_rows,
                   n_entries);
        owners.push_back({data, which});
    }

    void sizes(Output<std::int64_t> indptr, int n_threads) {
        require_threads(n_threads);
        require_size(indptr, reader.n_rows() + 1, "indptr");
        without_gil([&] { reader.sizes(indptr.data(), n_threads, poll_signals); });
        has_sizes = true;
    }

    template <class T>
    void rows(Input<std::int64_t> indptr, Output<std::int32_t> indices, Output<T> values, int n_threads) {
        require_threads(n_threads);
        require_size(indptr, reader.n_rows() + 1, "indptr");
        require_size(values, std::int64_t(indices.size()), "values");
        if (!has_sizes) throw nb::value_error("the sizes of the rows are not known");
        without_gil([&] {
            require_lists(indptr, std::int64_t(indices.size()));
            reader.rows(indptr.data(), indices.data(), values.data(), n_threads, poll_signals);
        });
    }

    on_disk::BlockReader reader;
    bool has_sizes = false;
    std::vector<std::pair<Input<std::uint8_t>, Input<std::int32_t>>> owners;
};

// (bytes of the head, bytes of the block), according to the header at its beginning.
nb::typed<nb::tuple, std::int64_t, std::int64_t> block_size(Input<std::uint8_t> data) {
    const on_disk::Header header = on_disk::read_header(data.data(), std::int64_t(data.size()));
    return nb::borrow<nb::typed<nb::tuple, std::int64_t, std::int64_t>>(
        nb::make_tuple(header.head_size(), header.size()));
}

// ---------------------------------------------------------------------- terms

on_disk::TermPage term_page(const Input<std::uint8_t>& bytes, const Input<std::int64_t>& offsets) {
    if (offsets.size() == 0) throw nb::value_error("offsets are empty");
    on_disk::TermPage page;
    page.bytes = reinterpret_cast<const char*>(bytes.data());
    page.offsets = offsets.data();
    page.size = std::int64_t(offsets.size()) - 1;
    on_disk::check_offsets(page, std::int64_t(bytes.size()));
    return page;
}

struct TermMerge {
    explicit TermMerge(std::int64_t n_sources) : merge(n_sources), owners(n_sources) {}

    void feed(std::int64_t source, Input<std::uint8_t> bytes, Input<std::int64_t> offsets,
              Input<std::int64_t> frequencies, Input<std::int64_t> totals, bool last) {
        if (source < 0 || source >= std::int64_t(owners.size())) throw nb::value_error("an unknown source");
        on_disk::TermPage page = term_page(bytes, offsets);
        require_size(frequencies, page.size, "frequencies");
        require_size(totals, page.size, "totals");
        page.frequencies = frequencies.data();
        page.totals = totals.data();
        merge.feed(source, page, last);
        owners[source] = {bytes, offsets, frequencies, totals};
    }

    std::int64_t advance() {
        std::int64_t source = -1;
        without_gil([&] { source = merge.advance(); });
        return source;
    }

    nb::tuple take() {
        on_disk::MergedTerms taken = merge.take();
        return nb::make_tuple(owned(std::move(taken.bytes)), owned(std::move(taken.offsets)),
                              owned(std::move(taken.frequencies)), owned(std::move(taken.totals)));
    }

    struct Owners {
        Input<std::uint8_t> bytes;
        Input<std::int64_t> offsets, frequencies, totals;
    };
    on_disk::TermMerge merge;
    std::vector<Owners> owners;
};

// Whether terms are sorted by their bytes, and all different.
bool terms_ascend(Input<std::uint8_t> bytes, Input<std::int64_t> offsets) {
    const on_disk::TermPage page = term_page(bytes, offsets);
    bool found = false;
    without_gil([&] { found = on_disk::ascend(page); });
    return found;
}

void find_terms(Input<std::uint8_t> bytes, Input<std::int64_t> offsets, Input<std::uint8_t> known_bytes,
                Input<std::int64_t> known_offsets, Output<std::int32_t> columns) {
    const on_disk::TermPage terms = term_page(bytes, offsets), known = term_page(known_bytes, known_offsets);
    require_size(columns, terms.size, "columns");
    without_gil([&] { on_disk::find_terms(terms, known, columns.data()); });
}

template <class T>
std::int64_t renumber_rows(Output<std::int64_t> indptr, Output<std::int32_t> indices, Output<T> values,
                           Input<std::int32_t> columns) {
    require_size(values, std::int64_t(indices.size()), "values");
    require_lists(Input<std::int64_t>(indptr), std::int64_t(indices.size()));
    std::int64_t kept = 0;
    without_gil([&] {
        for (std::size_t k = 0; k < indices.size(); ++k)
            if (indices(k) < 0 || indices(k) >= std::int64_t(columns.size()))
                throw nb::value_error("a column is out of range");
        kept = on_disk::renumber_rows(indptr.data(), std::int64_t(indptr.size()) - 1, indices.data(),
                                      values.data(), columns.data());
    });
    return kept;
}

template <class Work>
void each_term(const Input<std::uint8_t>& bytes, const Input<std::int64_t>& offsets, Work&& work) {
    const on_disk::TermPage page = term_page(bytes, offsets);
    for (std::int64_t i = 0; i < page.size; ++i) {
        const on_disk::Term term = page.term(i);
        work(i, std::string_view(term.bytes, std::size_t(term.length)));
    }
}

void add_phrases(on_disk::PhraseSums& self, Input<std::uint8_t> bytes, Input<std::int64_t> offsets,
                 Input<std::int64_t> totals) {
    require_size(totals, std::int64_t(offsets.size()) - 1, "totals");
    each_term(bytes, offsets,
              [&](std::int64_t i, std::string_view term) { self.add(term, double(totals(i))); });
}

void phrase_ratios(on_disk::PhraseSums& self, Input<std::uint8_t> bytes, Input<std::int64_t> offsets,
                   Input<std::int64_t> totals, Output<double> ratios) {
    require_size(totals, std::int64_t(offsets.size()) - 1, "totals");
    require_size(ratios, std::int64_t(offsets.size()) - 1, "ratios");
    each_term(bytes, offsets, [&](std::int64_t i, std::string_view term) {
        ratios(i) = self.ratio(term, double(totals(i)));
    });
}

// ---------------------------------------------------------------------- hashes

// hashes[i] becomes the hash of itself and of text i.
void hash_texts(const Texts& texts, Output<std::uint64_t> hashes, int n_threads) {
    require_threads(n_threads);
    require_size(hashes, std::int64_t(texts.views.size()), "hashes");
    without_gil([&] {
        Pieces pieces(std::int64_t(texts.views.size()), 256);
        Runner(n_threads, texts.length())([&](int, const StopFlag& stop) {
            on_disk::TextHash hash;
            for (std::int64_t i, end; !stop && pieces.next(i, end);)
                for (; i < end; ++i) hashes(i) = hash(texts.views[i], hashes(i));
        });
    });
}

template <class T>
void hash_lists(Input<std::int64_t> indptr, Input<T> values, Output<std::uint64_t> hashes) {
    require_size(indptr, std::int64_t(hashes.size()) + 1, "indptr");
    without_gil([&] {
        require_lists(indptr, std::int64_t(values.size()));
        on_disk::hash_lists(indptr.data(), std::int64_t(hashes.size()), values.data(), hashes.data());
    });
}

std::uint64_t hash_bytes(Input<std::uint8_t> data, std::uint64_t seed) {
    std::uint64_t found = 0;
    without_gil([&] { found = on_disk::hash_bytes(data.data(), std::int64_t(data.size()), seed); });
    return found;
}

template <class T>
void register_by_type(nb::module_& m, nb::class_<RowBlockWriter>& writer, nb::class_<RowBlock>& block,
                      nb::class_<BlockReader>& reader) {
    writer.def("add_rows", &add_rows<T>, array("indptr"), array("indices"), array("values"), array("which"));
    block.def("rows", &block_rows<T>, array("which"), array("indptr"), array("indices"), array("values"));
    reader.def("rows", &BlockReader::rows<T>, array("indptr"), array("indices"), array("values"),
               nb::arg("n_threads"));
    m.def("renumber_rows", &renumber_rows<T>, array("indptr"), array("indices"), array("values"),
          array("columns"));
    m.def("hash_lists", &hash_lists<T>, array("indptr"), array("values"), array("hashes"));
}

}  // namespace

void register_on_disk(nb::module_& m) {
    using nb::arg;
    nb::enum_<on_disk::ValueKind>(m, "ValueKind")
        .value("counts", on_disk::ValueKind::counts)
        .value("float32", on_disk::ValueKind::float32)
        .value("float64", on_disk::ValueKind::float64);
    nb::class_<RowBlockWriter> writer(m, "RowBlockWriter");
    writer
        .def(nb::init<on_disk::ValueKind, std::int64_t, std::int64_t, bool>(), arg("kind"), arg("n_columns"),
             arg("n_label_columns"), arg("has_weights"))
        .def("add_labels", &add_labels, array("indptr"), array("labels"), array("which"))
        .def("add_keys", &add_keys, array("keys"), array("which"))
        .def("add_weights", &add_weights, array("weights"), array("which"))
        .def_prop_ro("n_rows", &RowBlockWriter::n_rows)
        .def_prop_ro("n_entries", &RowBlockWriter::n_entries)
        .def("finish", &finish);
    nb::class_<RowBlock> block(m, "RowBlock");
    block.def(nb::init<Input<std::uint8_t>>(), array("data"))
        .def_prop_ro("kind", [](const RowBlock& self) { return self.header().kind; })
        .def_prop_ro("has_weights", [](const RowBlock& self) { return self.header().has_weights != 0; })
        .def_prop_ro("n_rows", [](const RowBlock& self) { return self.header().n_rows; })
        .def_prop_ro("n_columns", [](const RowBlock& self) { return self.header().n_columns; })
        .def_prop_ro("n_entries", [](const RowBlock& self) { return self.header().n_entries; })
        .def_prop_ro("n_label_columns", [](const RowBlock& self) { return self.header().n_label_columns; })
        .def_prop_ro("n_labels", [](const RowBlock& self) { return self.header().n_labels; })
        .def("keys", &block_keys, array("keys"))
        .def("weights", &block_weights, array("weights"))
        .def("labels", &block_labels, array("indptr"), array("labels"))
        .def("sizes", &block_sizes, array("which"), array("indptr"));
    nb::class_<BlockReader> reader(m, "BlockReader");
    reader
        .def(nb::init<on_disk::ValueKind, std::int64_t, std::int64_t>(), arg("kind"), arg("n_columns"),
             arg("n_label_columns"))
        .def("add", &BlockReader::add, array("data"), array("which"), arg("n_rows"), arg("n_entries"))
        .def_prop_ro("n_rows", [](const BlockReader& self) { return self.reader.n_rows(); })
        .def("sizes", &BlockReader::sizes, array("indptr"), arg("n_threads"));
    register_by_type<std::int32_t>(m, writer, block, reader);
    register_by_type<float>(m, writer, block, reader);
    register_by_type<double>(m, writer, block, reader);
    m.def("hash_lists", &hash_lists<std::uint64_t>, array("indptr"), array("values"), array("hashes"));
    m.def("hash_texts", &hash_texts, arg("texts"), array("hashes"), arg("n_threads"));
    m.def("hash_bytes", &hash_bytes, array("data"), arg("seed"));
    m.def("row_block_size", &block_size, array("data"));
    m.attr("ROW_BLOCK_HEADER") = sizeof(on_disk::Header);
    nb::class_<TermMerge>(m, "TermMerge")
        .def(nb::init<std::int64_t>(), arg("n_sources"))
        .def("feed", &TermMerge::feed, arg("source"), array("bytes"), array("offsets"), array("frequencies"),
             array("totals"), arg("last"))
        .def("advance", &TermMerge::advance)
        .def("take", &TermMerge::take)
        .def_prop_ro("n_ready", [](const TermMerge& self) { return self.merge.n_ready(); });
    nb::class_<on_disk::PhraseSums>(m, "PhraseSums")
        .def(nb::init<>())
        .def("add", &add_phrases, array("bytes"), array("offsets"), array("totals"))
        .def("ratios", &phrase_ratios, array("bytes"), array("offsets"), array("totals"), array("ratios"));
    m.def("terms_ascend", &terms_ascend, array("bytes"), array("offsets"));
    m.def("find_terms", &find_terms, array("bytes"), array("offsets"), array("known_bytes"),
          array("known_offsets"), array("columns"));
}

}  // namespace widemargin
