// The boundary to Python, shared by all files of this folder.
//
// A binding takes at most eight arguments (tests/test_core_boundary.py). A solver needs
//
//   a matrix   Csr, which `native()` of a checked matrix makes (src/widemargin/_arrays.py),
//   a problem  a struct of the arrays that the core reads,
//   options    a struct of numbers,
//   results    a struct of the arrays that Python allocates and the core fills,
//
// and a number of threads. The structs are the core's own. Fields declares their members, once:
//
//   Fields<LinearProblem>(m, "LinearProblem")
//       .arrays(shape("labels", "examples"), "signs", &LinearProblem::signs)
//       .optional(shape("examples"), "sample_weights", &LinearProblem::sample_weights);
//   Fields<LinearSvmOptions>(m, "LinearSvmOptions").values("tol", &LinearSvmOptions::tol);
//
// Python fills a struct by keyword; a missing or unknown field is an error. Results are allocated by their
// sizes:
//
//   problem = _core.LinearProblem(signs=signs, sample_weights=None)
//   options = _core.LinearSvmOptions(tol=0.01)
//   results = _core.LinearSvmResults.zeros(labels=2, examples=100, columns=5000)
//
// The function takes a Filled<LinearProblem>. `fitting` checks the shapes of its arrays and returns the
// core's struct. A size that is not given ("labels") is taken from the first array that has it:
//
//   Sizes sizes{{"examples", x.n_rows}};
//   const LinearProblem checked = problem.fitting(sizes);
//
// Arrays are never converted: what is written to a copy of an output would be lost. Pointers to const are
// inputs, which may be read-only. The row pointers and column numbers of a matrix are checked once, by
// _arrays.py with check_csr. A binding compares only lengths, which costs nothing, so that mismatched arrays
// never reach a solver.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

namespace nb = nanobind;

template <class T, std::size_t n_dimensions, class... More>
using Array = nb::ndarray<T, nb::ndim<n_dimensions>, nb::c_contig, nb::device::cpu, More...>;
template <class T>
using Input = Array<const T, 1>;
template <class T>
using Output = Array<T, 1>;
template <class T>
using InputMatrix = Array<const T, 2>;
template <class T>
using OutputMatrix = Array<T, 2>;

// The name of an argument of these types, which is not converted.
inline auto array(const char* name) { return nb::arg(name).noconvert(); }

using Shape = std::vector<std::int64_t>;

template <class AnyArray>
void require_shape(const AnyArray& array, const Shape& wanted, const char* name) {
    Shape found;
    for (std::size_t k = 0; k < array.ndim(); ++k) found.push_back(std::int64_t(array.shape(k)));
    if (found == wanted) return;
    const auto text = [](const Shape& shape) {
        std::string sizes;
        for (const std::int64_t size : shape) sizes += (sizes.empty() ? "" : " x ") + std::to_string(size);
        return sizes;
    };
    throw nb::value_error(
        (std::string(name) + " has " + text(found) + " places; expected " + text(wanted)).c_str());
}

template <class T>
void require_size(const Array<T, 1>& array, std::int64_t size, const char* name) {
    require_shape(array, Shape{size}, name);
}

inline void require_threads(int n_threads) {
    if (n_threads < 1) throw nb::value_error("the number of threads must be positive");
}

// A matrix with matching arrays. They may be longer than the row pointers require.
template <typename T>
CsrView<T> csr_view(const Input<std::int64_t>& indptr, const Input<std::int32_t>& indices,
                    const Input<T>& values, std::int64_t n_columns) {
    if (indptr.size() == 0) throw nb::value_error("indptr is empty");
    const std::int64_t n_rows = std::int64_t(indptr.size()) - 1;
    if (indptr(0) != 0 || indptr(n_rows) < 0 || indptr(n_rows) > std::int64_t(indices.size()) ||
        indices.size() != values.size() || n_columns < 0)
        throw nb::value_error("indptr, indices and values do not fit each other");
    return {indptr.data(), indices.data(), values.data(), n_rows, n_columns};
}

// A view of a matrix, and the owners of its arrays.
struct Csr {
    template <typename T>
    Csr(Input<std::int64_t> indptr, Input<std::int32_t> indices, Input<T> values, std::int64_t n_columns)
        : view(csr_view(indptr, indices, values, n_columns)),
          arrays{nb::ndarray<>(indptr.handle()), nb::ndarray<>(indices.handle()),
                 nb::ndarray<>(values.handle())} {}

    // work(x) on so many threads, where x is a CsrView<float> or a CsrView<double>.
    template <class Work>
    auto visit(int n_threads, Work&& work) const {
        require_threads(n_threads);
        return std::visit(work, view);
    }

    // The matrix, if its values have type T.
    template <typename T>
    const CsrView<T>& of_type() const {
        const CsrView<T>* const x = std::get_if<CsrView<T>>(&view);
        if (!x) throw nb::value_error("the values of the matrix have another type");
        return *x;
    }

    std::variant<CsrView<float>, CsrView<double>> view;
    nb::ndarray<> arrays[3];
};

// Sizes by the names used in Fields.
using Sizes = std::map<std::string, std::int64_t>;

// One dimension of an array: a size with a name, or a number.
struct Dimension {
    Dimension(const char* name) : name(name) {}
    Dimension(int size) : size(size) {}
    const char* name = nullptr;
    std::int64_t size = 0;
};

template <class... Each>
std::array<Dimension, sizeof...(Each)> shape(Each... each) {
    return {Dimension(each)...};
}

// A struct of the core filled by Python, and the owners of its arrays.
template <class Core>
struct Filled {
    struct Held {
        nb::ndarray<> array;  // empty if the pointer is null
        std::vector<Dimension> shape;
    };
    Core core{};
    std::map<std::string, Held> arrays;

    Core fitting(Sizes& sizes) const {
        for (const auto& [name, held] : arrays) {
            if (!held.array.is_valid()) continue;
            Shape wanted;
            for (const Dimension& each : held.shape) {
                const auto here = std::int64_t(held.array.shape(wanted.size()));
                wanted.push_back(each.name ? sizes.emplace(each.name, here).first->second : each.size);
            }
            require_shape(held.array, wanted, name.c_str());
        }
        return core;
    }
};

// Declares the members of a struct: names and places, alternating. A place is a pointer to a member, or a
// function from the struct to a reference.
template <class Core>
class Fields {
  public:
    Fields(nb::module_& m, const char* name) : bound_(m, name) {
        bound_.def("__init__",
                   [fields = fields_](nb::pointer_and_handle<Filled<Core>> self, const nb::kwargs& given) {
                       new (self.p) Filled<Core>();
                       nb::inst_mark_ready(self.h);  // for the setters
                       for (const auto& [field, value] : given) nb::setattr(self.h, field, value);
                       for (const Field& each : *fields)
                           if (each.required && !given.contains(each.name))
                               throw nb::type_error(("missing: " + std::string(each.name)).c_str());
                   });
        bound_.def_static("zeros", [fields = fields_, type = nb::handle(bound_)](const nb::kwargs& sizes) {
            const nb::object zeros = nb::module_::import_("numpy").attr("zeros");
            nb::dict made;
            for (const Field& each : *fields) {
                if (sizes.contains(each.name)) {
                    made[each.name] = sizes[each.name];
                } else if (each.required) {
                    nb::list shape;
                    for (const Dimension& size : each.shape)
                        shape.append(size.name ? nb::object(sizes[size.name]) : nb::int_(size.size));
                    made[each.name] = zeros(nb::tuple(shape), each.type);
                }
            }
            return nb::borrow<nb::typed<nb::object, Filled<Core>>>(type(**made));
        });
    }

    // Numbers and enumerators.
    template <class Place, class... More>
    Fields& values(const char* name, Place place, More... more) {
        using Value = std::decay_t<std::invoke_result_t<Place, Core&>>;
        fields_->push_back({name, true, {}, nullptr});
        bound_.def_prop_rw(
            name, [place](Filled<Core>& self) { return std::invoke(place, self.core); },
            [place](Filled<Core>& self, Value value) { std::invoke(place, self.core) = value; });
        if constexpr (sizeof...(more) > 0) values(more...);
        return *this;
    }

    template <std::size_t n, class... Named>
    Fields& arrays(const std::array<Dimension, n>& shape, Named... named) {
        return bind_arrays(nb::arg("array").noconvert(), true, shape, named...);
    }

    // Arrays that may be missing, None or empty: then the pointer is null.
    template <std::size_t n, class... Named>
    Fields& optional(const std::array<Dimension, n>& shape, Named... named) {
        return bind_arrays(nb::arg("array").noconvert().none(), false, shape, named...);
    }

  private:
    struct Field {
        const char* name;
        bool required;
        std::vector<Dimension> shape;
        const char* type;  // NumPy's name
    };

    template <class Argument, std::size_t n, class Place, class... More>
    Fields& bind_arrays(const Argument& argument, bool required, const std::array<Dimension, n>& shape,
                        const char* name, Place place, More... more) {
        using T = std::remove_pointer_t<std::decay_t<std::invoke_result_t<Place, Core&>>>;
        using Number = std::remove_const_t<T>;
        constexpr const char* type = std::is_same_v<Number, double>         ? "float64"
                                     : std::is_same_v<Number, std::int64_t> ? "int64"
                                     : std::is_same_v<Number, std::int32_t> ? "int32"
                                     : std::is_same_v<Number, std::uint8_t> ? "uint8"
                                                                            : "int8";
        static_assert(sizeof(Number) == (type[0] == 'f' || type[3] == '6' ? 8 : type[3] == '3' ? 4 : 1));
        const std::vector<Dimension> dimensions(shape.begin(), shape.end());
        fields_->push_back({name, required, dimensions, type});
        bound_.def_prop_rw(
            name,
            [name](const Filled<Core>& self) {
                const auto found = self.arrays.find(name);
                if (found == self.arrays.end()) throw nb::attribute_error(name);
                return Array<T, n, nb::numpy>(found->second.array.handle());
            },
            [=](Filled<Core>& self, Array<T, n> array) {
                const bool none = !required && (!array.is_valid() || array.size() == 0);
                std::invoke(place, self.core) = none ? nullptr : array.data();
                self.arrays[name] = {none ? nb::ndarray<>() : nb::ndarray<>(array.handle()), dimensions};
            },
            argument);
        if constexpr (sizeof...(more) > 0) bind_arrays(argument, required, shape, more...);
        return *this;
    }

    nb::class_<Filled<Core>> bound_;
    std::shared_ptr<std::vector<Field>> fields_ = std::make_shared<std::vector<Field>>();
};

// An array of Python that takes over the memory of `values`.
template <class T>
nb::object owned(std::vector<T>&& values) {
    auto* const kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

// True if a signal handler raised (Ctrl-C). Pass it as `poll` to run_parallel while the GIL is released.
inline bool poll_signals() {
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

// Runs `work` without the GIL. Interrupted becomes the Python exception that poll_signals left behind.
template <class Work>
void without_gil(Work&& work) {
    bool interrupted = false;
    {
        const nb::gil_scoped_release release;
        try {
            work();
        } catch (const Interrupted&) {
            interrupted = true;
        }
    }
    if (interrupted) throw nb::python_error();
}

}  // namespace widemargin
