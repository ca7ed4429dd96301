// Integers in a minimum of bytes, 7 bits in each, lowest first (LEB128); signed ones with the sign in the lowest bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"

namespace ardoise::knowledge_sources {

inline void put_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}
inline void put_signed(std::vector<std::byte>& out, std::int64_t value) {
  put_varint(out, static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

// Throws BadPartial.
[[nodiscard]] inline std::uint64_t get_varint(ByteReader& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = in.get<std::uint8_t>();
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  in.check(false, "has a number of more than 64 bits");
  return value;
}
[[nodiscard]] inline std::int64_t get_signed(ByteReader& in) {
  const std::uint64_t value = get_varint(in);
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

}  // namespace ardoise::knowledge_sources
