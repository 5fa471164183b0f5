// What every bindings_*.cpp shares: array types that never convert, and the bridge to run_parallel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>

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

// Below this many characters or numbers, starting threads takes longer than the work.
inline constexpr std::int64_t kSmallWork = 1 << 15;

// Runs tasks on n threads, or on the calling one if that is enough.
struct Runner {
    int n_threads;
    bool here;

    Runner(int wanted, std::int64_t work)
        : n_threads(work < kSmallWork ? 1 : wanted), here(work < kSmallWork) {
        if (wanted < 1) throw nb::value_error("the number of threads must be positive");
    }

    template <class Task>
    void operator()(Task&& task) const {
        if (here) {
            const StopFlag stop{false};
            task(0, stop);
        } else {
            run_parallel(n_threads, task, poll_signals);
        }
    }
};

template <class T>
void require_size(const T& array, std::int64_t size, const char* name) {
    if (static_cast<std::int64_t>(array.size()) != size)
        throw nb::value_error((std::string(name) + " has " + std::to_string(array.size()) +
                               " places; expected " + std::to_string(size))
                                  .c_str());
}

}  // namespace widemargin
