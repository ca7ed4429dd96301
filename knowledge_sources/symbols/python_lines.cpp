#include "knowledge_sources/symbols/python_lines.hpp"

#include <algorithm>

namespace ardoise::knowledge_sources {
namespace {

std::int64_t signed_byte(char byte) { return static_cast<signed char>(byte); }
std::uint32_t plain_byte(char byte) { return static_cast<unsigned char>(byte); }

// Pairs: bytes of code that belong to the current line, then the change of the line.
std::int64_t from_lnotab(std::string_view table, std::int64_t line, std::uint32_t instruction) {
  std::uint32_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    end += plain_byte(table[i]);
    if (end > instruction) break;
    line += signed_byte(table[i + 1]);
  }
  return line;
}

// Pairs: bytes of code of a range, and its line difference to the previous range; -128: no line.
std::int64_t from_ranges(std::string_view table, std::int64_t first_line, std::uint32_t instruction) {
  std::int64_t line = first_line;
  std::uint32_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const std::int64_t change = signed_byte(table[i + 1]);
    if (change != -128) line += change;
    end += plain_byte(table[i]);
    if (end > instruction) return change == -128 ? first_line : line;
  }
  return first_line;
}

// Entries: a byte 1 kkkk lll (kind, length - 1 in units of two bytes) and the data of the kind.
class Locations {
 public:
  explicit Locations(std::string_view table) : rest_(table) {}

  std::int64_t line_of(std::int64_t first_line, std::uint32_t instruction) {
    std::int64_t line = first_line;
    std::uint32_t end = 0;
    while (!rest_.empty()) {
      const std::uint32_t head = next();
      const std::uint32_t kind = head >> 3 & 15u;
      end += 2 * ((head & 7u) + 1);
      line += change(kind);
      if (end > instruction) return kind == 15 ? first_line : line;
    }
    return first_line;
  }

 private:
  std::uint32_t next() {
    if (rest_.empty()) return 0;
    const std::uint32_t byte = plain_byte(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  // Six bits a byte, lowest first; bit 6: more follow.
  std::uint32_t number() {
    std::uint32_t value = 0;
    for (unsigned shift = 0;; shift += 6) {
      const std::uint32_t byte = next();
      if (shift < 30) value |= (byte & 63u) << shift;
      if ((byte & 64u) == 0) return value;
    }
  }
  std::int64_t signed_number() {
    const std::uint32_t value = number();
    const std::int64_t half = value >> 1;
    return (value & 1u) != 0 ? -half : half;
  }
  std::int64_t change(std::uint32_t kind) {
    if (kind == 15) return 0;
    if (kind == 14 || kind == 13) {
      const std::int64_t lines = signed_number();
      for (int skipped = 0; kind == 14 && skipped < 3; ++skipped) (void)number();
      return lines;
    }
    (void)next();
    if (kind < 10) return 0;
    (void)next();
    return kind - 10;
  }
  std::string_view rest_;
};

}  // namespace

std::uint32_t python_line(std::string_view table, std::uint32_t minor, std::uint32_t first_line,
                          std::uint32_t instruction) {
  const std::int64_t line = minor < 10    ? from_lnotab(table, first_line, instruction)
                            : minor == 10 ? from_ranges(table, first_line, instruction)
                                          : Locations(table).line_of(first_line, instruction);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(line, 0, UINT32_MAX));
}

}  // namespace ardoise::knowledge_sources
