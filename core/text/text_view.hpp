// A view of one document's characters in a Python string, bytes, or an Arrow column.
#pragma once

#include <cstdint>

namespace widemargin {

enum class Encoding : uint8_t { ascii, latin1, ucs2, ucs4, utf8 };

struct TextView {
    const void* data;
    int64_t length;  // in code units of the encoding
    Encoding encoding;
};

}  // namespace widemargin
