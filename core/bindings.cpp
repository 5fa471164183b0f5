// The extension module. Each part of the core registers its functions in a bindings_*.cpp of its own.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of widemargin: arrays in, arrays out.";
}
