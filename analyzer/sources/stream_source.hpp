// The packs of a running launch: one stream from all its programs, whose blocks are the packs, without copies. The file
// of a process that died follows its stream. Ends when every program has closed its end. Every function calls MPI.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "analyzer/sources/pack_source.hpp"
#include "analyzer/sources/unsent_packs.hpp"
#include "knowledge_sources/reduction/level.hpp"
#include "vmpi/vmpi.h"

namespace ardoise::analyzer {

// Programs of all partitions except this process's own.
[[nodiscard]] std::vector<knowledge_sources::Program> programs_of_launch();

class StreamSource final : public PackSource {
 public:
  struct Options {
    std::size_t block_bytes = 0;   // equal to the programs' recorders
    std::size_t memory_bytes = 0;  // limit of the stream's blocks
    std::string output;            // folder with files of dead processes
  };
  // Opens and closes the stream. Collective over all programs and analyzers. A stream that could not be opened has no
  // packs, and a complaint.
  StreamSource(const std::vector<knowledge_sources::Program>& programs, const Options& options);
  ~StreamSource() override;
  StreamSource(const StreamSource&) = delete;
  StreamSource& operator=(const StreamSource&) = delete;

  [[nodiscard]] Next next(SourcedPack& pack) override;
  [[nodiscard]] std::vector<std::string> complaints() const override;
  // Takes no packs for this time: they stay with the programs.
  void pause_for(std::chrono::steady_clock::duration time) { paused_until_ = std::chrono::steady_clock::now() + time; }
  [[nodiscard]] bool is_paused() const { return std::chrono::steady_clock::now() < paused_until_; }
  [[nodiscard]] const NextPacks& arrived() const { return unsent_.arrived(); }
  // Processes that have sent packs, and whether each has ended.
  [[nodiscard]] std::map<ProcessKey, bool> processes() const;
  // Processes of this machine that have ended without finishing their measurement.
  [[nodiscard]] std::vector<std::string> gone_peers() const;  // "rank 3 of solver"

 private:
  void note_lost(int universe_rank);
  [[nodiscard]] Next next_of_stream(SourcedPack& pack);
  [[nodiscard]] bool looks_for_unsent_packs();

  VMPI_Map map_{};
  VMPI_Stream stream_{};
  bool is_open_ = false;
  std::vector<std::string> complaints_;
  UnsentPacks unsent_;
  std::chrono::steady_clock::time_point paused_until_{}, last_loss_{};
  std::map<const VMPI_Program_desc*, std::vector<int>>
      lost_;  // ranks whose stream ended without being closed and that left no file, by program
};

}  // namespace ardoise::analyzer
