// Memory of ranks and its growth. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

std::string memory_in_words(const Application& a) {
  const auto& peaks = a.per_rank.peak_memory_bytes;
  if (peaks.empty()) return "";
  const auto [least, most] = std::minmax_element(peaks.begin(), peaks.end());
  if (*most == 0) return "";
  const auto rank = static_cast<std::uint32_t>(most - peaks.begin());
  const std::string peak = human_bytes(static_cast<double>(*most));
  std::string text = a.ranks == 1 ? "peak resident memory " + peak
                                  : fmt::format("peak resident memory {} to {}, most on rank {}",
                                                human_bytes(static_cast<double>(*least)), peak, a.world_rank(rank));
  if (a.memory.host_bytes.empty() || a.memory.host_bytes[0] == 0) return text;
  text += fmt::format("; {} has {}", a.hosts.size() == 1 ? "the host" : "the first host",
                      human_bytes(static_cast<double>(a.memory.host_bytes[0])));
  const std::uint64_t limit = a.memory.limit_bytes[0];
  if (limit != 0) text += fmt::format(", the job's limit is {}", human_bytes(static_cast<double>(limit)));
  return text;
}

Section memory(const Application& a) {
  Section section{.title = "Memory", .together = 8};
  add_figure(section, memory_figure(a), "memory over time (it grew little)");
  return section;
}

}  // namespace ardoise::reports
