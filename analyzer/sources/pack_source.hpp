// Interface to an analyzer's packs: from the stream of a running launch (stream_source.hpp) or from captured files
// (capture_source.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "blackboard/data_entry.hpp"

namespace ardoise::analyzer {

// The bytes of one pack, aligned to 8; release(context, bytes) returns them, on any thread.
struct SourcedPack {
  std::span<std::byte> bytes;
  blackboard::ReleaseFunction release = nullptr;
  void* context = nullptr;
};

// Used by one thread, except for the release of packs. All packs must be released before the source is destroyed.
class PackSource {
 public:
  virtual ~PackSource() = default;

  // arriving: none yet, but polling again soon is worthwhile.
  enum class Next { nothing, arriving, pack, end };
  // Never blocks. Sets `pack` for Next::pack.
  [[nodiscard]] virtual Next next(SourcedPack& pack) = 0;
  // A sentence for each error or loss.
  [[nodiscard]] virtual std::vector<std::string> complaints() const = 0;
};

}  // namespace ardoise::analyzer
