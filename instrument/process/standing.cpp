// See standing.hpp.
#include "instrument/process/standing.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <string_view>

#include "instrument/format/definition_writer.hpp"
#include "instrument/format/stands.hpp"
#include "instrument/machine/clock.hpp"
#include "instrument/machine/kernel_call.hpp"
#include "instrument/process/thread_stand.hpp"
#include "vmpi/wrappers/observer.hpp"

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
extern "C" int _dl_find_object(void*, struct dl_find_object*) noexcept __attribute__((weak));
#endif

namespace ardoise::instrument {
namespace {

constexpr double kRefreshSeconds = 5;
constexpr std::size_t kThreadsShown = 8, kMostFrames = 48;

// The loaded object of an address, by the loader's lock-free table (glibc 2.35). Empty: not known.
struct LoadedObject {
  std::uint64_t begin = 0, size = 0;
  const char* path = nullptr;  // "": the program itself
};
LoadedObject object_of([[maybe_unused]] std::uint64_t address) noexcept {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
  dl_find_object found{};
  if (_dl_find_object != nullptr && _dl_find_object(reinterpret_cast<void*>(address), &found) == 0) {
    const auto begin = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
    return {begin, reinterpret_cast<std::uint64_t>(found.dlfo_map_end) - begin, found.dlfo_link_map->l_name};
  }
#endif
  return {};
}

// Of /proc/<pid>/stat: 'R', 'S', 'T', 't' …, and the CPU time of all threads in the kernel's ticks.
struct ProcessState {
  char state = 0;
  std::uint64_t cpu_ticks = 0;
};
ProcessState state_of(const char* stat_path) noexcept {
  std::array<char, 1024> text;
  const long file = call_kernel(SYS_openat, AT_FDCWD, argument(stat_path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const long got = call_kernel(SYS_read, file, argument(text.data()), static_cast<long>(text.size()));
  call_kernel(SYS_close, file);
  std::string_view line(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return {};
  line.remove_prefix(name_end + 2);
  ProcessState result{line[0], 0};
  constexpr int kUserTime = 10, kKernelTime = 11;  // fields behind the state
  std::uint64_t number = 0;
  int field = -1;
  for (const char c : line) {
    if (c == ' ') {
      if (field == kUserTime || field == kKernelTime) result.cpu_ticks += number;
      number = 0;
      ++field;
    } else if (c >= '0' && c <= '9') {
      number = 10 * number + static_cast<std::uint64_t>(c - '0');
    }
    if (field > kKernelTime) break;
  }
  return result;
}

std::string path_of_program() {
  std::array<char, 4096> path{};
  const long length = call_kernel(SYS_readlinkat, AT_FDCWD, argument("/proc/self/exe"), argument(path.data()),
                                  static_cast<long>(path.size() - 1));
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

Standing::Standing(Session& of, const PackIdentity& identity, const std::string& folder, double seconds)
    : session_(of),
      identity_(identity),
      path_(fmt::format("{}/{}", folder, stand_name(identity.partition, identity.rank))),
      beside_(path_ + ".part"),
      program_(path_of_program()),
      stat_path_(fmt::format("/proc/{}/stat", ::getpid())),
      start_tick_(now()),
      ticks_(static_cast<std::uint64_t>(seconds * identity.ticks_per_second)) {}

std::uint64_t Standing::last_progress() const noexcept {
  std::uint64_t last = std::max(start_tick_, finalizes_since.load(std::memory_order_relaxed));
  session_.recorder.threads.for_each_owned([&](const ThreadRecorder& thread) {
    last = std::max(last, thread.last_mpi_end());
    const vmpi::Call* const call = ThreadStand::open_call(thread, UINT64_MAX);
    if (call != nullptr) last = std::max(last, call->begin);
  });
  return last;
}

void Standing::leave() noexcept {
  if (written_ == 0) return;
  call_kernel(SYS_unlink, argument(path_.c_str()));
  written_ = 0;
}

void Standing::look() noexcept {
  if (vmpi::is_finalized.load(std::memory_order_relaxed)) return leave();
  const std::uint64_t tick = now(), since = last_progress();
  if (tick < since + ticks_) {
    leave();
    // So that the first file knows what the process did lately.
    if (tick < since + ticks_ / 4) {
      time_before_ = 0;
    } else if (time_before_ == 0) {
      (void)take_cpu_time(tick, state_of(stat_path_.c_str()).cpu_ticks);
    }
    return;
  }
  const auto refresh = static_cast<std::uint64_t>(kRefreshSeconds * identity_.ticks_per_second);
  if (written_ == 0 || written_since_ != since || tick > written_ + refresh) write(tick, since);
}

Standing::CpuTime Standing::take_cpu_time(std::uint64_t tick, std::uint64_t cpu_ticks) noexcept {
  constexpr std::uint64_t kTickNanoseconds = 10'000'000;  // of user space, always
  const std::uint64_t cpu = cpu_ticks * kTickNanoseconds,
                      time = static_cast<std::uint64_t>(static_cast<double>(tick) / identity_.ticks_per_second * 1e9);
  CpuTime lately;
  if (time_before_ != 0) lately = {cpu - cpu_before_, time - time_before_};
  cpu_before_ = cpu;
  time_before_ = time;
  return lately;
}

void Standing::write(std::uint64_t tick, std::uint64_t since) noexcept {
  DefinitionWriter out{std::span<std::byte>(room_).subspan(sizeof(PackHeader))};
  const std::uint64_t finalizes = finalizes_since.load(std::memory_order_relaxed);
  const ProcessState state = state_of(stat_path_.c_str());
  const CpuTime lately = take_cpu_time(tick, state.cpu_ticks);
  const bool is_stopped = state.state == 'T' || state.state == 't';
  StandDefinition stand{
      tick, since, lately.cpu_ns, lately.wall_ns, (finalizes != 0 ? kInFinalize : 0u) | (is_stopped ? kStopped : 0u),
      0};
  bool fits = out.add(stand);
  ThreadStand thread_stand(session_, unwinder_, tick);
  std::size_t threads = 0;
  std::array<std::uint32_t, kThreadsShown * kMostFrames> defined{};
  std::size_t modules = 0;
  session_.recorder.threads.for_each_owned([&](const ThreadRecorder& thread) {
    if (++threads > kThreadsShown || finalizes != 0) return;
    thread_stand.look_at(thread);
    const auto calls = thread_stand.calls();
    for (const RecentCall& call : calls) {
      if ((call.flags & (kOpenCall | kPendingPart)) == 0 || (call.flags & kPosixCallFlag) != 0) continue;
      const std::uint32_t comm = call.word >> (kShapeBits + kFunctionBits);
      if (const Communicators::Known* const known = session_.mpi.known_communicator(comm))
        fits = fits && out.add(known->definition, std::span<const RankRange>(known->ranges), known->name);
    }
    if (!calls.empty())
      fits = fits &&
             out.add(RecentCallsDefinition{thread.number(), static_cast<std::uint32_t>(calls.size()), tick}, calls);
    std::array<StackFrame, kMostFrames> frames;
    std::uint32_t count = 0;
    for (const std::uint64_t address : thread_stand.path().first(std::min(thread_stand.path().size(), kMostFrames))) {
      const CallSites::Place place = session_.recorder.call_sites.known_place_of(address);
      frames[count++] = {place.module, 0, place.offset};
      const auto end = defined.begin() + static_cast<std::ptrdiff_t>(modules);
      if (place.module == CallSites::kNoModule || std::find(defined.begin(), end, place.module) != end) continue;
      const LoadedObject object = object_of(address);
      if (object.path == nullptr) continue;
      defined[modules++] = place.module;
      const std::string_view path = *object.path != '\0' ? std::string_view(object.path) : std::string_view(program_);
      fits = fits && out.add(ModuleDefinition{place.module, 0, address - place.offset, object.size}, path, "");
    }
    if (count != 0)
      fits = fits && out.add(StackDefinition{thread.number(), StackOf::kOpenCall, count, 0},
                             std::span<const StackFrame>(frames).first(count));
  });
  PackHeader header{};
  header.magic = kPackMagic;
  header.version = kPackVersion;
  header.header_bytes = sizeof header;
  header.pack_class = static_cast<std::uint16_t>(PackClass::kDefinitions);
  header.table_hash = identity_.table_hash;
  header.partition = identity_.partition;
  header.rank = identity_.rank;
  header.weight = 1;
  header.origin_tick = identity_.origin_tick;
  header.ticks_per_second = identity_.ticks_per_second;
  header.payload_bytes = static_cast<std::uint32_t>(out.bytes());
  header.record_count = out.count();
  std::copy_n(reinterpret_cast<const std::byte*>(&header), sizeof header, room_.begin());
  const long file =
      call_kernel(SYS_openat, AT_FDCWD, argument(beside_.c_str()), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  const auto bytes = static_cast<long>(sizeof header + out.bytes());
  const bool is_written = call_kernel(SYS_write, file, argument(room_.data()), bytes) == bytes;
  call_kernel(SYS_close, file);
  if (!is_written || call_kernel(SYS_rename, argument(beside_.c_str()), argument(path_.c_str())) != 0) return;
  written_ = tick;
  written_since_ = since;
}

}  // namespace ardoise::instrument
