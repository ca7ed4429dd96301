// Writes messages in the wire format of protocol buffers, as far as traces need it: base-128 varints, fixed-size fields
// of 8 bytes, and fields with a length. Callers define the field numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace ardoise::launcher {

class ProtoMessage {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    tag(field, kVarint);
    varint(value);
  }
  // As int64: negative numbers take ten bytes.
  void signed_number(std::uint32_t field, std::int64_t value) { number(field, static_cast<std::uint64_t>(value)); }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    tag(field, kFixed64);
    for (unsigned shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xff);
  }
  void real(std::uint32_t field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }
  // Field of a string, bytes, or an encoded message.
  void text(std::uint32_t field, std::string_view value) {
    tag(field, kLength);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const ProtoMessage& value) { text(field, value.bytes_); }
  // Appends encoded fields.
  void fields_of(std::string_view bytes) { bytes_ += bytes; }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

 private:
  static constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kLength = 2;
  void tag(std::uint32_t field, std::uint32_t type) { varint(std::uint64_t{field} << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace ardoise::launcher
