// Python's view of the text part of the core.
#include "bindings.hpp"

namespace widemargin {

void register_text(nb::module_&) {}

}  // namespace widemargin
