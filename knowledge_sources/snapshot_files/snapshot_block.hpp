// A block of a snapshot file (docs/guide/snapshots.md): some snapshots of some ranks with all that they refer to, so
// that a file is a sequence of blocks in any order, each readable alone.
//
//   offset  bytes
//   0       8      magic "ARDSNAP2"
//   8       8      number of the run
//   16      4      bytes of the frame
//   20      4      bytes of the payload
//   24      …      frame: the payload, compressed by zstd, with its checksum
//
// Numbers of the head are little endian. snapshot_block.cpp describes the payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "knowledge_sources/snapshot_files/call_sums.hpp"
#include "knowledge_sources/snapshot_files/snapshot_list.hpp"
#include "knowledge_sources/snapshot_files/snapshot_sink.hpp"

namespace ardoise::knowledge_sources {

struct BadSnapshotBlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `records` refer to elements of the other lists by index.
struct SnapshotBlock {
  struct Program {
    std::uint32_t number = 0, ranks = 0, first_rank = 0;  // first_rank: in its MPI_COMM_WORLD
    std::string name;
  };
  struct Series {
    std::uint32_t program = 0;  // in `programs`
    SeriesKind kind{};
    std::uint32_t number = 0;  // with program and kind it identifies the series, whatever the name
    std::string name;          // "": unknown so far
  };
  enum class CallKind : std::uint8_t { kMpi, kPosix, kSampled, kCounted };
  struct Call {
    std::uint32_t program = 0;  // in `programs`
    CallKind kind{};
    std::uint32_t rank = 0;  // kSampled: rank of the place
    std::uint32_t place = 0;
    std::uint32_t thread = 0;  // 0: first thread of its process
    std::string function;      // kSampled: none; kCounted: the event, whose count is in bytes
    std::string stack;         // kSampled: "main;step;relax"; "": unknown so far
    std::string module, symbol, source_file;
    std::uint64_t offset = 0;  // in the module
    std::uint32_t line = 0;
  };
  struct Value {
    std::uint32_t program = 0, number = 0;
    std::string name;
  };
  struct Record {
    std::uint32_t series = 0, rank = 0;
    bool is_rest = false;  // remainder after the last cut
    // belongs to the snapshot of its series and rank that contains `begin`; has no index and number
    bool is_late = false;
    bool lacks_calls = false;  // with is_rest: calls of the rank are missing
    bool has_spread = false;   // with is_rest: calls of the rank were aggregated, and are spread evenly
    std::uint64_t index = 0;
    std::int64_t number = 0;
    std::uint64_t rounds = 1;
    std::int64_t begin = 0, end = 0;  // ns since the program's MPI_Init
    std::uint64_t ns = 0;
    std::vector<CallCell> calls{};    // id: in `calls` of the block
    std::vector<ValueCell> values{};  // id: in `values` of the block
  };
  std::uint64_t run = 0;
  std::vector<Program> programs;
  std::vector<Series> series;
  std::vector<Call> calls;
  std::vector<Value> values;
  std::vector<Record> records;
};

inline constexpr char kSnapshotMagic[9] = "ARDSNAP2";
inline constexpr char kSnapshotMagicBefore[9] = "ARDSNAP1";  // of files without waiting times
inline constexpr std::size_t kSnapshotHead = 24;
inline constexpr std::uint32_t kMostPayload = std::uint32_t{64} << 20, kMostFrame = std::uint32_t{64} << 20;

struct SnapshotHead {
  std::uint64_t run;
  std::uint32_t frame_bytes, payload_bytes;
};
// `bytes`: kSnapshotHead bytes. False: no block begins here.
[[nodiscard]] bool read_head(std::span<const std::byte> bytes_untrusted, SnapshotHead& head);

// Includes the head. Throws std::length_error if it is too large for one block.
[[nodiscard]] std::vector<std::byte> encode(const SnapshotBlock& block);
// Throws BadSnapshotBlock with the reason.
[[nodiscard]] SnapshotBlock decode(const SnapshotHead& head, std::span<const std::byte> frame_untrusted);

}  // namespace ardoise::knowledge_sources
