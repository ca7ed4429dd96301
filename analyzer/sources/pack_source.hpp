// Where an analyzer's packs come from: the stream of a running launch (stream_source.hpp) or captured files
// (capture_source.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "blackboard/data_entry.hpp"

namespace ardoise::analyzer {

// The bytes of one pack, aligned to 8; release(context, bytes) gives them back, on any thread.
struct SourcedPack {
  std::span<std::byte> bytes;
  blackboard::ReleaseFunction release = nullptr;
  void* context = nullptr;
};

// Used by one thread, but for the release of packs. Packs must have been released before the source goes.
class PackSource {
 public:
  virtual ~PackSource() = default;

  // nothing, arriving: not yet; the latter when it is worth asking again soon.
  enum class Next { nothing, arriving, pack, end };
  // Never waits. Sets `pack` when it says so.
  [[nodiscard]] virtual Next next(SourcedPack& pack) = 0;
  // A sentence for each thing that went wrong or was lost.
  [[nodiscard]] virtual std::vector<std::string> complaints() const = 0;
};

}  // namespace ardoise::analyzer
