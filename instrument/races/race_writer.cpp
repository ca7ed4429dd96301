#include "instrument/races/race_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ardoise::instrument {
namespace {

constexpr int kPackLevel = 3;
constexpr std::uint64_t kWorthSaying = 1'000'000'000;

std::uint64_t nanoseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Uses system calls, since the functions of the C library are hooked.
int open_new(const std::string& path) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

// Allocates disk space for the slot: a mapping without it would end the program when the disk is full. File systems
// without such an allocation are written to.
int make_room(int file, std::size_t slot) {
  const auto at = static_cast<long>(slot * kRaceSlotBytes);
  if (::syscall(SYS_fallocate, file, 0, at, static_cast<long>(kRaceSlotBytes)) == 0) return 0;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return errno;
  const std::vector<std::byte> zeros(kRaceSlotBytes);
  const long written = ::syscall(SYS_pwrite64, file, zeros.data(), zeros.size(), at);
  if (written == static_cast<long>(zeros.size())) return 0;
  return written < 0 ? errno : ENOSPC;
}

}  // namespace

RaceWriter::~RaceWriter() {
  const MutexLock guard(lock_);
  if (file_ >= 0) ::syscall(SYS_close, file_);
  if (beside_ >= 0) ::syscall(SYS_close, beside_);
  ::ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(packer_));
}

std::string RaceWriter::open(const std::string& path, const RaceFileHeader& header, std::string_view program,
                             std::string_view build_id, std::string_view mpi_library) {
  const MutexLock guard(lock_);
  path_ = path;
  packer_ = ::ZSTD_createCCtx();
  file_ = open_new(path);
  if (file_ >= 0) beside_ = open_new(path + kRaceOpenEnd);
  if (file_ < 0 || beside_ < 0 || packer_ == nullptr) {
    if (errno == EEXIST) return fmt::format("there is a record of races in '{}' already; name another folder.", path);
    return fmt::format("the races cannot be recorded in '{}': {}.", path, std::strerror(errno));
  }
  ::ZSTD_CCtx_setParameter(static_cast<ZSTD_CCtx*>(packer_), ZSTD_c_compressionLevel, kPackLevel);
  ::ZSTD_CCtx_setParameter(static_cast<ZSTD_CCtx*>(packer_), ZSTD_c_checksumFlag, 1);
  std::string texts;
  for (const std::string_view text : {program, build_id, mpi_library}) texts.append(text).push_back('\0');
  RaceFileHeader whole = header;
  whole.text_bytes = static_cast<std::uint32_t>(texts.size());
  int error = write_all(bytes_of(whole));
  if (error == 0) error = write_all(std::as_bytes(std::span(texts)));
  return error == 0 ? "" : fmt::format("the races cannot be recorded in '{}': {}.", path, std::strerror(error));
}

int RaceWriter::write_all(std::span<const std::byte> bytes) {
  const std::uint64_t begin = nanoseconds();
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const long written = ::syscall(SYS_pwrite64, file_, bytes.data(), bytes.size(), static_cast<long>(end_));
    if (written <= 0) {
      if (written == 0 || errno != EINTR) error = written == 0 ? ENOSPC : errno;
      continue;
    }
    end_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  waited_ns_ += nanoseconds() - begin;
  return error;
}

void RaceWriter::write_block(std::uint32_t stream, std::uint32_t sequence, std::span<const std::byte> bytes) {
  const MutexLock guard(lock_);
  if (failed() || file_ < 0 || bytes.empty()) return;
  const int saved = errno;
  packed_.resize(sizeof(RaceBlock) + ::ZSTD_compressBound(bytes.size()));
  const std::size_t packed = ::ZSTD_compress2(static_cast<ZSTD_CCtx*>(packer_), packed_.data() + sizeof(RaceBlock),
                                              packed_.size() - sizeof(RaceBlock), bytes.data(), bytes.size());
  if (::ZSTD_isError(packed) != 0) return fail(ENOMEM);
  RaceBlock block;
  block.stream = stream;
  block.sequence = sequence;
  block.packed = static_cast<std::uint32_t>(packed);
  block.bytes = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(packed_.data(), &block, sizeof block);
  const std::uint64_t begin = end_;
  if (const int error = write_all(std::span(packed_).first(sizeof block + packed)); error != 0) {
    // Removes an incomplete block, so that its place serves for the end block.
    if (::syscall(SYS_ftruncate, file_, static_cast<long>(begin)) == 0) end_ = begin;
    fail(error);
  } else if (waited_ns_ > kWorthSaying && !std::exchange(has_said_, true)) {
    say_(fmt::format("the program has waited {:.1f} s so far for the disk of its record of races, '{}'.",
                     static_cast<double>(waited_ns_) * 1e-9, path_));
  }
  errno = saved;
}

void RaceWriter::fail(int error) {
  if (failed_.exchange(true, std::memory_order_relaxed)) return;
  say_(fmt::format("the record of races in '{}' ends here and is incomplete: {}. The program goes on.", path_,
                   std::strerror(error)));
  RaceEnd end;
  end.why = RaceEndReason::kDiskFailed;
  end.error = static_cast<std::uint32_t>(error);
  write_end(end);
}

void RaceWriter::write_end(const RaceEnd& end) {
  RaceBlock block;
  block.stream = kRaceEnd;
  block.packed = sizeof end;
  std::array<std::byte, sizeof block + sizeof end> bytes{};
  std::memcpy(bytes.data(), &block, sizeof block);
  std::memcpy(bytes.data() + sizeof block, &end, sizeof end);
  if (write_all(bytes) == 0) ::syscall(SYS_unlinkat, AT_FDCWD, (path_ + kRaceOpenEnd).c_str(), 0);
}

void RaceWriter::finish(RaceEnd end) {
  const MutexLock guard(lock_);
  if (!failed() && file_ >= 0) write_end(end);
}

RaceSlot* RaceWriter::take_slot(std::uint32_t stream, std::uint32_t sequence) {
  const MutexLock guard(lock_);
  if (failed() || beside_ < 0) return nullptr;
  RaceSlot* slot = nullptr;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    if (const int error = make_room(beside_, slots_); error != 0) return fail(error), nullptr;
    const long address = ::syscall(SYS_mmap, nullptr, kRaceSlotBytes, PROT_READ | PROT_WRITE, MAP_SHARED, beside_,
                                   static_cast<long>(slots_ * kRaceSlotBytes));
    if (address == -1) return fail(errno), nullptr;
    ++slots_;
    slot = reinterpret_cast<RaceSlot*>(address);
  }
  slot->state.store(0, std::memory_order_relaxed);
  slot->stream = stream;
  slot->sequence = sequence;
  // A reader after the death of the process sees stores in program order; release stops the compiler from reordering
  // them.
  std::atomic_ref(slot->mark).store(kRaceSlotMark, std::memory_order_release);
  return slot;
}

void RaceWriter::give_slot(RaceSlot* slot) {
  std::atomic_ref(slot->mark).store(0, std::memory_order_release);
  const MutexLock guard(lock_);
  free_.push_back(slot);
}

void RaceOutput::set_state(std::uint32_t bytes, std::uint32_t repeats) {
  bytes_ = bytes;
  repeats_ = repeats;
  // Release: see take_slot().
  slot_->state.store(RaceSlot::state_of(bytes, repeats), std::memory_order_release);
}

void RaceOutput::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t fits = std::min<std::size_t>(bytes.size(), RaceSlot::kCapacity() - bytes_);
    std::memcpy(slot_->data() + bytes_, bytes.data(), fits);
    bytes_ += static_cast<std::uint32_t>(fits);
    bytes = bytes.subspan(fits);
    if (bytes_ < RaceSlot::kCapacity()) continue;
    writer_.write_block(stream_, sequence_++, {slot_->data(), bytes_});
    // In this order: until the state is empty, the data belongs to the block that was written.
    set_state(0, 0);
    std::atomic_ref(slot_->sequence).store(sequence_, std::memory_order_release);
  }
}

void RaceOutput::add(std::uint32_t key, std::span<const std::int32_t> values, const RaceKey* new_key) {
  if (slot_ == nullptr && (slot_ = writer_.take_slot(stream_, sequence_)) == nullptr) return;
  ++decisions_;
  const std::span<const std::byte> token = encoder_.add(key, values, repeats_, new_key);
  if (!token.empty()) {
    append(token);
    return set_state(bytes_, 0);
  }
  if (repeats_ == UINT32_MAX) {
    append(encoder_.repeats(repeats_));
    repeats_ = 0;
  }
  set_state(bytes_, repeats_ + 1);
}

void RaceOutput::flush() {
  if (slot_ == nullptr) return;
  append(encoder_.repeats(repeats_));
  if (bytes_ != 0) writer_.write_block(stream_, sequence_++, {slot_->data(), bytes_});
  set_state(0, 0);
  writer_.give_slot(std::exchange(slot_, nullptr));
}

}  // namespace ardoise::instrument
