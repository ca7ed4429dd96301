// Finds the function, file and line of a call site or sample in the binary on disk (elfutils), after the run, on the
// analyzer. Uses DWARF with separate debug files if available (.gnu_debuglink, or by build id in
// /usr/lib/debug/.build-id), else the symbol tables. Missing information (no file, another build of it, no symbols) is
// empty, never an error. Each module is opened once, each of its compilation units is read once. Not thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge_sources/interface/resolver.hpp"

namespace ardoise::knowledge_sources {

class Symbolizer {
 public:
  // Search path of separate debug files for elfutils: beside the binary, in .debug beside it, and in a folder.
  static constexpr const char* kDebugFolders = ":.debug:/usr/lib/debug";

  explicit Symbolizer(std::string debug_folders = kDebugFolders);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // All frames of the call before the return address `offset` (in the module's own addresses), innermost first: inlined
  // functions, then the one that contains them. For an address that is not a return address, pass offset + 1.
  // `build_id` in hex; "" matches every build.
  [[nodiscard]] std::vector<SourceFrame> frames(const std::string& module, std::string_view build_id,
                                                std::uint64_t offset);
  // The frame to show: the innermost one that was not inlined from a system header (a C++ binding, std::invoke …).
  [[nodiscard]] SourceFrame find(const std::string& module, std::string_view build_id, std::uint64_t offset);

 private:
  class Module;
  struct Callbacks;
  std::unique_ptr<Callbacks> callbacks_;
  std::map<std::string, std::unique_ptr<Module>, std::less<>> modules_;
};

}  // namespace ardoise::knowledge_sources
