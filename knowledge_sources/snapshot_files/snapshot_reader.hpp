// Reads the blocks of a snapshot file in sequence, also while it is being written, from any position on: bytes that are
// no block are skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "knowledge_sources/snapshot_files/snapshot_block.hpp"

namespace ardoise::knowledge_sources {

struct ReadSnapshots {
  std::uint64_t blocks = 0;
  std::uint64_t skipped_bytes = 0;     // that are no block, or a damaged one
  std::uint64_t unfinished_bytes = 0;  // of an incomplete block at the end
  bool is_of_older_version = false;    // begins with a block of an unsupported version
  std::string damage;                  // reason for the first damaged block
};

// use(block, its bytes including the head). Throws std::system_error if the file cannot be read.
ReadSnapshots for_each_block(const std::string& path,
                             const std::function<void(SnapshotBlock&&, std::span<const std::byte>)>& use);

}  // namespace ardoise::knowledge_sources
