// What ranks need of memory, and how that grows. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

Section memory(const Application& a) {
  Section section{.title = "Memory", .together = 8};
  const auto& peaks = a.per_rank.peak_memory_bytes;
  if (peaks.empty()) return section;
  const auto [least, most] = std::minmax_element(peaks.begin(), peaks.end());
  if (*most == 0) return section;
  const auto rank = static_cast<std::uint32_t>(most - peaks.begin());
  std::string text = a.ranks == 1
                         ? fmt::format("The rank had {} resident at its peak", human_bytes(static_cast<double>(*most)))
                         : fmt::format("Ranks had {} to {} resident at their peaks, rank {} most",
                                       human_bytes(static_cast<double>(*least)),
                                       human_bytes(static_cast<double>(*most)), a.world_rank(rank));
  if (!a.memory.host_bytes.empty() && a.memory.host_bytes[0] != 0) {
    const std::uint64_t limit = a.memory.limit_bytes[0];
    text += fmt::format("; {} has {}", a.hosts.size() == 1 ? "the host" : "the first host",
                        human_bytes(static_cast<double>(a.memory.host_bytes[0])));
    if (limit != 0) text += fmt::format(", of which the job may use {}", human_bytes(static_cast<double>(limit)));
  }
  section.blocks.push_back(Paragraph{text + "."});
  add_figure(section, memory_figure(a), "memory over time (it did not grow)");
  return section;
}

}  // namespace ardoise::reports
