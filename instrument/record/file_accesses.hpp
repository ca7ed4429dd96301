// Access patterns of files: sizes of requests, and the position of each against the previous one, counted like Darshan
// (POSIX module: CONSEC, SEQ, STRIDE, SIZE_READ_*, SIZE_WRITE_*) for each file of this process. Positions of
// descriptors are computed from the observed calls: they are estimates if a descriptor is shared with a child or moved
// by several threads at once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "instrument/buffer/definition_queue.hpp"

namespace ardoise::instrument {

// All functions but define() are async-signal-safe; any thread may call any of them at any time.
class FileAccesses {
 public:
  static constexpr std::size_t kFiles = 32768;  // lowest numbers of Files
  static constexpr int kDescriptors = 65536;
  static constexpr std::int64_t kHere = -1;  // at the descriptor's position

  FileAccesses();
  ~FileAccesses();
  FileAccesses(const FileAccesses&) = delete;
  FileAccesses& operator=(const FileAccesses&) = delete;

  // Sets the position of the descriptor's next access.
  void move_to(int descriptor, std::int64_t position) noexcept;
  // `bytes` were read or written at `position`.
  void add(std::uint32_t file, int descriptor, std::int64_t position, std::uint64_t bytes, bool write) noexcept;

  // Defines files with several accesses. Requires that no thread adds any more.
  void define(DefinitionQueue& definitions);

 private:
  using Counter = std::atomic<std::uint64_t>;  // relaxed: independent of each other
  struct Access {
    Counter end, gap;  // of the last access; gap: distance from the previous end
    Counter calls, consecutive, forward, strided, backward;
    std::array<std::array<Counter, 10>, 2> sizes;  // of reads, of writes
  };
  struct Table {  // one mapping: only used pages are allocated
    Counter positions[kDescriptors];
    Access accesses[kFiles];
  };
  Table* table_;
};

}  // namespace ardoise::instrument
