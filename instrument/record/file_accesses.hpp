// How files are accessed: sizes of requests, and where each lies against the one before, as Darshan counts them (POSIX
// module: CONSEC, SEQ, STRIDE, SIZE_READ_*, SIZE_WRITE_*), by file of this process. Positions of descriptors are kept
// from the calls that are seen: a descriptor that is shared with a child or moved by threads at once makes them
// estimates.
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
  static constexpr std::size_t kFiles = 32768;  // numbers below, of Files
  static constexpr int kDescriptors = 65536;
  static constexpr std::int64_t kHere = -1;  // at the descriptor's position

  FileAccesses();
  ~FileAccesses();
  FileAccesses(const FileAccesses&) = delete;
  FileAccesses& operator=(const FileAccesses&) = delete;

  // The descriptor's next access is there.
  void move_to(int descriptor, std::int64_t position) noexcept;
  // `bytes` were read or written at `position`.
  void add(std::uint32_t file, int descriptor, std::int64_t position, std::uint64_t bytes, bool write) noexcept;

  // Files with a few accesses and more. Nobody adds any more.
  void define(DefinitionQueue& definitions);

 private:
  using Counter = std::atomic<std::uint64_t>;  // relaxed: each stands alone
  struct Access {
    Counter end, gap;  // of the last access; gap: from the end of the one before
    Counter calls, consecutive, forward, strided, backward;
    std::array<std::array<Counter, 10>, 2> sizes;  // of reads, of writes
  };
  struct Table {  // one mapping: only what is used becomes memory
    Counter positions[kDescriptors];
    Access accesses[kFiles];
  };
  Table* table_;
};

}  // namespace ardoise::instrument
