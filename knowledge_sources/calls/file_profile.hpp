// Accesses of each rank to each file, for posix_profile (POSIX calls) and mpi_profile (MPI-IO). Memory: ranks x files
// they used. File numbers are those of the rank's process until contribute().
#pragma once

#include <cstdint>

#include "knowledge_sources/interface/rank_sums.hpp"
#include "knowledge_sources/interface/resolver.hpp"
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
  // Adds `times` times these sums to members of the same names, except ticks.
  void add_to(auto& into, std::uint64_t times = 1) const {
    into.opens += opens * times;
    into.reads += reads * times;
    into.writes += writes * times;
    into.calls += calls * times;
    into.bytes_read += bytes_read * times;
    into.bytes_written += bytes_written * times;
  }
  void add(const FileSums& more, std::uint64_t times) {
    more.add_to(*this, times);
    ticks += more.ticks * times;
  }
};

class FileProfile : public RankSums<FileSums, 8> {  // by file number + 1
 public:
  using RankSums::RankSums;

  // Adds to application.files by path; for an existing path `ranks` becomes the larger of the two numbers.
  void contribute(const Resolver& resolver, reports::Application& application) const;
};

// Adds how files were accessed by POSIX calls.
void contribute_accesses(const Resolver& resolver, reports::Application& application);

}  // namespace ardoise::knowledge_sources
