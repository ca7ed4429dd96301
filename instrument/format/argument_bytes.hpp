// The bytes of ArgumentsExtensions, all of one call in a row: for each argument
//
//   kind (vmpi::ArgumentKind)      value                    a single one
//   kind | 128                     count, count × value     an array
//
// and zeros after the last. Values are signed numbers in as few bytes as they need: 7 bits in each, the lowest first,
// the sign in the lowest bit (LEB128, zigzag). Used by the recorder (record/argument_records.hpp) and by readers of
// traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ardoise::instrument {

inline constexpr std::uint8_t kArrayBit = 0x80;

// Calls put(byte) for each byte.
template <class Put>
void put_argument_number(std::int64_t number, Put&& put) {
  auto rest = static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
  for (; rest >= 0x80; rest >>= 7) put(static_cast<std::uint8_t>(rest | 0x80));
  put(static_cast<std::uint8_t>(rest));
}

struct ReadArgument {
  std::uint8_t kind;  // vmpi::ArgumentKind, or one of a later version
  bool is_array;
  std::span<const std::int64_t> values;  // valid until the next argument is read
};

// for (ArgumentReader reader(bytes); reader.next(argument);) …; ends before a truncated argument.
class ArgumentReader {
 public:
  explicit ArgumentReader(std::span<const std::uint8_t> bytes_untrusted) : rest_(bytes_untrusted) {}

  [[nodiscard]] bool next(ReadArgument& argument) {
    if (rest_.empty() || rest_[0] == 0) return false;
    const std::uint8_t kind = rest_[0] & (kArrayBit - 1);
    const bool is_array = (rest_[0] & kArrayBit) != 0;
    rest_ = rest_.subspan(1);
    std::int64_t count = 1;
    // A number takes at least one byte.
    if (is_array && (!get(count) || count < 0 || static_cast<std::uint64_t>(count) > rest_.size())) return false;
    values_.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t value = 0;
      if (!get(value)) return false;
      values_.push_back(value);
    }
    argument = {kind, is_array, values_};
    return true;
  }

 private:
  bool get(std::int64_t& number) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const std::uint8_t byte = rest_[0];
      rest_ = rest_.subspan(1);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte >= 0x80) continue;
      number = static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
      return true;
    }
    return false;
  }

  std::span<const std::uint8_t> rest_;
  std::vector<std::int64_t> values_;
};

}  // namespace ardoise::instrument
