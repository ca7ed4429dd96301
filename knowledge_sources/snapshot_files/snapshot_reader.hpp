// Reads the blocks of a file of snapshots one after the other, while it is written or after that, from any place on:
// what is no block is passed over to the next one.
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
  std::uint64_t unfinished_bytes = 0;  // of a block at the end that is not there yet, or was cut off
  bool is_of_older_version = false;    // begins with a block that this version does not read
  std::string damage;                  // of the first damaged block, what is wrong with it
};

// use(block, its bytes with the head). Throws std::system_error where the file cannot be read.
ReadSnapshots for_each_block(const std::string& path,
                             const std::function<void(SnapshotBlock&&, std::span<const std::byte>)>& use);

}  // namespace ardoise::knowledge_sources
