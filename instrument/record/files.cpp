#include "instrument/record/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>

#include "instrument/machine/kernel_call.hpp"
#include "instrument/machine/mapped_memory.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::string_view kFurtherName = "(further files)";

// FNV-1a, mixed so that its low bits can be a place in a table; never 0.
std::uint64_t hash_of(std::string_view path) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char letter : path) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3u;
  hash = (hash ^ hash >> 32) * 0x9E3779B97F4A7C15u;
  return hash != 0 ? hash : 1;
}

}  // namespace

std::string_view display_path(int descriptor, std::string_view link, std::span<char> room) noexcept {
  constexpr std::array<std::string_view, 3> kStandard{"(standard input)", "(standard output)", "(standard error)"};
  const bool is_file = link.starts_with('/') && !link.starts_with("/dev/");
  if (descriptor <= 2 && !is_file) return kStandard[static_cast<std::size_t>(descriptor)];
  if (link.starts_with('/')) {
    constexpr std::string_view kDeleted = " (deleted)";
    if (link.ends_with(kDeleted)) link.remove_suffix(kDeleted.size());
    return link;
  }
  // "socket:[4711]", "pipe:[12]", "anon_inode:[eventfd]", "anon_inode:inotify"
  const std::size_t colon = link.find(':');
  if (link.substr(0, colon) == "anon_inode" && colon != std::string_view::npos) link.remove_prefix(colon + 1);
  if (link.starts_with('[')) link = link.substr(1, link.find(']') - 1);
  link = link.substr(0, std::min(link.find(':'), room.size() - 2));
  char* end = room.data();
  *end++ = '(';
  end = std::copy(link.begin(), link.end(), end);
  *end++ = ')';
  return {room.data(), end};
}

Files::Files(DefinitionQueue& definitions) : table_(static_cast<Table*>(map_memory(sizeof(Table)))) {
  definitions.add_source(*this);
}

Files::~Files() {
  if (table_ != nullptr) unmap_memory(table_, sizeof(Table));
}

std::uint32_t Files::look_up(int descriptor) noexcept {
  std::array<char, 32> name{"/proc/thread-self/fd/"};
  char* const digits = name.data() + std::string_view(name.data()).size();
  *std::to_chars(digits, name.data() + name.size() - 1, descriptor).ptr = '\0';
  std::uint32_t used = scratches_used_.load(std::memory_order_relaxed), mine = 0;
  do {
    mine = ~used & (used + 1);  // the lowest clear bit
    if (mine == 0) return kUnknown;
    // Acquire and release: each bit is a lock.
  } while (
      !scratches_used_.compare_exchange_weak(used, used | mine, std::memory_order_acquire, std::memory_order_relaxed));
  Scratch& scratch = table_->scratches[std::countr_zero(mine)];
  const int saved = errno;  // the program's; its call has not begun
  const long length = ::syscall(SYS_readlinkat, AT_FDCWD, name.data(), scratch.link, sizeof(scratch.link));
  errno = saved;
  std::uint32_t number = kUnknown;
  if (length > 0) {
    const std::string_view link(scratch.link, static_cast<std::size_t>(length));
    number = of_path(display_path(descriptor, link, scratch.display));
  }
  scratches_used_.fetch_and(~mine, std::memory_order_release);
  if (descriptor < kDescriptors) table_->numbers[descriptor].store(number, std::memory_order_relaxed);
  return number;
}

std::uint32_t Files::opened(int descriptor, const char* path) noexcept {
  if (descriptor < 0 || table_ == nullptr) return kUnknown;
  struct stat file {};
  if (path == nullptr || call_kernel(SYS_fstat, descriptor, argument(&file)) != 0 || !S_ISREG(file.st_mode))
    return look_up(descriptor);
  std::uint64_t hash = hash_of(path);
  for (const std::uint64_t part : {std::uint64_t{file.st_dev}, std::uint64_t{file.st_ino}})
    hash = (hash ^ hash >> 32 ^ part) * 0x9E3779B97F4A7C15u;
  std::atomic<std::uint64_t>& place = table_->opened[(hash >> 32) % kOpened];
  const std::uint64_t known = place.load(std::memory_order_relaxed);
  if ((known & kNumberBits) == kUnknown || ((known ^ hash) & ~kNumberBits) != 0) {
    const std::uint32_t number = look_up(descriptor);
    place.store((hash & ~kNumberBits) | number, std::memory_order_relaxed);
    return number;
  }
  const auto number = static_cast<std::uint32_t>(known & kNumberBits);
  if (descriptor < kDescriptors) table_->numbers[descriptor].store(number, std::memory_order_relaxed);
  return number;
}

std::uint32_t Files::further_files() noexcept {
  has_further_.store(true, std::memory_order_relaxed);
  return kFurtherFiles;
}

std::uint32_t Files::of_path(std::string_view path) noexcept {
  if (table_ == nullptr) return kUnknown;
  path = path.substr(0, kMaxPath);
  const std::uint64_t hash = hash_of(path);
  for (std::uint64_t i = hash;; ++i) {
    const auto place = static_cast<std::uint32_t>(i % kSlots);
    Slot& slot = table_->slots[place];
    std::uint64_t there = slot.hash.load(std::memory_order_relaxed);
    if (there == hash) return place + 1;
    if (there != 0) continue;
    if (count_.load(std::memory_order_relaxed) >= kMaxFiles) return further_files();
    const std::uint32_t begin =
        text_used_.fetch_add(static_cast<std::uint32_t>(path.size()), std::memory_order_relaxed);
    if (begin + path.size() > kTextBytes) {
      text_used_.fetch_sub(static_cast<std::uint32_t>(path.size()), std::memory_order_relaxed);
      return further_files();
    }
    if (!slot.hash.compare_exchange_strong(there, hash, std::memory_order_relaxed)) {
      // Another thread was faster; the copied text stays unused.
      if (there == hash) return place + 1;
      continue;
    }
    count_.fetch_add(1, std::memory_order_relaxed);
    std::copy(path.begin(), path.end(), table_->text + begin);
    slot.begin = begin;
    slot.bytes = static_cast<std::uint32_t>(path.size());
    new_.push(place + 1, slot.link);
    return place + 1;
  }
}

void Files::define_new(DefinitionQueue& definitions) {
  assert_may_wait();
  for (std::uint32_t number = new_.take_all(); number != PushList::kEnd;) {
    const Slot& slot = table_->slots[number - 1];
    (void)definitions.add(FileDefinition{number, 0}, std::string_view(table_->text + slot.begin, slot.bytes));
    number = slot.link.load(std::memory_order_relaxed);
  }
  if (defined_further_ || !has_further_.load(std::memory_order_relaxed)) return;
  defined_further_ = definitions.add(FileDefinition{kFurtherFiles, 0}, kFurtherName);
}

}  // namespace ardoise::instrument
