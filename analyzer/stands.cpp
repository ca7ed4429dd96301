// See stands.hpp.
#include "analyzer/stands.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/pack_file.hpp"
#include "instrument/format/stands.hpp"
#include "knowledge_sources/functions.hpp"
#include "knowledge_sources/symbolizer.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using instrument::RecentCall;

std::vector<std::int32_t> members_of(std::span<const instrument::RankRange> ranges, std::size_t first,
                                     std::size_t count) {
  std::vector<std::int32_t> members;
  for (const auto& range : ranges.subspan(std::min(first, ranges.size()))) {
    if (count-- == 0) break;
    for (std::uint32_t i = 0; i < range.count; ++i)
      members.push_back(range.start + static_cast<std::int32_t>(i) * range.stride);
  }
  return members;
}

// Puts the definitions of one file together.
class Reader {
 public:
  explicit Reader(const instrument::PackHeader& header) : header_(header) {
    stand_.process = {header.partition, header.rank};
  }

  void operator()(const auto&) {}
  void operator()(const instrument::DecodedStand& stand) {
    stand_.tick = stand.fixed.tick;
    stand_.since_tick = stand.fixed.since_tick;
    stand_.seconds = seconds(stand.fixed.tick - std::min(stand.fixed.tick, stand.fixed.since_tick));
    if (stand.fixed.wall_ns != 0)
      stand_.cpu_share = static_cast<double>(stand.fixed.cpu_ns) / static_cast<double>(stand.fixed.wall_ns);
    stand_.in_finalize = (stand.fixed.flags & instrument::kInFinalize) != 0;
    stand_.is_stopped = (stand.fixed.flags & instrument::kStopped) != 0;
  }
  void operator()(const instrument::DecodedCommunicator& comm) {
    const auto& fixed = comm.fixed;
    const bool inter = fixed.kind == instrument::CommunicatorKind::kInter;
    comms_[fixed.comm] = {{fixed.group_hash, fixed.instance},
                          members_of(comm.ranges, inter ? fixed.ranges : 0, inter ? fixed.remote_ranges : fixed.ranges),
                          std::string(comm.name)};
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

  ProcessStand take() {
    for (const auto& [number, thread] : threads_) {
      if (thread.sampled && stand_.computes.module.empty()) stand_.computes = place_of(*thread.sampled);
      const auto open = std::ranges::find_if(
          thread.calls, [](const RecentCall& call) { return (call.flags & instrument::kOpenCall) != 0; });
      if (open == thread.calls.end()) continue;
      const bool is_io = (open->flags & instrument::kPosixCallFlag) != 0;
      auto& into = is_io ? stand_.io : stand_.mpi;
      if (into && into->seconds >= seconds(open->ticks)) continue;
      StandCall& call = into.emplace();
      call.operation = operation_of(*open, is_io);
      call.seconds = seconds(open->ticks);
      if (thread.place) call.place = place_of(*thread.place);
      for (auto part = open + 1; part != thread.calls.end(); ++part) call.parts.push_back(operation_of(*part, false));
    }
    return std::move(stand_);
  }

 private:
  [[nodiscard]] double seconds(std::uint64_t ticks) const {
    return header_.ticks_per_second > 0 ? static_cast<double>(ticks) / header_.ticks_per_second : 0;
  }
  [[nodiscard]] StandOperation operation_of(const RecentCall& call, bool is_io) const {
    StandOperation operation;
    const auto pack_class = is_io ? instrument::PackClass::kPosix : instrument::PackClass::kMpi;
    operation.function = knowledge_sources::function_info(pack_class, instrument::function_of(call.word)).name;
    if (is_io) return operation;
    operation.shape = instrument::shape_of(call.word);
    operation.peer = call.peer;
    operation.tag = call.tag;
    if (const auto comm = comms_.find(instrument::comm_of(call.word)); comm != comms_.end())
      operation.comm = comm->second;
    return operation;
  }
  [[nodiscard]] reports::StackPlace place_of(const instrument::StackFrame& frame) const {
    const auto module = modules_.find(frame.module);
    if (module == modules_.end()) return {};
    return {"", "", 0, module->second, frame.offset + frame.is_instruction};
  }

  const instrument::PackHeader& header_;
  ProcessStand stand_;
  std::map<std::uint32_t, StandComm> comms_;
  std::map<std::uint32_t, std::string> modules_;
  struct Thread {
    std::vector<RecentCall> calls;
    std::optional<instrument::StackFrame> place, sampled;  // innermost: of its open call, of its last sample
  };
  std::map<std::uint32_t, Thread> threads_;
};

}  // namespace

std::vector<fs::path> stand_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(instrument::kStandPrefix) && !name.ends_with(".part")) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<ProcessStand> read_stands(const fs::path& folder) {
  std::vector<ProcessStand> stands;
  for (const fs::path& path : stand_files(folder)) {
    const instrument::PackFile file = instrument::read_pack_file(path);
    instrument::PackSequence packs(file.bytes());
    const auto pack = packs.next();
    if (!pack || pack->pack_class() != instrument::PackClass::kDefinitions) continue;  // it goes on just now
    Reader reader(pack->header());
    instrument::DefinitionReader definitions(pack->payload());
    while (const auto definition = definitions.next()) std::visit(reader, *definition);
    stands.push_back(reader.take());
  }
  return stands;
}

void find_places(std::vector<ProcessStand>& stands) {
  knowledge_sources::Symbolizer symbolizer;
  const auto find = [&](reports::StackPlace& place) {
    if (place.module.empty()) return;
    const auto found = symbolizer.find(place.module, "", place.offset);
    place.symbol = found.symbol;
    place.source_file = found.source_file;
    place.line = found.line;
  };
  for (ProcessStand& stand : stands) {
    find(stand.computes);
    if (stand.mpi) find(stand.mpi->place);
    if (stand.io) find(stand.io->place);
  }
}

}  // namespace ardoise::analyzer
