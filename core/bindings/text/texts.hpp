// Python's texts as the core reads them, and the threads that read them.
#pragma once

#include <memory>
#include <vector>

#include "bindings/bindings.hpp"
#include "parallel.hpp"
#include "text/counting.hpp"
#include "text/text_view.hpp"
#include "text/vocabulary.hpp"

namespace widemargin {

inline Strings copy_strings(const Input<uint8_t>& bytes, const Input<int64_t>& offsets) {
    Strings strings;
    if (offsets.size() == 0 || offsets(0) != 0) throw nb::value_error("offsets must begin with 0");
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
        if (offsets(i) > offsets(i + 1)) throw nb::value_error("offsets must ascend");
    if (offsets(offsets.size() - 1) != static_cast<int64_t>(bytes.size()))
        throw nb::value_error("offsets must end at the number of bytes");
    const auto* data = reinterpret_cast<const char*>(bytes.data());
    strings.bytes.assign(data, data + bytes.size());
    strings.offsets.assign(offsets.data(), offsets.data() + offsets.size());
    return strings;
}

// The characters of many documents, and their owners.
class Texts {
  public:
    // Adds a list or tuple of str or bytes. Returns -1, or the position of the first element that is neither;
    // then the object must not be used.
    int64_t add_objects(nb::object sequence) {
        // A private tuple, so that no string can be freed while the GIL is released.
        nb::tuple items(sequence);
        const size_t n = items.size();
        views.reserve(views.size() + n);
        for (size_t i = 0; i < n; ++i) {
            PyObject* item = PyTuple_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i));
            if (PyUnicode_Check(item)) {
#if PY_VERSION_HEX < 0x030C0000
                if (PyUnicode_READY(item) != 0) throw nb::python_error();
#endif
                const int kind = PyUnicode_KIND(item);
                const Encoding encoding = PyUnicode_IS_ASCII(item)       ? Encoding::ascii
                                          : kind == PyUnicode_1BYTE_KIND ? Encoding::latin1
                                          : kind == PyUnicode_2BYTE_KIND ? Encoding::ucs2
                                                                         : Encoding::ucs4;
                views.push_back({PyUnicode_DATA(item), PyUnicode_GET_LENGTH(item), encoding});
            } else if (PyBytes_Check(item)) {
                views.push_back({PyBytes_AS_STRING(item), PyBytes_GET_SIZE(item), Encoding::utf8});
            } else {
                return static_cast<int64_t>(i);
            }
        }
        owners.append(std::move(items));
        return -1;
    }

    // Adds an Arrow column: text i is data[offsets[i]] .. data[offsets[i + 1]].
    template <class Offset>
    void add_column(Input<Offset> offsets, Input<uint8_t> data) {
        for (size_t i = 0; i + 1 < offsets.size(); ++i) {
            const int64_t begin = offsets(i), end = offsets(i + 1);
            if (begin < 0 || begin > end || end > static_cast<int64_t>(data.size()))
                throw nb::value_error("the offsets of the column are not ascending within its data");
            views.push_back({data.data() + begin, end - begin, Encoding::utf8});
        }
        owners.append(nb::cast(offsets));
        owners.append(nb::cast(data));
    }

    int64_t length() const {
        int64_t sum = 0;
        for (const TextView& text : views) sum += text.length;
        return sum;
    }

    std::vector<TextView> views;
    nb::list owners;
};

// A pattern that several rules may share.
struct BoundPattern {
    std::shared_ptr<const Pattern> pattern;
};

// An index of known terms, with the rule for splitting texts.
template <class Index>
struct BoundIndex {
    Index index;
    TextRule rule;
};

// Below this number of characters, starting threads takes longer than the work.
constexpr int64_t kSmall = 1 << 15;

// Runs tasks on n threads, or on the calling thread for little work.
struct Runner {
    int n_threads;
    bool here;

    Runner(int wanted, int64_t work) : n_threads(work < kSmall ? 1 : wanted), here(work < kSmall) {
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

}  // namespace widemargin
