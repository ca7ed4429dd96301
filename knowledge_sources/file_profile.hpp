// What each rank did to each file, for posix_profile (POSIX calls) and mpi_profile (MPI-IO). Memory: ranks x files they
// used. File numbers are those of the rank's process until contribute().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/byte_stream.hpp"
#include "knowledge_sources/pack_table.hpp"
#include "knowledge_sources/rank_locks.hpp"
#include "knowledge_sources/resolver.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

struct FileSums {
  std::uint64_t opens = 0, reads = 0, writes = 0, calls = 0, bytes_read = 0, bytes_written = 0, ticks = 0;

  // Calls that read, write or do neither, and their bytes.
  enum class Kind { read, write, other };
  void add(Kind kind, std::uint64_t more_calls, std::uint64_t bytes, std::uint64_t more_ticks) {
    calls += more_calls;
    ticks += more_ticks;
    if (kind == Kind::other) return;
    (kind == Kind::read ? reads : writes) += more_calls;
    (kind == Kind::read ? bytes_read : bytes_written) += bytes;
  }
  // Adds `times` times these to sums with members of the same names, all but ticks.
  void add_to(auto& into, std::uint64_t times = 1) const {
    into.opens += opens * times;
    into.reads += reads * times;
    into.writes += writes * times;
    into.calls += calls * times;
    into.bytes_read += bytes_read * times;
    into.bytes_written += bytes_written * times;
  }
};
using FileScratch = PackTable<FileSums, 8>;  // by file number + 1

class FileProfile {
 public:
  explicit FileProfile(std::uint32_t ranks) : ranks_(ranks) {}

  // Adds a pack's sums, times `weight`, and clears them. Any thread.
  void add(std::uint32_t rank, std::uint64_t weight, FileScratch& scratch);

  // Nothing runs concurrently with these.
  void merge(const FileProfile& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one
  // Adds to application.files by path; where the path is there already, `ranks` becomes the greater of the two numbers.
  void contribute(const Resolver& resolver, reports::Application& application) const;

 private:
  struct Entry {
    std::uint64_t file;
    FileSums sums;
  };
  static void add(std::vector<Entry>& files, const Entry& entry, std::uint64_t times = 1);

  std::vector<std::vector<Entry>> ranks_;  // each sorted by file
  RankLocks locks_;
};

}  // namespace ardoise::knowledge_sources
