// Common helpers of world_archive_*.cpp.
#pragma once

#include <otf2/OTF2_GlobalDefWriter.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace ardoise::knowledge_sources {

// Texts of an archive, each once. OTF2 wants them without a zero, and does not validate their content.
class StringWriter {
 public:
  explicit StringWriter(OTF2_GlobalDefWriter* out) : out_(out) { (void)of(""); }
  OTF2_StringRef of(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, static_cast<OTF2_StringRef>(numbers_.size()));
    if (is_new) OTF2_GlobalDefWriter_WriteString(out_, found->second, text.c_str());
    return found->second;
  }

 private:
  OTF2_GlobalDefWriter* out_;
  std::unordered_map<std::string, OTF2_StringRef> numbers_;
};

// Items in the order of their numbers, which readers expect.
template <class Thing>
std::vector<const Thing*> by_number(const std::map<Thing, std::uint64_t>& numbers, std::uint64_t first = 0) {
  std::vector<const Thing*> list(numbers.size());
  for (const auto& [thing, number] : numbers) list[number - first] = &thing;
  return list;
}

}  // namespace ardoise::knowledge_sources
