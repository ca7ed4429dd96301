#include "instrument/process/watch/process_state_writer.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <string_view>

#include "instrument/format/definition_writer.hpp"
#include "instrument/format/process_states.hpp"
#include "instrument/machine/clock.hpp"
#include "instrument/machine/kernel_call.hpp"
#include "instrument/machine/modules.hpp"
#include "instrument/machine/own_folder.hpp"
#include "instrument/machine/process_stat.hpp"
#include "instrument/process/watch/thread_state.hpp"
#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {
namespace {

constexpr double kRefreshSeconds = 5;
constexpr std::size_t kThreadsShown = 8, kMostFrames = 48, kCommsShown = 128;

std::string path_of_program() {
  std::array<char, 4096> path{};
  const long length = call_kernel(SYS_readlinkat, AT_FDCWD, argument("/proc/thread-self/exe"), argument(path.data()),
                                  static_cast<long>(path.size() - 1));
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

ProcessStateWriter::ProcessStateWriter(Session& of, const PackIdentity& identity, const std::string& folder,
                                       double seconds, std::size_t helpers)
    : session_(of),
      identity_(identity),
      folder_(folder),
      name_(process_state_name(identity.partition, identity.rank)),
      beside_(name_ + ".part"),
      program_(path_of_program()),
      stat_path_(fmt::format("/proc/{}/stat", ::getpid())),
      start_tick_(now()),
      ticks_(seconds > 0 ? static_cast<std::uint64_t>(seconds * identity.ticks_per_second) : UINT64_MAX / 2),
      helpers_(helpers) {}

std::uint64_t ProcessStateWriter::last_progress() const noexcept {
  std::uint64_t last = std::max(start_tick_, finalizes_since.load(std::memory_order_relaxed));
  session_.recorder.threads.for_each_owned([&](const ThreadRecorder& thread) {
    last = std::max(last, thread.last_mpi_end());
    const vmpi::Call* const call = ThreadState::open_call(thread, UINT64_MAX);
    if (call != nullptr) last = std::max(last, call->begin);
  });
  return last;
}

bool ProcessStateWriter::is_requested() const noexcept {
  struct stat found {};
  return OwnFolder(folder_.c_str()).stat(kStateRequestName, found) == 0;
}

void ProcessStateWriter::remove_file() noexcept {
  if (written_ == 0) return;
  OwnFolder(folder_.c_str()).remove(name_.c_str());
  written_ = 0;
}

void ProcessStateWriter::check() noexcept {
  if (vmpi::is_finalized.load(std::memory_order_relaxed)) return remove_file();
  const std::uint64_t tick = now(), since = last_progress();
  const bool asked = is_requested();
  if (tick < since + ticks_) {
    if (!asked) remove_file();
    // So that the first file covers the recent activity of the process.
    if (tick < since + ticks_ / 4) {
      time_before_ = 0;
    } else if (time_before_ == 0) {
      (void)take_cpu_time(tick, process_stat(stat_path_.c_str()).cpu_ticks);
    }
    if (!asked) return;
  }
  const auto refresh = std::min(static_cast<std::uint64_t>(kRefreshSeconds * identity_.ticks_per_second), ticks_);
  if (asked || written_ == 0 || written_since_ != since || tick > written_ + refresh) write(tick, since);
}

ProcessStateWriter::CpuTime ProcessStateWriter::take_cpu_time(std::uint64_t tick, std::uint64_t cpu_ticks) noexcept {
  constexpr std::uint64_t kTickNanoseconds = 10'000'000;  // of user space, always this long
  const std::uint64_t cpu = cpu_ticks * kTickNanoseconds,
                      time = static_cast<std::uint64_t>(static_cast<double>(tick) / identity_.ticks_per_second * 1e9);
  CpuTime lately;
  if (time_before_ != 0) lately = {cpu - cpu_before_, time - time_before_};
  cpu_before_ = cpu;
  time_before_ = time;
  return lately;
}

// False: collectives of some communicators are missing. described: communicators with a definition in the file.
bool ProcessStateWriter::add_collectives(DefinitionWriter& out, std::span<const std::uint32_t> described) noexcept {
  const Communicators& all = session_.mpi.communicators();
  std::size_t added = 0;
  const auto add = [&](std::uint32_t comm) {
    const Communicators::Known* const known = all.known(comm);
    if (known == nullptr || (all.begun(comm) == 0 && comm != kWorldComm)) return true;
    if (++added > kCommsShown) return false;
    if (std::find(described.begin(), described.end(), comm) == described.end()) {
      CommunicatorDefinition definition = known->definition;  // identifies it, without its members
      definition.range_count = 0;
      if (!out.add(definition, {}, {})) return false;
    }
    return out.add(all.collectives(comm));
  };
  bool is_whole = !all.is_unsure();
  for (const std::uint32_t comm : described) is_whole = add(comm) && is_whole;
  // Then the world, and the newest first: old ones may have been freed.
  for (std::uint32_t i = 0; i < Communicators::kKept; ++i) {
    const std::uint32_t comm = i == 0 ? kWorldComm : Communicators::kKept - i;
    if (std::find(described.begin(), described.end(), comm) != described.end()) continue;
    if (!add(comm)) return false;
  }
  return is_whole && all.defined() <= Communicators::kKept;
}

std::size_t ProcessStateWriter::write_definitions(std::uint64_t tick, std::uint64_t since) noexcept {
  constexpr std::size_t kRoom = std::size_t{48} << 10;
  DefinitionWriter out{std::span<std::byte>(room_).first(kRoom).subspan(sizeof(PackHeader))};
  const std::uint64_t finalizes = finalizes_since.load(std::memory_order_relaxed);
  const ProcessStat state = process_stat(stat_path_.c_str());
  const CpuTime lately = take_cpu_time(tick, state.cpu_ticks);
  const bool is_stopped = state.state == 'T' || state.state == 't';
  const bool is_asleep = state.state == 'S' || state.state == 'D';
  ProcessStateDefinition process{
      tick,
      since,
      lately.cpu_ns,
      lately.wall_ns,
      (finalizes != 0 ? kInFinalize : 0u) | (is_stopped ? kStopped : 0u) | (is_asleep ? kSleeps : 0u),
      0};
  bool fits = out.add(process);
  if (finalizes == 0 && session_.watch) {
    constexpr std::uint64_t kNanosecondsOfATick = 10'000'000;
    fits = fits && out.add(session_.usage_at(session_.watch->time(), state.cpu_ticks * kNanosecondsOfATick));
  }
  ThreadState thread_state(session_, unwinder_, tick);
  std::size_t threads = 0, in_mpi = 0, comms = 0;
  std::array<std::uint32_t, kCommsShown> described{};
  std::array<std::uint32_t, kThreadsShown * kMostFrames> defined{};
  std::size_t modules = 0;
  const auto add_stack = [&](std::uint32_t thread, StackOf of, std::span<const std::uint64_t> path) {
    std::array<StackFrame, kMostFrames> frames;
    std::uint32_t count = 0;
    for (const std::uint64_t address : path.first(std::min(path.size(), kMostFrames))) {
      const CallSites::Place place = session_.recorder.call_sites.known_place_of(address);
      const bool is_instruction = of == StackOf::kSample && count == 0;
      frames[count++] = {place.module, is_instruction ? 1u : 0u, place.offset};
      const auto end = defined.begin() + static_cast<std::ptrdiff_t>(modules);
      if (place.module == CallSites::kNoModule || std::find(defined.begin(), end, place.module) != end) continue;
      const LoadedObject object = find_object_without_lock(address);
      if (object.map == nullptr || object.map->l_name == nullptr) continue;
      defined[modules++] = place.module;
      const std::string_view file(object.map->l_name), name = file.empty() ? std::string_view(program_) : file;
      fits = fits && out.add(ModuleDefinition{place.module, 0, address - place.offset, object.size}, name, "");
    }
    if (count != 0)
      fits = fits && out.add(StackDefinition{thread, of, count, 0}, std::span<const StackFrame>(frames).first(count));
  };
  session_.recorder.threads.for_each_owned([&](const ThreadRecorder& thread) {
    if (++threads > kThreadsShown || finalizes != 0) return;
    thread_state.read(thread);
    in_mpi += thread_state.is_in_mpi() ? 1 : 0;
    const auto calls = thread_state.calls();
    for (const RecentCall& call : calls) {
      if ((call.flags & (kOpenCall | kPendingPart)) == 0 || (call.flags & kPosixCallFlag) != 0) continue;
      const std::uint32_t comm = comm_of(call.word);
      const auto end = described.begin() + static_cast<std::ptrdiff_t>(comms);
      if (comms == described.size() || std::find(described.begin(), end, comm) != end) continue;
      if (const Communicators::Known* const known = session_.mpi.communicators().known(comm)) {
        fits = fits && out.add(known->definition, std::span<const RankRange>(known->ranges), known->name);
        described[comms++] = comm;
      }
    }
    if (!calls.empty())
      fits = fits &&
             out.add(RecentCallsDefinition{thread.number(), static_cast<std::uint32_t>(calls.size()), tick}, calls);
    add_stack(thread.number(), StackOf::kOpenCall, thread_state.path());
    add_stack(thread.number(), StackOf::kSample, thread_state.sampled());
  });
  if (session_.thread_level() == MPI_THREAD_MULTIPLE && state.threads > helpers_ + in_mpi)
    process.flags |= kFreeThreads;
  if (!add_collectives(out, std::span(described).first(comms))) process.flags |= kCollectivesMissing;
  // The definition at the front, with flags that are known only now.
  std::copy_n(reinterpret_cast<const std::byte*>(&process), sizeof process,
              room_.begin() + static_cast<std::ptrdiff_t>(sizeof(PackHeader) + sizeof(DefinitionHeader)));
  write_header(0, PackClass::kDefinitions, out.bytes(), out.count(), tick);
  return sizeof(PackHeader) + out.bytes();
}

std::size_t ProcessStateWriter::write_totals(std::size_t at, std::uint64_t tick) noexcept {
  const std::size_t room = (room_.size() - at - sizeof(PackHeader)) / sizeof(TotalsRecord);
  auto* const records = reinterpret_cast<TotalsRecord*>(room_.data() + at + sizeof(PackHeader));
  const std::size_t count = session_.recorder.totals(std::span(records, room));
  write_header(at, PackClass::kTotals, count * sizeof(TotalsRecord), count, tick);
  return sizeof(PackHeader) + count * sizeof(TotalsRecord);
}

void ProcessStateWriter::write_header(std::size_t at, PackClass pack_class, std::size_t payload_bytes,
                                      std::size_t records, std::uint64_t tick) noexcept {
  PackHeader header{};
  session_.recorder.sender.describe(header);
  header.magic = kPackMagic;
  header.pack_class = static_cast<std::uint16_t>(pack_class);
  header.sequence += at == 0 ? 0 : 1;
  header.first_tick = header.last_tick = tick;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  header.record_count = static_cast<std::uint32_t>(records);
  std::copy_n(reinterpret_cast<const std::byte*>(&header), sizeof header,
              room_.begin() + static_cast<std::ptrdiff_t>(at));
}

void ProcessStateWriter::write(std::uint64_t tick, std::uint64_t since) noexcept {
  std::size_t bytes = write_definitions(tick, since);
  bytes += write_totals(bytes, tick);
  const OwnFolder folder(folder_.c_str());
  const long file = folder.replace(beside_.c_str(), 0600);
  if (file < 0) return;
  const auto all = static_cast<long>(bytes);
  const bool is_written = call_kernel(SYS_write, file, argument(room_.data()), all) == all;
  call_kernel(SYS_close, file);
  if (!is_written || folder.rename(beside_.c_str(), name_.c_str()) != 0) return;
  written_ = tick;
  written_since_ = since;
}

}  // namespace ardoise::instrument
