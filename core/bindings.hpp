// What every bindings_*.cpp shares: array types that never convert, and the bridge to run_parallel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "parallel.hpp"

namespace widemargin {

namespace nb = nanobind;

// Use both with .noconvert(): a silent copy of an output loses what is written to it.
template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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
