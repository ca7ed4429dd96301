#include "analyzer/hangs/stalled_processes.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include "analyzer/output_folder/own_files.hpp"
#include "instrument/format/definition_reader.hpp"
#include "instrument/format/pack_file.hpp"
#include "instrument/format/process_states.hpp"
#include "instrument/format/rank_ranges.hpp"
#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/symbols/symbolizer.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using instrument::RecentCall;

// Limit for all communicators together, 64 MiB: a few bytes of ranges may claim any number of ranks.
constexpr std::size_t kMostMembers = std::size_t{1} << 24;

struct KnownComms {
  // One shared object for all processes of a world.
  std::map<std::pair<std::uint32_t, CommView::Key>, std::shared_ptr<const CommView>> of_worlds;
  std::size_t members = 0;
};

std::shared_ptr<const CommView> comm_of(const instrument::DecodedCommunicator& decoded, KnownComms& known) {
  const auto& fixed = decoded.fixed;
  auto comm = std::make_shared<CommView>();
  comm->key = {fixed.group_hash, fixed.instance};
  comm->name = decoded.name;
  comm->is_inter = fixed.kind == instrument::CommunicatorKind::kInter;
  comm->is_whole = fixed.first_range == 0 && fixed.range_count == fixed.ranges + fixed.remote_ranges;
  if (!comm->is_whole) return comm;
  const auto ranges = decoded.ranges.subspan(comm->is_inter ? fixed.ranges : 0);
  std::uint64_t count = 0;
  for (const auto& range : ranges) count += range.count;
  // The own group of an intercommunicator may lie outside the world, like the other one. None has no members: such a
  // definition is damaged.
  comm->is_whole = count > 0 && count <= kMostMembers - known.members &&
                   std::ranges::all_of(decoded.ranges, [](const auto& range) { return range.start >= 0; });
  if (!comm->is_whole) return comm;
  comm->members = instrument::decode_ranges(ranges, kMostMembers);
  known.members += comm->members.size();
  return comm;
}

// Combines the definitions of one file.
class Reader {
 public:
  Reader(const instrument::PackHeader& header, KnownComms& known) : header_(header), known_(known) {
    stalled_.process = {header.partition, header.rank};
  }

  void operator()(const auto&) {}
  void operator()(const instrument::DecodedProcessState& stalled) {
    stalled_.tick = stalled.fixed.tick;
    stalled_.since_tick = stalled.fixed.since_tick;
    stalled_.seconds = seconds(stalled.fixed.tick - std::min(stalled.fixed.tick, stalled.fixed.since_tick));
    if (stalled.fixed.wall_ns != 0)
      stalled_.cpu_share = static_cast<double>(stalled.fixed.cpu_ns) / static_cast<double>(stalled.fixed.wall_ns);
    stalled_.in_finalize = (stalled.fixed.flags & instrument::kInFinalize) != 0;
    stalled_.is_stopped = (stalled.fixed.flags & instrument::kStopped) != 0;
    stalled_.sleeps = (stalled.fixed.flags & instrument::kSleeps) != 0;
    stalled_.has_free_threads = (stalled.fixed.flags & instrument::kFreeThreads) != 0;
    stalled_.knows_all_collectives = (stalled.fixed.flags & instrument::kCollectivesMissing) == 0;
  }
  void operator()(const instrument::DecodedCommunicator& comm) {
    const auto& fixed = comm.fixed;
    const CommView::Key key{fixed.group_hash, fixed.instance};
    keys_[fixed.comm] = key;
    if (fixed.range_count == 0) return;
    if (fixed.kind == instrument::CommunicatorKind::kInter) {  // its members depend on the side
      comms_[fixed.comm] = comm_of(comm, known_);
      return;
    }
    auto& known = known_.of_worlds[{header_.partition, key}];
    if (known == nullptr || !known->is_whole || (known->name.empty() && !comm.name.empty()))
      known = comm_of(comm, known_);
    comms_[fixed.comm] = known;
  }
  void operator()(const instrument::DecodedCollectives& decoded) {
    const auto& fixed = decoded.fixed;
    const auto key = keys_.find(fixed.comm);
    if (key == keys_.end()) return;
    CollectiveHistory& all = stalled_.collectives[key->second];
    all.begun = fixed.begun;
    constexpr std::uint32_t kLast = instrument::CollectivesDefinition::kLast;
    for (std::uint32_t number = fixed.begun - std::min(fixed.begun, kLast); number != fixed.begun; ++number) {
      const std::uint32_t word = fixed.last[number % kLast];
      all.last.push_back({function_name(instrument::PackClass::kMpi, instrument::function_of_collective(word)),
                          static_cast<std::int32_t>(instrument::root_of_collective(word))});
    }
  }
  void operator()(const instrument::DecodedModule& module) { modules_[module.fixed.module] = std::string(module.path); }
  void operator()(const instrument::DecodedRecentCalls& recent) {
    threads_[recent.fixed.thread].calls.assign(recent.calls.begin(), recent.calls.end());
  }
  void operator()(const instrument::DecodedStack& stack) {
    if (stack.frames.empty()) return;
    Thread& thread = threads_[stack.fixed.thread];
    (stack.fixed.of == instrument::StackOf::kSample ? thread.sampled : thread.place) = stack.frames.front();
  }

  StalledProcess take() {
    for (auto& [number, thread] : threads_) {
      if (thread.sampled && stalled_.computes.module.empty()) stalled_.computes = place_of(*thread.sampled);
      const auto open = std::ranges::find_if(
          thread.calls, [](const RecentCall& call) { return (call.flags & instrument::kOpenCall) != 0; });
      if (open == thread.calls.end()) continue;
      const bool is_io = (open->flags & instrument::kPosixCallFlag) != 0;
      PendingCall call;
      call.operation = operation_of(*open, is_io);
      call.seconds = seconds(open->ticks);
      call.parts_missing = (open->flags & instrument::kPartsMissing) != 0;
      if (thread.place) call.place = place_of(*thread.place);
      for (auto part = open + 1; part != thread.calls.end(); ++part) call.parts.push_back(operation_of(*part, false));
      auto& into = is_io ? stalled_.io : stalled_.mpi;
      if (into && into->seconds < call.seconds) std::swap(*into, call);
      if (!into) {
        into = std::move(call);
      } else if (!is_io) {
        stalled_.others.push_back(std::move(call));
      }
    }
    return std::move(stalled_);
  }

 private:
  [[nodiscard]] double seconds(std::uint64_t ticks) const {
    return header_.ticks_per_second > 0 ? static_cast<double>(ticks) / header_.ticks_per_second : 0;
  }
  [[nodiscard]] PendingOperation operation_of(const RecentCall& call, bool is_io) const {
    PendingOperation operation;
    const auto pack_class = is_io ? instrument::PackClass::kPosix : instrument::PackClass::kMpi;
    operation.function = function_name(pack_class, instrument::function_of(call.word));
    if (is_io) return operation;
    operation.shape = instrument::shape_of(call.word);
    operation.peer = call.peer;
    operation.tag = call.tag;
    if (const auto comm = comms_.find(instrument::comm_of(call.word)); comm != comms_.end())
      operation.comm = comm->second;
    if (call.collective != 0) operation.number = call.collective - 1;
    operation.may_be_done = (call.flags & instrument::kMayBeDone) != 0;
    return operation;
  }
  static std::string function_name(instrument::PackClass pack_class, std::uint32_t function) {
    return knowledge_sources::function_info(pack_class, function).name;
  }
  [[nodiscard]] reports::StackPlace place_of(const instrument::StackFrame& frame) const {
    const auto module = modules_.find(frame.module);
    if (module == modules_.end()) return {};
    return {"", "", 0, module->second, frame.offset + frame.is_instruction};
  }

  const instrument::PackHeader& header_;
  KnownComms& known_;
  StalledProcess stalled_;
  std::map<std::uint32_t, CommView::Key> keys_;
  std::map<std::uint32_t, std::shared_ptr<const CommView>> comms_;
  std::map<std::uint32_t, std::string> modules_;
  struct Thread {
    std::vector<RecentCall> calls;
    std::optional<instrument::StackFrame> place, sampled;  // innermost frames: of its open call, of its last sample
  };
  std::map<std::uint32_t, Thread> threads_;
};

}  // namespace

std::vector<fs::path> position_files(const fs::path& folder) {
  auto files = own_files(folder, instrument::kProcessStatePrefix);
  std::erase_if(files, [](const fs::path& file) { return file.string().ends_with(".part"); });
  return files;
}

std::vector<StalledProcess> read_stalled_processes(const fs::path& folder) {
  std::vector<StalledProcess> processes;
  KnownComms known;
  for (const fs::path& path : position_files(folder)) {
    const instrument::PackFile file = read_own_pack_file(path);
    instrument::PackSequence packs(file.bytes());
    const auto pack = packs.next();
    if (!pack || pack->pack_class() != instrument::PackClass::kDefinitions) continue;  // it has just continued
    Reader reader(pack->header(), known);
    instrument::DefinitionReader definitions(pack->payload());
    while (const auto definition = definitions.next()) std::visit(reader, *definition);
    processes.push_back(reader.take());
  }
  return processes;
}

void find_places(std::vector<StalledProcess>& processes) {
  knowledge_sources::Symbolizer symbolizer;
  const auto find = [&](reports::StackPlace& place) {
    if (place.module.empty()) return;
    const auto found = symbolizer.find(place.module, "", place.offset);
    place.symbol = found.symbol;
    place.source_file = found.source_file;
    place.line = found.line;
  };
  for (StalledProcess& stalled : processes) {
    find(stalled.computes);
    if (stalled.mpi) find(stalled.mpi->place);
    for (PendingCall& call : stalled.others) find(call.place);
    if (stalled.io) find(stalled.io->place);
  }
}

}  // namespace ardoise::analyzer
