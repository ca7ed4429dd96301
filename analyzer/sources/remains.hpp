// What is left of processes that ended without MPI_Finalize (instrument/format/remains.hpp), as packs that come after
// those which such a process had sent.
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

// As packs have it: partition and rank in its world.
using ProcessKey = std::pair<std::uint32_t, std::uint32_t>;

// For each process the number that its next pack has, of those that have come.
using NextPacks = std::map<ProcessKey, std::uint64_t>;

class Remains final : public PackSource {
 public:
  explicit Remains(std::filesystem::path folder, NextPacks arrived = {})
      : folder_(std::move(folder)), arrived_(std::move(arrived)) {}

  // A pack of a stream has come.
  void note(const SourcedPack& pack);
  // The remains of this process come next. False: there are none.
  [[nodiscard]] bool open(ProcessKey process);
  // Of all processes that left any. How many these are.
  std::size_t open_all();

  // What has come before is left out. Packs live as long as this object.
  [[nodiscard]] Next next(SourcedPack& pack) override;
  [[nodiscard]] std::vector<std::string> complaints() const override;

  // Their last pack has come.
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
  std::deque<OpenFile> files_;  // packs of those before current_ may still be in use
  std::size_t current_ = 0;
};

// The files, by name, also those that are still being written.
[[nodiscard]] std::vector<std::filesystem::path> remains_files(const std::filesystem::path& folder);
[[nodiscard]] bool is_unfinished(const std::filesystem::path& file);

}  // namespace ardoise::analyzer
