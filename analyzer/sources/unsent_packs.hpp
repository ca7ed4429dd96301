// Data left by processes that ended without MPI_Finalize (instrument/format/unsent_files.hpp), as packs that follow
// those that such a process had sent.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/sources/capture_source.hpp"
#include "analyzer/sources/pack_source.hpp"

namespace ardoise::analyzer {

// Partition and rank in its world, as in packs.
using ProcessKey = std::pair<std::uint32_t, std::uint32_t>;

// For each process the number of its next expected pack.
using NextPacks = std::map<ProcessKey, std::uint64_t>;

class UnsentPacks final : public PackSource {
 public:
  explicit UnsentPacks(std::filesystem::path folder, NextPacks arrived = {})
      : folder_(std::move(folder)), arrived_(std::move(arrived)) {}

  // Notes a pack received from a stream.
  void note(const SourcedPack& pack);
  // Opens the file of this process, whose packs come next. False: there is none.
  [[nodiscard]] bool open(ProcessKey process);
  // Opens the files of all processes. Returns their number.
  std::size_t open_all();

  // Skips packs already received. Packs live as long as this object.
  [[nodiscard]] Next next(SourcedPack& pack) override;
  [[nodiscard]] std::vector<std::string> complaints() const override;

  // Its last pack has been returned.
  [[nodiscard]] bool has_ended(const ProcessKey& process) const { return ended_.contains(process); }
  [[nodiscard]] const NextPacks& arrived() const { return arrived_; }

 private:
  bool open(const std::filesystem::path& file);

  struct OpenFile {
    explicit OpenFile(Capture read) : capture(std::move(read)), source(capture) {}
    Capture capture;
    CaptureSource source;
  };
  std::filesystem::path folder_;
  NextPacks arrived_;
  std::set<ProcessKey> ended_;
  std::deque<OpenFile> files_;  // packs of files before current_ may still be in use
  std::size_t current_ = 0;
};

// The files, by name, including those still being written.
[[nodiscard]] std::vector<std::filesystem::path> unsent_pack_files(const std::filesystem::path& folder);
[[nodiscard]] bool is_unfinished(const std::filesystem::path& file);

}  // namespace ardoise::analyzer
