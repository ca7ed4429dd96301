// Line numbers of Python instructions, from the line table of a code object (CPython 3.9 to 3.13).
#pragma once

#include <cstdint>
#include <string_view>

namespace ardoise::knowledge_sources {

// table: co_lnotab of 3.9, co_linetable of 3.10 (PEP 626) and of 3.11 on (PEP 657). instruction: its distance from the
// first one, in bytes. minor: of version 3.minor. An instruction that the table lacks gets the first line.
[[nodiscard]] std::uint32_t python_line(std::string_view table, std::uint32_t minor, std::uint32_t first_line,
                                        std::uint32_t instruction);

}  // namespace ardoise::knowledge_sources
