// Zeroed memory that starts on a cache line, so that 16 floats never straddle two.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace widemargin {

template <typename T>
class AlignedBuffer {
  public:
    explicit AlignedBuffer(std::size_t size)
        : data_(static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t(64)))) {
        std::memset(data_.get(), 0, size * sizeof(T));
    }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::size_t i) { return data_.get()[i]; }
    const T& operator[](std::size_t i) const { return data_.get()[i]; }

  private:
    struct Delete {
        void operator()(T* data) const { ::operator delete(data, std::align_val_t(64)); }
    };
    std::unique_ptr<T, Delete> data_;
};

}  // namespace widemargin
