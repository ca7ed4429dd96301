// A record of races: the outcomes of all MPI calls of one process that the program itself does not determine
// (docs/guide/races.md). There is one file per process, written by races/race_recorder.hpp, read by
// races/race_forcer.hpp and by the launcher.
//
//   file      RaceFileHeader, texts, then blocks in any order of streams, each stream's in its own order
//   block     RaceBlock, `packed` bytes of zstd (or, kRaceEnd, a RaceEnd as it is)
//   stream    the concatenation of its blocks: tokens (race_tokens.hpp). Stream 0 holds the outcomes of non-blocking
//             receives; stream n is that of the n-th thread that has called MPI.
//   beside    NAME.open while the process lives, and after it died: a RaceSlot for each stream, with the data not yet
//             in a block. Streams are written into a mapping of that file, so the data survives the process.
//
// All numbers have the byte order of the machine, which the header identifies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ardoise::instrument {

inline constexpr std::uint32_t kRaceVersion = 1;
inline constexpr std::uint64_t kRaceMagic =
    0x3145434152445241u;                                      // "ARDRACE1", read on a machine of the same byte order
inline constexpr std::uint32_t kRaceBlockMark = 0x4B4C4252u;  // "RBLK"
inline constexpr std::uint32_t kRaceSlotMark = 0x544C5352u;   // "RSLT"
inline constexpr std::uint32_t kRaceEnd = 0xFFFFFFFFu;        // as a stream: the process reached MPI_Finalize

struct RaceFileHeader {
  std::uint64_t magic = kRaceMagic;
  std::uint32_t version = kRaceVersion;
  // Size of the texts that follow: program, build id, MPI library, each with a terminating zero byte.
  std::uint32_t text_bytes = 0;
  std::uint32_t ranks = 0;       // of the program's MPI_COMM_WORLD
  std::uint32_t rank = 0;
  std::uint32_t partition = 0;
  std::uint32_t thread_level = 0;
};
static_assert(sizeof(RaceFileHeader) == 32);

struct RaceBlock {
  std::uint32_t mark = kRaceBlockMark;
  std::uint32_t stream = 0;
  std::uint32_t sequence = 0;  // of this stream, from 0
  std::uint32_t packed = 0;    // bytes that follow
  std::uint32_t bytes = 0;     // unpacked
  std::uint32_t unused = 0;
};
static_assert(sizeof(RaceBlock) == 24);
inline constexpr std::uint32_t kMaxRaceBlock = 1u << 20;  // unpacked bytes

// Events that cannot be forced, as flags (RaceEnd::seen).
inline constexpr std::uint32_t kSeenAccumulate = 1, kSeenWindowTest = 2, kSeenPartArrived = 4, kSeenFreedReceive = 8;

// Why a record ends before its program does (RaceEnd::why).
enum class RaceEndReason : std::uint32_t { kFinalized = 0, kDiskFailed = 1 };

struct RaceEnd {
  std::uint64_t decisions = 0;  // of all threads
  std::uint32_t streams = 0;    // of threads
  std::uint32_t seen = 0;
  RaceEndReason why = RaceEndReason::kFinalized;
  std::uint32_t error = 0;  // errno of kDiskFailed
};
static_assert(sizeof(RaceEnd) == 24);

inline constexpr std::size_t kRaceSlotBytes = std::size_t{64} << 10;
struct RaceSlot {
  std::uint32_t mark;  // kRaceSlotMark while a stream uses the slot
  std::uint32_t stream;
  std::uint32_t sequence;  // of the block that is being filled. Smaller than the next one of the file: it is there
  std::uint32_t unused;
  // Number of whole bytes and, in the upper bits, the count of repeats of the last decision. Both are one word, so a
  // process that is killed leaves either all or nothing of a decision.
  std::atomic<std::uint64_t> state;
  std::uint64_t reserved;

  static constexpr std::uint64_t state_of(std::uint32_t bytes, std::uint32_t repeats) {
    return static_cast<std::uint64_t>(repeats) << 32 | bytes;
  }
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  static constexpr std::uint32_t kCapacity() { return static_cast<std::uint32_t>(kRaceSlotBytes - 32); }
};
static_assert(sizeof(RaceSlot) == 32 && std::atomic<std::uint64_t>::is_always_lock_free);

[[nodiscard]] inline std::string race_file_name(std::uint32_t partition, std::uint32_t rank) {
  return std::to_string(partition) + "-" + std::to_string(rank) + ".races";
}
inline constexpr const char* kRaceFileEnd = ".races";
inline constexpr const char* kRaceOpenEnd = ".open";  // appended to the file's name
// Written by the launcher: names of call sites (races/race_sites.hpp).
inline constexpr const char* kRaceSites = "sites.txt";

// File in the output folder that lists where processes diverged from the record. A line has rank, function, module,
// offset, separated by tabs. The launcher reports the divergences with file and line.
inline constexpr const char* kRaceDivergences = ".divergences";

// File beside it that lists the processes of a forced run that reached MPI_Finalize, in any order. The launcher removes
// it.
inline constexpr const char* kRaceEnded = ".divergences.ended";
struct RaceEnded {
  std::int32_t partition, rank;
};

}  // namespace ardoise::instrument
