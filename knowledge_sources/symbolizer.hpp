// Finds the function, file and line of a call site in the binary on disk (elfutils), after the run, on the analyzer.
// Uses DWARF with separate debug files where there are any, else the symbol table. Whatever cannot be found (no such
// file, another build of it, no symbols) is empty, never an error. Each module is opened once. Not thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::knowledge_sources {

struct SourceFrame {
  std::string symbol;  // demangled; "" unknown
  std::string source_file;
  std::uint32_t line = 0;
};

class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // All frames of the call before the return address `offset` (in the module's own addresses), innermost first:
  // functions that the compiler inlined, then the one that contains them. `build_id` in hex; "" matches every build.
  [[nodiscard]] std::vector<SourceFrame> frames(const std::string& module, std::string_view build_id,
                                                std::uint64_t offset);
  // The frame to show: the innermost that is not a function inlined from a system header (a C++ binding, std::invoke
  // …).
  [[nodiscard]] SourceFrame find(const std::string& module, std::string_view build_id, std::uint64_t offset);

 private:
  class Module;
  std::map<std::string, std::unique_ptr<Module>, std::less<>> modules_;
};

}  // namespace ardoise::knowledge_sources
