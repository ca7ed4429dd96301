// Feeds bytes as the payload of a block of a file of snapshots (knowledge_sources/snapshot_files): it is refused, or
// merged with itself and written again.
#include <zstd.h>

#include <cstring>
#include <vector>

#include "knowledge_sources/snapshot_files/snapshot_table.hpp"

using namespace ardoise::knowledge_sources;

// The compression hides the payload from the fuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> frame(ZSTD_compressBound(size));
  const std::size_t bytes = ZSTD_compress(frame.data(), frame.size(), data, size, 1);
  try {
    const SnapshotHead head{1, static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(size)};
    const SnapshotBlock block = decode(head, std::span(frame).first(bytes));
    SnapshotTable table;
    table.add(block);
    table.add(block);
    (void)table.finish();
    std::size_t records = 0;
    for_each_block_of(
        table, [](const auto&, const auto&) { return true; },
        [&](const SnapshotBlock& again) {
          const auto encoded = encode(again);
          SnapshotHead head_of{};
          if (!read_head(encoded, head_of)) __builtin_trap();
          records += decode(head_of, std::span(encoded).subspan(kSnapshotHead)).records.size();
        });
    if (records > block.records.size()) __builtin_trap();
  } catch (const BadSnapshotBlock&) {
  }
  return 0;
}
