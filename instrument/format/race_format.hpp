// A record of races: what every MPI call of one process came to whose outcome the program does not fix
// (docs/guide/races.md). One file a process, written by races/race_recorder.hpp, read by races/race_forcer.hpp and by
// the launcher.
//
//   file      RaceFileHeader, texts, then blocks in any order of streams, each stream's in its own order
//   block     RaceBlock, `packed` bytes of zstd (or, kRaceEnd, a RaceEnd as it is)
//   stream    the concatenation of its blocks: tokens (race_tokens.hpp). Stream 0 tells what non-blocking receives came
//             to; stream n is that of the n-th thread that has called MPI.
//   beside    NAME.open while the process lives, or when it died: a RaceSlot for each stream, with what is not yet in a
//             block. A mapping of that file is the memory that streams are written into, so it survives the process.
//
// Everything is in the byte order of the machine, which the header tells.
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
inline constexpr std::uint32_t kRaceEnd = 0xFFFFFFFFu;        // as a stream: the process has come to MPI_Finalize

struct RaceFileHeader {
  std::uint64_t magic = kRaceMagic;
  std::uint32_t version = kRaceVersion;
  std::uint32_t text_bytes = 0;  // of the texts behind: program, build id, MPI library, each with a zero byte behind it
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

// What was seen that cannot be forced (RaceEnd::seen).
inline constexpr std::uint32_t kSeenAccumulate = 1, kSeenWindowTest = 2, kSeenPartArrived = 4, kSeenFreedReceive = 8;

// Why a record ends before its program (RaceEnd::why).
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
  std::uint32_t mark;  // kRaceSlotMark while a stream has it
  std::uint32_t stream;
  std::uint32_t sequence;  // of the block that is being filled. Smaller than the next one of the file: it is there
  std::uint32_t unused;
  // Bytes that are whole, and above them how often the last decision was repeated since. One word, so that a process
  // that is killed leaves either all or nothing of a decision.
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
inline constexpr const char* kRaceOpenEnd = ".open";    // behind the file's name
inline constexpr const char* kRaceSites = "sites.txt";  // of the launcher: names of call sites (races/race_sites.hpp)

// In the output folder: where processes have diverged from the record, a line each: rank, function, module, offset,
// between tabs. The launcher says what the process could not: file and line.
inline constexpr const char* kRaceDivergences = ".divergences";

// Beside it: which processes of a forced run have come to MPI_Finalize, in any order. The launcher removes it.
inline constexpr const char* kRaceEnded = ".divergences.ended";
struct RaceEnded {
  std::int32_t partition, rank;
};

}  // namespace ardoise::instrument
