// The layout of the CPython structures that a call stack needs, by version: offsets in bytes, of release builds for
// 64-bit machines. Source: the headers of each version (Include/cpython/{code,pystate,frameobject}.h,
// Include/internal/pycore_frame.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace ardoise::instrument::python {

// How to see that a call of the evaluation loop begins with a frame.
enum class EntryFrame : std::uint8_t {
  kEach,   // each frame has its own call of the loop
  kFlag,   // by a byte of the frame
  kOwner,  // a frame with owner kCStack, which represents the loop's caller, lies beneath it
};

struct Layout {
  std::uint32_t minor = 0;  // of 3.x
  // The path from the thread's state to its innermost frame, through another structure if `through` is not 0.
  std::uint32_t through = 0, current_frame = 0;
  std::uint32_t code = 0, previous = 0, instruction = 0;  // of a frame
  std::uint32_t entry = 0;
  EntryFrame entry_kind = EntryFrame::kEach;
  std::uint32_t instruction_unit = 0;  // `instruction` is an int in units of this many bytes; 0: a pointer
  // Offsets in a code object.
  std::uint32_t first_line = 0, file = 0, name = 0, lines = 0, bytecode = 0;
  std::uint32_t ascii = 0, compact = 0;  // header of a str, whose characters follow
};

inline constexpr Layout kLayouts[] = {
    {9, 0, 24, 32, 24, 104, 0, EntryFrame::kEach, 1, 40, 104, 112, 120, 0, 48, 72},
    {10, 0, 24, 32, 24, 96, 0, EntryFrame::kEach, 2, 40, 104, 112, 120, 0, 48, 72},
    {11, 56, 8, 32, 48, 56, 68, EntryFrame::kFlag, 0, 72, 112, 128, 136, 184, 48, 72},
    {12, 56, 0, 0, 8, 56, 70, EntryFrame::kOwner, 0, 68, 112, 128, 136, 192, 40, 56},
    {13, 0, 72, 0, 8, 56, 70, EntryFrame::kOwner, 0, 68, 112, 128, 136, 200, 40, 56},
};
inline constexpr std::uint8_t kCStack = 3;  // FRAME_OWNED_BY_CSTACK

// Offsets in PyObject, PyBytesObject and PyASCIIObject, equal in all versions.
inline constexpr std::uint32_t kType = 8, kSize = 16, kBytes = 32, kTextLength = 16, kTextState = 32;

// The layout for "3.11.2 (main, …)"; nullptr: another version, or a build without the global lock.
[[nodiscard]] constexpr const Layout* layout_of(std::string_view version) {
  if (!version.starts_with("3.") || version.find("free-threading") != std::string_view::npos) return nullptr;
  std::uint32_t minor = 0;
  for (std::size_t i = 2; i < version.size() && version[i] >= '0' && version[i] <= '9'; ++i)
    minor = 10 * minor + static_cast<std::uint32_t>(version[i] - '0');
  for (const Layout& layout : kLayouts) {
    if (layout.minor == minor) return &layout;
  }
  return nullptr;
}

}  // namespace ardoise::instrument::python
