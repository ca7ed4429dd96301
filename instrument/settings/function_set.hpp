// A set of MPI and POSIX functions by name: those with calls that become sums (--record).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "instrument/format/event_format.hpp"
#include "instrument/format/posix_functions.hpp"

namespace ardoise::instrument {

class FunctionSet {
 public:
  static constexpr std::size_t kWords = (std::size_t{1} << kFunctionBits) / 64 + 1;  // the last one: POSIX
  using Words = std::array<std::uint64_t, kWords>;
  static_assert(kPosixFunctionCount <= 64);

  FunctionSet() = default;
  explicit FunctionSet(const Words& words) : words_(words) {}
  [[nodiscard]] static FunctionSet all() {
    FunctionSet set;
    set.words_.fill(~std::uint64_t{0});
    return set;
  }
  // Adds a function, or all of "mpi" or "io". False: unknown name. Neither allocates nor throws.
  [[nodiscard]] bool add(std::string_view name) noexcept;

  [[nodiscard]] bool has(bool is_posix, std::uint32_t function) const {
    const std::uint64_t word = is_posix ? words_.back() : words_[function / 64 % (kWords - 1)];
    return (word >> function % 64 & 1) != 0;
  }
  [[nodiscard]] const Words& words() const { return words_; }
  friend bool operator==(const FunctionSet&, const FunctionSet&) = default;

 private:
  Words words_{};
};

// Reads a value of --record: "events", "sums" or "sums:FUNCTION,...". False: invalid. Neither allocates nor throws.
[[nodiscard]] bool parse_record(std::string_view text, FunctionSet& sums) noexcept;

}  // namespace ardoise::instrument
