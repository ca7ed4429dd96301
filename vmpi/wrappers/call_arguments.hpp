// Arguments that a wrapper passes after the call to an observer that wants them (Observer::wants_arguments): only
// significant ones, since others may be garbage. Generated wrappers fill an ArgumentList.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "vmpi/argument_kinds.hpp"
#include "vmpi/wrappers/byte_rules.hpp"
#include "vmpi/wrappers/observer.hpp"

namespace ardoise::vmpi {

// One argument. Datatypes and requests are words made of the library's C handles.
struct Argument {
  using Element = std::int64_t (*)(const void* array, std::int64_t i);
  ArgumentKind kind;
  std::int64_t value;  // of a single argument
  std::int64_t count;  // of an array; -1: single argument
  const void* array;
  Element element;

  [[nodiscard]] bool is_array() const { return count >= 0; }
};

// A handle as a number, for any handle type, and back.
template <class Handle>
[[nodiscard]] std::int64_t handle_word(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(handle));
  } else {
    return static_cast<std::int64_t>(static_cast<std::uint32_t>(handle));
  }
}
template <class Handle>
[[nodiscard]] Handle handle_of_word(std::int64_t word) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(static_cast<std::intptr_t>(word));
  } else {
    return static_cast<Handle>(word);
  }
}

// Index into kOperationNames.
[[nodiscard]] std::int64_t operation_number(MPI_Op op) noexcept;

// Up to `kMost` arguments of one call.
template <std::size_t kMost>
class ArgumentList {
 public:
  void add(ArgumentKind kind, std::int64_t value) { items_[count_++] = {kind, value, -1, nullptr, nullptr}; }
  void add_if(bool is_significant, ArgumentKind kind, std::int64_t value) {
    if (is_significant) add(kind, value);
  }
  template <class Number>
  void add_array(ArgumentKind kind, const Number* array, std::int64_t count) {
    add_elements(kind, array, count, [](const void* numbers, std::int64_t i) {
      return static_cast<std::int64_t>(static_cast<const Number*>(numbers)[i]);
    });
  }
  void add_elements(ArgumentKind kind, const void* array, std::int64_t count, Argument::Element element) {
    if (array != nullptr && count >= 0) items_[count_++] = {kind, 0, count, array, element};
  }
  // Until the wrapper returns.
  void tell(Call& call) const {
    call.arguments = items_.data();
    call.argument_count = static_cast<int>(count_);
  }

 private:
  std::array<Argument, kMost> items_;
  std::size_t count_ = 0;
};

// The sides of a call with two sides whose arguments are significant.
struct SignificantSides {
  bool sends = true, receives = true;
};
namespace significant {

[[nodiscard]] constexpr SignificantSides gather(const byte_rules::Sides& sides, byte_rules::Part part, bool in_place) {
  const bool is_root = part == byte_rules::Part::kRoot;
  return {part == byte_rules::Part::kLeaf || (is_root && !sides.inter && !in_place), is_root};
}
// in_place: of the receiving buffer.
[[nodiscard]] constexpr SignificantSides scatter(const byte_rules::Sides& sides, byte_rules::Part part, bool in_place) {
  const SignificantSides other_way = gather(sides, part, in_place);
  return {other_way.receives, other_way.sends};
}

}  // namespace significant
}  // namespace ardoise::vmpi
