// The waits in a part's calls (knowledge_sources/wait_spans.hpp), which become known after these were written, some
// when the part's event files are closed: a file `waits` beside them, of blocks of one rank each, as they fill.
//
//   block = header { rank, count, missing } count × RankWait        missing: further ones of the rank, for want of room
//
// When the archive is made they are read rank by rank, and attached to the calls (copied_calls.hpp).
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "knowledge_sources/wait_spans.hpp"

namespace ardoise::knowledge_sources {

// Any thread. Memory: 3 KiB for each rank that waits.
class TraceWaits {
 public:
  static constexpr std::size_t kBlock = 64;                 // waits
  static constexpr std::uint64_t kMostOfRank = 1ull << 20;  // 48 MiB where they are read

  // complain: gets one sentence when the file cannot be written; what comes then is counted only.
  TraceWaits(std::filesystem::path part, std::function<void(const std::string&)> complain);

  // Waits of one rank.
  void add(std::span<const RankWait> waits);
  // What is held back. It may be called again when more have come.
  void flush();

 private:
  struct OfRank {
    std::vector<RankWait> held;
    std::uint64_t taken = 0, missing = 0;
  };
  void write(std::uint32_t rank, OfRank& of_rank);

  const std::filesystem::path file_name_;
  const std::function<void(const std::string&)> complain_;
  std::mutex mutex_;  // of what follows
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  bool has_failed_ = false;
  std::map<std::uint32_t, OfRank> ranks_;
};

// As it is in the end. An unfinished block, of an analyzer that was killed, is passed over.
class WaitsOfPart {
 public:
  explicit WaitsOfPart(const std::filesystem::path& part);

  [[nodiscard]] bool is_empty() const { return blocks_.empty(); }
  [[nodiscard]] bool has(std::uint32_t rank) const { return blocks_.contains(rank); }
  // In no order. missing: counts up what there was no room for.
  void add_to(std::vector<RankWait>& waits, std::uint32_t rank, std::uint64_t& missing) const;

 private:
  struct Block {
    std::uint64_t at;
    std::uint32_t count;
  };
  struct OfRank {
    std::vector<Block> blocks;
    std::uint64_t missing = 0;
  };
  std::filesystem::path file_name_;
  std::map<std::uint32_t, OfRank> blocks_;
};

}  // namespace ardoise::knowledge_sources
