// What every bindings_*.cpp shares: array types that never convert, checks that arrays fit each other, and
// the bridge to run_parallel.
//
// Whether the row pointers and column numbers of a matrix are sound is for _arrays.py to find out, once, with
// check_csr. A binding compares lengths alone, which costs nothing: arrays that do not fit each other never
// reach a solver.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

#include "parallel.hpp"
#include "sparse/csr.hpp"

namespace widemargin {

namespace nb = nanobind;

// Use both with .noconvert(): a silent copy of an output loses what is written to it.
template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using InputMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutputMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

[[noreturn]] inline void refuse_size(const char* name, const std::string& found, const std::string& wanted) {
    throw nb::value_error((std::string(name) + " has " + found + " places; expected " + wanted).c_str());
}

template <class Array>
void require_size(const Array& array, std::int64_t size, const char* name) {
    if (std::int64_t(array.size()) != size)
        refuse_size(name, std::to_string(array.size()), std::to_string(size));
}

template <class Array>
void require_shape(const Array& array, std::int64_t rows, std::int64_t columns, const char* name) {
    if (std::int64_t(array.shape(0)) != rows || std::int64_t(array.shape(1)) != columns)
        refuse_size(name, std::to_string(array.shape(0)) + " x " + std::to_string(array.shape(1)),
                    std::to_string(rows) + " x " + std::to_string(columns));
}

// An array of size 0 stands for one that the options do not need.
template <class Array>
void require_size_or_none(const Array& array, std::int64_t size, const char* name) {
    if (array.size() != 0) require_size(array, size, name);
}

template <class Array>
void require_shape_or_none(const Array& array, std::int64_t rows, std::int64_t columns, const char* name) {
    if (array.size() != 0) require_shape(array, rows, columns, name);
}

inline void require_threads(int n_threads) {
    if (n_threads < 1) throw nb::value_error("the number of threads must be positive");
}

// A matrix whose arrays fit each other. They may be longer than the row pointers say.
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

// True when a signal handler raised (Ctrl-C): pass as `poll` to run_parallel while the GIL is released.
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
