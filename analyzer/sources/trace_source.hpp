// The packs of an OTF2 trace of any writer, for ardoise-analyzer --replay: as if its program had run under Ardoise
// (knowledge_sources/otf2/packs). A thread of the source reads the trace while the blackboard's workers analyze.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/sources/pack_source.hpp"
#include "knowledge_sources/otf2/packs/trace_packs.hpp"
#include "knowledge_sources/reduction/level.hpp"

namespace ardoise::analyzer {

class TraceSource final : public PackSource {
 public:
  // Throws UnreadableArchive.
  explicit TraceSource(const std::filesystem::path& path);
  ~TraceSource() override;
  TraceSource(const TraceSource&) = delete;
  TraceSource& operator=(const TraceSource&) = delete;

  [[nodiscard]] knowledge_sources::Program program() const;
  [[nodiscard]] const std::filesystem::path& anchor() const { return archive_.anchor().file; }

  // The first call starts reading.
  [[nodiscard]] Next next(SourcedPack& pack) override;
  // After the end: unreadable parts.
  [[nodiscard]] std::vector<std::string> complaints() const override;
  // After the end: missing parts of the trace, and parts that are not shown.
  [[nodiscard]] std::vector<std::string> notices() const;

 private:
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // limit of packs read but not taken

  void read(const std::stop_token& stopped);
  void put(knowledge_sources::MadePack pack, const std::stop_token& stopped);

  knowledge_sources::ArchiveReader archive_;
  knowledge_sources::TracedProgram program_;
  mutable std::mutex mutex_;
  std::condition_variable_any room_;
  std::deque<std::unique_ptr<knowledge_sources::MadePack>> packs_;  // guarded by mutex_, like the rest
  std::size_t bytes_ = 0;
  bool has_ended_ = false;
  std::vector<std::string> complaints_, notices_;
  std::jthread reader_;
};

}  // namespace ardoise::analyzer
