// Reads the call frame information (.eh_frame) of one loaded object in memory: finds the entry of a program counter by
// binary search in .eh_frame_hdr and interprets its instructions up to there. No allocation, no lock, no system call:
// usable in signal handlers. x86-64. Formats: LSB 5.0 chapter 10.6, DWARF 5 section 6.4.
#pragma once

#include <cstdint>

#include "instrument/unwind/unwind_rule.hpp"

namespace ardoise::instrument {

// An object: its mapping and its PT_GNU_EH_FRAME segment, addresses in this process.
struct EhFrame {
  std::uint64_t map_begin = 0;
  std::uint64_t map_end = 0;
  std::uint64_t header = 0;  // .eh_frame_hdr
};

// False: the object has no information about pc, or an unsupported form; rule is unchanged then.
[[nodiscard]] bool find_unwind_rule(const EhFrame& object, std::uint64_t pc, UnwindRule& rule);

}  // namespace ardoise::instrument
