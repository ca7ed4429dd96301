// An array of a size known at construction: on the stack while small, else on the heap. Elements are uninitialised.
// Holds copies of requests and statuses during one call.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <type_traits>

namespace ardoise::vmpi {

template <class T, std::size_t kInline>
class SmallArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit SmallArray(std::size_t size = 0) { resize(size); }
  ~SmallArray() {
    if (data_ != inline_) std::free(data_);
  }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;

  // Discards the elements. Without memory the array stays empty: observation loses data, the program does not.
  void resize(std::size_t size) {
    if (size > capacity_) {
      if (auto* larger = static_cast<T*>(std::malloc(size * sizeof(T)))) {
        if (data_ != inline_) std::free(data_);
        data_ = larger;
        capacity_ = size;
      } else {
        size = 0;
      }
    }
    size_ = size;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  T* data() { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }

 private:
  std::size_t size_ = 0;
  std::size_t capacity_ = kInline;
  T* data_ = inline_;
  T inline_[kInline];
};

}  // namespace ardoise::vmpi
