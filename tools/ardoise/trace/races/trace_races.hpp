// `ardoise trace races`: finds the receives of a recorded run that could have received another message.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "knowledge_sources/otf2/reader/archive_definitions.hpp"
#include "knowledge_sources/otf2/reader/event_callbacks.hpp"
#include "knowledge_sources/otf2/reader/message_matcher.hpp"
#include "tools/ardoise/trace/races/causal_order.hpp"
#include "tools/ardoise/trace/races/given_receives.hpp"
#include "tools/ardoise/trace/races/race_windows.hpp"

namespace ardoise::launcher {

// Takes all events of an archive (read_in_order).
class TraceRaces : public knowledge_sources::EventConsumer {
 public:
  explicit TraceRaces(const knowledge_sources::ArchiveDefinitions& definitions, std::size_t room = RaceWindows::kMost);

  [[nodiscard]] bool event(const knowledge_sources::ArchivedEvent& event) override;
  void finish();

  // False: the trace does not contain the wildcards of receives.
  [[nodiscard]] bool has_arguments() const { return given_.has_arguments(); }
  [[nodiscard]] std::uint64_t messages() const { return order_.messages(); }
  // Racing call sites, by region.
  [[nodiscard]] const std::map<std::uint32_t, RacingSite>& sites() const { return windows_.sites(); }
  [[nodiscard]] std::uint64_t racing() const;
  // Report for readers.
  [[nodiscard]] std::string text() const;
  // CSV with a row for each call site.
  [[nodiscard]] std::string csv() const;
  // Limits of the result, a line each.
  [[nodiscard]] std::string notes() const;

 private:
  using Event = knowledge_sources::ArchivedEvent;
  [[nodiscard]] std::string place_of(std::uint32_t region) const;
  [[nodiscard]] std::string name_of_process(std::uint32_t process) const;
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t process) const;
  [[nodiscard]] std::vector<std::uint32_t> ranks_of(const std::set<std::uint32_t>& processes) const;
  [[nodiscard]] std::string message_text(const SentMessage& message) const;
  [[nodiscard]] std::string site_text(std::uint32_t region, const RacingSite& site) const;
  [[nodiscard]] std::string timed_text() const;
  [[nodiscard]] std::string csv_start(const char* kind, std::uint32_t region,
                                      const std::set<std::uint32_t>& processes) const;

  const knowledge_sources::ArchiveDefinitions& definitions_;
  knowledge_sources::CommRanks ranks_;
  knowledge_sources::OpenCalls calls_;
  GivenReceives given_;
  RaceWindows windows_;
  CausalOrder order_;
  knowledge_sources::MessageMatcher matcher_;
  knowledge_sources::MessageTracker tracker_;
  std::unordered_map<std::uint64_t, std::uint32_t> process_of_location_;
  std::uint64_t unknown_receives_ = 0;
};

}  // namespace ardoise::launcher
