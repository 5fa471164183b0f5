// Python's view of support vector machines on rows that are read in parts.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings/bindings.hpp"
#include "linear/by_blocks/block_descent.hpp"

namespace widemargin {

namespace {

// Some rows of a block, and the owners of their arrays.
class BoundRows {
  public:
    BoundRows(const Csr& csr, Input<std::int32_t> which, Input<std::int64_t> first_label,
              Input<std::int32_t> labels, std::optional<Input<double>> weights)
        : csr_(csr),
          which_(which),
          first_label_(first_label),
          labels_(labels),
          weights_(weights),
          n_(std::int64_t(first_label.size()) - 1) {
        if (n_ < 0 || first_label(0) < 0 || first_label(n_) > std::int64_t(labels.size())) {
            throw nb::value_error("first_label does not fit labels");
        }
        for (std::int64_t i = 0; i < n_; ++i) {
            if (first_label(i) > first_label(i + 1)) throw nb::value_error("first_label decreases");
        }
        for (std::size_t k = 0; k < labels.size(); ++k) {
            if (labels(k) < 0) throw nb::value_error("a label is negative");
        }
        for (std::size_t k = 0; k < which.size(); ++k) {
            if (which(k) < 0 || which(k) >= n_ || (k && which(k) <= which(k - 1))) {
                throw nb::value_error("which does not name rows of the block in ascending order");
            }
        }
        if (weights) require_size(*weights, n_, "weights");
        const RowLabels known{first_label.data(), labels.data(), weights ? weights->data() : nullptr};
        std::visit(
            [&](const auto& x) {
                using T = std::decay_t<decltype(*x.values)>;
                require_size(which, x.n_rows, "which");
                without_gil([&] { rows_.emplace<BlockRows<T>>(x, which.data(), known); });
            },
            csr.view);
    }

    // work(rows), where these are BlockRows<float> or BlockRows<double>.
    template <class Work>
    auto visit(Work&& work) const {
        if (const auto* const single = std::get_if<BlockRows<float>>(&rows_)) return work(*single);
        return work(std::get<BlockRows<double>>(rows_));
    }
    bool hold(Input<std::uint8_t> marks) const {
        require_size(marks, n_, "marks");
        return visit([&](const auto& rows) { return rows.hold(marks.data(), n_); });
    }

    std::int64_t n_rows_of_block() const { return n_; }

  private:
    Csr csr_;
    Input<std::int32_t> which_;
    Input<std::int64_t> first_label_;
    Input<std::int32_t> labels_;
    std::optional<Input<double>> weights_;
    std::int64_t n_;
    std::variant<std::monostate, BlockRows<float>, BlockRows<double>> rows_;
};

// Rows in single or double precision, by the type of the first that are added. They stay alive with it.
class BoundBatch {
  public:
    void clear() {
        std::visit([&](auto& rows) { rows.clear(); }, rows_);
        owners_.clear();
    }
    std::int64_t size() const {
        return std::visit([](const auto& rows) { return rows.size(); }, rows_);
    }
    void append(std::int64_t block, std::shared_ptr<BoundRows> given, Input<std::uint8_t> marks) {
        require_size(marks, given->n_rows_of_block(), "marks");
        given->visit([&](const auto& some) {
            using T = std::decay_t<decltype(*some.x.values)>;
            if (!std::holds_alternative<RowBatch<T>>(rows_)) {
                if (size()) throw nb::value_error("rows of another precision");
                RowBatch<T> rows;
                const auto skip = [&](auto& before) {
                    for (const auto& piece : before.blocks) rows.skip(piece.block);
                };
                std::visit(skip, rows_);
                rows_ = std::move(rows);
            }
            std::get<RowBatch<T>>(rows_).append(block, some, marks.data());
        });
        owners_.push_back(std::move(given));
    }
    void skip(std::int64_t block) {
        std::visit([&](auto& rows) { rows.skip(block); }, rows_);
    }
    const auto& rows() const { return rows_; }

  private:
    std::variant<RowBatch<float>, RowBatch<double>> rows_;
    std::vector<std::shared_ptr<BoundRows>> owners_;
};

constexpr std::int64_t kRenumbered = 1 << 16;  // at a time

// The places of columns, which may take their place; the column numbers are those of a checked matrix.
void renumber(Input<std::int32_t> columns, Input<std::int32_t> place, Output<std::int32_t> places,
              int n_threads) {
    require_threads(n_threads);
    require_size(places, std::int64_t(columns.size()), "places");
    const auto n_columns = static_cast<std::uint32_t>(place.size());
    const auto work = [&](std::int64_t begin, std::int64_t end) {
        std::uint32_t greatest = 0;  // a negative number is larger than any column
        for (std::int64_t k = begin; k < end; ++k) {
            greatest = std::max(greatest, static_cast<std::uint32_t>(columns.data()[k]));
        }
        if (end > begin && greatest >= n_columns) throw std::out_of_range("columns names an unknown column");
        for (std::int64_t k = begin; k < end; ++k) places.data()[k] = place.data()[columns.data()[k]];
    };
    without_gil([&] {
        const auto n = std::int64_t(columns.size());
        Pieces pieces(n, kRenumbered);
        const auto task = [&](int, const StopFlag& stop) {
            for (std::int64_t begin, end; !stop && pieces.next(begin, end);) work(begin, end);
        };
        run_work(n_threads, n, 2 * kRenumbered, task, poll_signals);
    });
}

class BoundDescent {
  public:
    BoundDescent(const Filled<BlockTask>& task, const Filled<LinearSvmOptions>& options, int least_groups)
        : descent_(checked(task), options.core, threads(least_groups)), bias_(options.core.bias) {}

    BoundDescent(const BoundDescent&) = delete;

    BlockDescent& core() { return descent_; }

    void needed(std::int64_t block, Output<std::uint8_t> marks) {
        require_block(block);
        require_size(marks, descent_.block_size(block), "marks");
        const nb::gil_scoped_release release;
        descent_.mark_needed(block, marks.data());
    }
    void begin_pass(Output<std::int32_t> order) {
        require_size(order, descent_.n_blocks(), "order");
        const nb::gil_scoped_release release;
        descent_.begin_pass(order.data());
    }
    void end_pass() {
        const nb::gil_scoped_release release;
        descent_.end_pass();
    }
    void visit(std::int64_t number, const BoundBatch& batch, int n_threads) {
        require_threads(n_threads);
        std::visit(
            [&](const auto& rows) {
                for (const auto& piece : rows.blocks) {
                    require_block(piece.block);
                    if (piece.end > piece.begin &&
                        rows.which[piece.end - 1] >= descent_.block_size(piece.block)) {
                        throw nb::value_error("rows do not belong to the block");
                    }
                }
                without_gil([&] { descent_.visit(number, rows, n_threads, poll_signals); });
            },
            batch.rows());
    }
    // The weights of a label by the original columns, which it then forgets.
    void weights(std::int64_t l, Input<std::int32_t> place, Output<double> coef) {
        const LabelByBlocks& label = checked_label(l);
        require_size(coef, std::int64_t(place.size()), "coef");
        if (label.w.size() != place.size() + 1) throw nb::value_error("the label is not done");
        for (std::size_t j = 0; j < place.size(); ++j) coef(j) = label.w[place(j)];
        descent_.forget_weights(l);
    }
    nb::tuple results(std::int64_t l) {
        const LabelByBlocks& label = checked_label(l);
        return nb::make_tuple(bias_ * label.w.back(), label.objective, label.gap, label.passes,
                              label.converged);
    }
    nb::object alphas(std::int64_t l, Output<std::uint8_t> codes) {
        checked_label(l);
        require_size(codes, code_bytes(), "codes");
        std::fill(codes.data(), codes.data() + codes.size(), std::uint8_t(0));
        std::vector<double> between;
        {
            const nb::gil_scoped_release release;
            descent_.export_alphas(l, codes.data(), between);
        }
        return owned(std::move(between));
    }
    void set_alphas(std::int64_t l, Input<std::uint8_t> codes, Input<double> between) {
        checked_label(l);
        require_size(codes, code_bytes(), "codes");
        std::int64_t count = 0;
        const std::int64_t n = n_rows();
        for (std::int64_t i = 0; i < n; ++i) {
            const std::uint32_t code = codes(i >> 2) >> (2 * (i & 3)) & 3;
            if (code > kBetween) throw nb::value_error("codes has an unknown code");
            count += code == kBetween;
        }
        require_size(between, count, "between");
        const nb::gil_scoped_release release;
        descent_.import_alphas(l, codes.data(), between.data());
    }

  private:
    static int threads(int n_threads) {
        require_threads(n_threads);
        return n_threads;
    }
    BlockTask checked(const Filled<BlockTask>& task) {
        Sizes sizes;
        BlockTask checked = task.fitting(sizes);
        checked.n_labels = sizes.at("labels");
        checked.n_blocks = sizes.at("blocks");
        for (std::int64_t l = 0; l < checked.n_labels; ++l) {
            if (checked.columns[l] < 0) throw nb::value_error("a label column is negative");
        }
        for (std::int64_t p = 0; p < checked.n_blocks; ++p) {
            if (checked.block_sizes[p] < 0 ||
                checked.block_sizes[p] > std::numeric_limits<std::int32_t>::max()) {
                throw nb::value_error("block_sizes are out of range");
            }
        }
        return checked;
    }
    void require_block(std::int64_t block) const {
        if (block < 0 || block >= descent_.n_blocks()) throw nb::index_error("there is no such block");
    }
    const LabelByBlocks& checked_label(std::int64_t l) const {
        if (l < 0 || l >= descent_.n_labels()) throw nb::index_error("there is no such label");
        return descent_.label(l);
    }
    std::int64_t n_rows() const {
        std::int64_t n = 0;
        for (std::int64_t p = 0; p < descent_.n_blocks(); ++p) n += descent_.block_size(p);
        return n;
    }
    std::int64_t code_bytes() const { return (n_rows() + 3) / 4; }

    BlockDescent descent_;
    double bias_;
};

}  // namespace

void register_by_blocks(nb::module_& m) {
    using nb::arg;
    Fields<BlockTask>(m, "BlockTask")
        .arrays(shape("labels"), "cost_positive", &BlockTask::cost_positive, "cost_negative",
                &BlockTask::cost_negative, "columns", &BlockTask::columns)
        .arrays(shape("blocks"), "block_sizes", &BlockTask::block_sizes)
        .values("n_columns", &BlockTask::n_columns, "mean_squared_norm", &BlockTask::mean_squared_norm,
                "n_all_labels", &BlockTask::n_all_labels);
    m.def("renumber_columns", &renumber, array("columns"), array("place"), array("places"), arg("n_threads"));
    nb::class_<BoundRows>(m, "BlockRows")
        .def(nb::init<const Csr&, Input<std::int32_t>, Input<std::int64_t>, Input<std::int32_t>,
                      std::optional<Input<double>>>(),
             arg("csr"), array("which"), array("first_label"), array("labels"),
             nb::arg("weights").noconvert().none())
        .def("hold", &BoundRows::hold, array("marks"));
    nb::class_<BoundBatch>(m, "RowBatch")
        .def(nb::init<>())
        .def("clear", &BoundBatch::clear)
        .def("__len__", &BoundBatch::size)
        .def("append", &BoundBatch::append, arg("block"), arg("rows"), array("marks"))
        .def("skip", &BoundBatch::skip, arg("block"));
    nb::class_<BoundDescent>(m, "BlockDescent")
        .def(nb::init<const Filled<BlockTask>&, const Filled<LinearSvmOptions>&, int>(), arg("task"),
             arg("options"), arg("least_groups"))
        .def_prop_ro("is_open", [](BoundDescent& self) { return self.core().is_open(); })
        .def_prop_ro("n_done", [](BoundDescent& self) { return self.core().n_done(); })
        .def("begin_pass", &BoundDescent::begin_pass, array("order"))
        .def("needed", &BoundDescent::needed, arg("block"), array("marks"))
        .def("visit", &BoundDescent::visit, arg("number"), arg("batch"), arg("n_threads"))
        .def("end_pass", &BoundDescent::end_pass)
        .def("weights", &BoundDescent::weights, arg("label"), array("place"), array("coef"))
        .def("results", &BoundDescent::results, arg("label"))
        .def("alphas", &BoundDescent::alphas, arg("label"), array("codes"))
        .def("set_alphas", &BoundDescent::set_alphas, arg("label"), array("codes"), array("between"))
        .def("start", [](BoundDescent& self) { self.core().start(); });
}

}  // namespace widemargin
