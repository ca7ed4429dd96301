#include "instrument/machine/memory_trace.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace ardoise::instrument {
namespace {

// Uses direct system calls, since the library's open() and read() are hooked.
std::string content_of(const std::string& path) {
  std::string text(8192, '\0');
  const long descriptor = ::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "";
  const long got = ::syscall(SYS_read, descriptor, text.data(), text.size());
  ::syscall(SYS_close, descriptor);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// The number after `name`, otherwise 0.
std::uint64_t number_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The lowest limit of this group and its ancestors: "0::/user.slice/job" of /proc/thread-self/cgroup. Version 1 has the
// same files under another name.
std::uint64_t group_limit() {
  std::uint64_t least = 0;
  const auto consider = [&](const std::string& file) {
    const std::uint64_t limit = number_after(content_of(file), "");
    if (limit != 0 && (least == 0 || limit < least)) least = limit;
  };
  const std::string groups = content_of("/proc/thread-self/cgroup");
  std::string path;
  if (const std::size_t unified = groups.find("0::"); unified != std::string::npos)
    path = groups.substr(unified + 3, groups.find('\n', unified) - unified - 3);
  for (;; path.resize(path.rfind('/'))) {
    while (path.ends_with('/')) path.pop_back();
    consider("/sys/fs/cgroup" + path + "/memory.max");
    if (path.empty()) break;
  }
  consider("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  return least;
}

}  // namespace

void MemoryTrace::start(std::uint64_t begin, double ticks_per_second, std::uint64_t interval_ticks) noexcept {
  begin_ = begin;
  interval_ = std::max<std::uint64_t>(interval_ticks, 1);
  milliseconds_per_tick_ = 1e3 / ticks_per_second;
  add(begin);
  next_.store(begin + interval_, std::memory_order_relaxed);
}

void MemoryTrace::take(std::uint64_t tick) noexcept {
  if (busy_.test_and_set(std::memory_order_acquire)) return;
  if (tick < next_.load(std::memory_order_relaxed)) {
    busy_.clear(std::memory_order_release);
    return;
  }
  if (count_ == kPoints) {
    for (std::uint32_t i = 0; i < kPoints / 2; ++i) points_[i] = points_[2 * i];
    count_ = kPoints / 2;
    interval_ *= 2;
  }
  add(tick);
  next_.store(tick + interval_, std::memory_order_relaxed);
  busy_.clear(std::memory_order_release);
}

void MemoryTrace::add(std::uint64_t tick) noexcept {
  rusage usage{};
  if (::syscall(SYS_getrusage, RUSAGE_SELF, &usage) != 0) return;
  const double since = static_cast<double>(tick - std::min(tick, begin_)) * milliseconds_per_tick_;
  points_[count_++] = {static_cast<std::uint32_t>(std::min(since, 4e9)),
                       static_cast<std::uint32_t>(std::min<long>(usage.ru_maxrss, UINT32_MAX))};
}

std::span<const MemoryPoint> MemoryTrace::finish(std::uint64_t tick) noexcept {
  next_.store(~std::uint64_t{0}, std::memory_order_relaxed);
  // A handler that was interrupted for good never releases it: the last point is then missing.
  if (begin_ != 0 && !busy_.test_and_set(std::memory_order_acquire) && count_ < kPoints) add(tick);
  return std::span(points_).first(count_);
}

HostMemory read_host_memory() {
  const std::string text = content_of("/proc/meminfo");
  HostMemory memory;
  memory.total = 1024 * number_after(text, "MemTotal:");
  memory.available = 1024 * number_after(text, "MemAvailable:");
  const std::uint64_t limit = group_limit();
  memory.limit = limit < memory.total ? limit : 0;
  return memory;
}

}  // namespace ardoise::instrument
