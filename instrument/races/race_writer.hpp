// Writes one process's record of races (format/race_format.hpp). Nothing is dropped: a thread that fills a slot
// compresses it and writes it to the disk itself, however long that takes. A disk failure ends the record, with one
// sentence.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "instrument/format/race_format.hpp"
#include "instrument/format/race_tokens.hpp"

namespace ardoise::instrument {

class RaceWriter {
 public:
  using Say = void (*)(std::string_view);

  explicit RaceWriter(Say say) : say_(say) {}
  ~RaceWriter();
  RaceWriter(const RaceWriter&) = delete;
  RaceWriter& operator=(const RaceWriter&) = delete;

  // Creates the file, which must not exist, and the .open file beside it. "": success; otherwise a sentence.
  [[nodiscard]] std::string open(const std::string& path, const RaceFileHeader& header, std::string_view program,
                                 std::string_view build_id, std::string_view mpi_library);
  // Writes the end block and removes the file beside. Streams must not be written afterwards.
  void finish(RaceEnd end);
  // The record ended because the disk failed.
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }

  // Memory for a stream that begins with block `sequence`; nullptr: failed.
  [[nodiscard]] RaceSlot* take_slot(std::uint32_t stream, std::uint32_t sequence);
  void give_slot(RaceSlot* slot);
  void write_block(std::uint32_t stream, std::uint32_t sequence, std::span<const std::byte> bytes);

 private:
  void write_end(const RaceEnd& end) REQUIRES(lock_);
  void fail(int error) REQUIRES(lock_);
  [[nodiscard]] int write_all(std::span<const std::byte> bytes) REQUIRES(lock_);

  const Say say_;
  std::string path_;
  std::atomic<bool> failed_ = false;
  Mutex lock_;
  int file_ GUARDED_BY(lock_) = -1;
  int beside_ GUARDED_BY(lock_) = -1;
  std::uint64_t end_ GUARDED_BY(lock_) = 0;  // of the file
  std::uint64_t waited_ns_ GUARDED_BY(lock_) = 0;
  bool has_said_ GUARDED_BY(lock_) = false;
  std::size_t slots_ GUARDED_BY(lock_) = 0;
  std::vector<RaceSlot*> free_ GUARDED_BY(lock_);
  std::vector<std::byte> packed_ GUARDED_BY(lock_);
  void* packer_ GUARDED_BY(lock_) = nullptr;  // ZSTD_CCtx
};

// One stream of the record. One thread at a time.
class RaceOutput {
 public:
  RaceOutput(RaceWriter& writer, std::uint32_t stream) : writer_(writer), stream_(stream) {}
  RaceOutput(const RaceOutput&) = delete;
  RaceOutput& operator=(const RaceOutput&) = delete;

  void add(std::uint32_t key, std::span<const std::int32_t> values, const RaceKey* new_key = nullptr);
  [[nodiscard]] std::uint32_t keys() const { return encoder_.keys(); }
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }
  // Moves all data into blocks and returns the memory to the writer.
  void flush();

 private:
  void append(std::span<const std::byte> bytes);
  void set_state(std::uint32_t bytes, std::uint32_t repeats);

  RaceWriter& writer_;
  const std::uint32_t stream_;
  std::uint32_t sequence_ = 0, bytes_ = 0, repeats_ = 0;
  RaceSlot* slot_ = nullptr;
  std::uint64_t decisions_ = 0;
  RaceEncoder encoder_;
};

}  // namespace ardoise::instrument
