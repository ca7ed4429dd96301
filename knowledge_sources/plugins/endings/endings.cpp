// Endings of ranks that did not reach MPI_Finalize, and their calls at the end, or now: contributes
// Application::ending. Ranks with the same ending, and ranks in the same place, share one line.
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/plugins/endings/rank_endings.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::EndCause;
using instrument::EndDefinition;
using instrument::RecentCall;
using instrument::StackFrame;
using reports::LastCall;
using reports::RankEnd;
using reports::RankPosition;
using reports::StackPlace;

std::string signal_name(int number) {
  const char* const name = ::sigabbrev_np(number);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(number);
}

bool starts_with_one_of(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return name.starts_with(prefix); });
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_of_fault(int signal) { return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL; }

// The callers of exit() and abort() in these modules are of no interest.
bool is_system(std::string_view module) {
  return starts_with_one_of(module, {"libc.so", "libc-", "ld-linux", "libpthread"});
}

bool is_open(const RecentCall& call) { return (call.flags & instrument::kOpenCall) != 0; }
bool is_posix(const RecentCall& call) { return (call.flags & instrument::kPosixCallFlag) != 0; }
bool is_part(const RecentCall& call) { return (call.flags & instrument::kPendingPart) != 0; }

// In unfinished MPI calls.
std::uint64_t ticks_in_open_call(const RankEnding& ending) {
  std::uint64_t ticks = 0;
  for (const auto& [number, thread] : ending.threads) {
    for (const RecentCall& call : thread.calls) ticks += is_open(call) && !is_posix(call) ? call.ticks : 0;
  }
  return ticks;
}

class Teller {
 public:
  Teller(const Resolver& resolver, const RankEndings& endings) : resolver_(resolver), endings_(endings) {}

  void tell(reports::Ending& ending) {
    for (const auto& [rank, each] : endings_.all()) {
      if (each.end) add_end(ending.ends, rank, each, *each.end);
      add_position(ending.stands, rank, each);
    }
    std::ranges::stable_sort(ending.ends, {}, &RankEnd::seconds);
    std::ranges::stable_sort(ending.stands, std::greater<>(),
                             [](const RankPosition& position) { return position.ranks.size(); });
    for (RankEnd& end : ending.ends) {
      const RankEnding& first = endings_.all().at(end.ranks.front());
      const ThreadEnding* const thread = thread_of_end(first);
      if (thread == nullptr || end.cause == "launcher") continue;
      const bool in_call = thread->at_end.empty() || (!end.has_address && !thread->in_call.empty());
      const auto& frames = !in_call ? thread->at_end : !thread->in_call.empty() ? thread->in_call : thread->sampled;
      end.stack = stack_of(end.ranks.front(), frames, !end.has_address);
      for (const RecentCall& call : thread->calls) {
        if (!is_part(call)) end.last_calls.push_back(call_of(end.ranks.front(), call));
      }
    }
  }

 private:
  // A thread of MPI's own noticed that the connection to the launcher broke.
  [[nodiscard]] bool leaves_for_launcher(std::uint32_t rank, const RankEnding& ending) const {
    const auto thread = ending.threads.find(instrument::kNoThread);
    return thread != ending.threads.end() && std::ranges::any_of(thread->second.at_end, [&](const StackFrame& frame) {
             return starts_with_one_of(file_name(resolver_.module(rank, frame.module).path),
                                       {"libpmix", "libopen-rte", "mca_pmix", "libpmi", "libevent", "libmpich"});
           });
  }
  static const ThreadEnding* thread_of_end(const RankEnding& ending) {
    const auto found = ending.end ? ending.threads.find(ending.end->thread) : ending.threads.end();
    return found != ending.threads.end() ? &found->second : standing_thread(ending);
  }
  // The thread to describe: the one longest in an MPI call; else in another call; else the first.
  static const ThreadEnding* standing_thread(const RankEnding& ending) {
    const ThreadEnding* best = nullptr;
    const auto key = [](const ThreadEnding& thread) {
      const RecentCall* const open = open_call(thread);
      return std::tuple(open != nullptr, open != nullptr && !is_posix(*open), open != nullptr ? open->ticks : 0);
    };
    for (const auto& [number, thread] : ending.threads) {
      if (best == nullptr || key(thread) > key(*best)) best = &thread;
    }
    return best;
  }
  static const RecentCall* open_call(const ThreadEnding& thread) {
    const auto found = std::ranges::find_if(thread.calls, is_open);
    return found == thread.calls.end() ? nullptr : &*found;
  }

  [[nodiscard]] double seconds_at(std::uint32_t rank, std::uint64_t tick) const {
    const std::uint64_t origin = resolver_.ledger(rank).origin_tick;
    if (origin == 0 || tick <= origin) return 0;
    return static_cast<double>(tick - origin) * resolver_.seconds_per_tick(rank);
  }

  void add_end(std::vector<RankEnd>& ends, std::uint32_t rank, const RankEnding& ending, const EndDefinition& end) {
    RankEnd fresh = end_of(rank, ending, end);
    const auto key = [](const RankEnd& e) {
      return std::tie(e.cause, e.signal, e.status, e.call.function, e.call.file, e.call.place.symbol,
                      e.call.place.line);
    };
    const auto same = std::ranges::find_if(ends, [&](const RankEnd& other) { return key(other) == key(fresh); });
    if (same == ends.end()) {
      ends.push_back(std::move(fresh));
    } else if (fresh.seconds < same->seconds) {
      // The first of them is described.
      fresh.ranks.insert(fresh.ranks.end(), same->ranks.begin(), same->ranks.end());
      *same = std::move(fresh);
    } else {
      same->ranks.push_back(rank);
    }
  }

  RankEnd end_of(std::uint32_t rank, const RankEnding& ending, const EndDefinition& end) {
    RankEnd out;
    out.ranks = {rank};
    out.seconds = seconds_at(rank, end.tick != 0 ? end.tick : end.end_tick);
    out.address = end.address;
    out.has_address = end.cause == EndCause::kSignal && end.signal_code > 0 && is_of_fault(end.signal);
    out.sender = static_cast<std::uint32_t>(std::max(end.sender, 0));
    out.status = end.status;
    const bool knows_status = end.wait_status >= 0;
    const auto* const thread = end.thread != instrument::kNoThread ? thread_of_end(ending) : standing_thread(ending);
    const RecentCall* const open = thread != nullptr ? open_call(*thread) : nullptr;
    const bool in_mpi = open != nullptr && !is_posix(*open);
    if (open != nullptr) out.call = call_of(rank, *open);
    const bool exits = end.cause == EndCause::kExit || end.cause == EndCause::kImmediate ||
                       (end.cause == EndCause::kUnknown && knows_status && WIFEXITED(end.wait_status));
    if (exits && end.thread == instrument::kNoThread && leaves_for_launcher(rank, ending)) {
      out.cause = "launcher";
    } else if (in_mpi && out.call.function == "MPI_Abort") {
      out.cause = "abort";
      out.status = open->tag;
    } else if (end.cause == EndCause::kExec) {
      out.cause = "exec";
      out.call = LastCall();
      out.call.function = "exec";
      out.call.file = resolver_.file(rank, end.program);
    } else if (end.cause == EndCause::kSignal) {
      out.cause = "signal";
      out.signal = signal_name(end.signal);
    } else if (exits) {
      if (end.cause == EndCause::kUnknown) out.status = WEXITSTATUS(end.wait_status);
      const bool is_by_mpi = in_mpi && end.cause != EndCause::kUnknown && end.thread != instrument::kNoThread;
      out.cause = is_by_mpi ? "error" : end.cause == EndCause::kImmediate ? "immediate exit" : "exit";
    } else if (knows_status && WIFSIGNALED(end.wait_status)) {
      out.cause = "killed";
      out.signal = signal_name(WTERMSIG(end.wait_status));
    } else {
      out.cause = "unknown";
    }
    return out;
  }

  void add_position(std::vector<RankPosition>& positions, std::uint32_t rank, const RankEnding& ending) {
    const ThreadEnding* const thread = standing_thread(ending);
    if (thread == nullptr) return;
    RankPosition fresh;
    fresh.ranks = {rank};
    const RecentCall* const open = open_call(*thread);
    if (open != nullptr) {
      fresh.call = call_of(rank, *open);
      fresh.least_seconds = fresh.most_seconds = fresh.call.seconds;
      // The first call from this site; its definition has not arrived yet.
      if (fresh.call.place.module.empty()) {
        fresh.stack = stack_of(rank, thread->in_call, false);
        if (!fresh.stack.empty()) fresh.call.place = fresh.stack.front();
      }
    } else if (const ThreadEnding* const last = thread_of_end(ending); last != nullptr && !last->at_end.empty()) {
      fresh.stack = stack_of(rank, last->at_end, true);
      if (!fresh.stack.empty()) fresh.call.place = fresh.stack.front();
    } else if (!thread->sampled.empty()) {
      fresh.stack = stack_of(rank, thread->sampled, false);
      if (!fresh.stack.empty()) fresh.call.place = fresh.stack.front();
    } else if (!thread->calls.empty()) {
      fresh.after = call_of(rank, thread->calls.back());
    } else {
      return;
    }
    const auto key = [](const RankPosition& s) {
      return std::tie(s.call.function, s.call.place.symbol, s.call.place.source_file, s.call.place.line,
                      s.call.place.offset, s.after.function, s.after.place.symbol, s.after.place.line);
    };
    const auto same =
        std::ranges::find_if(positions, [&](const RankPosition& other) { return key(other) == key(fresh); });
    if (same == positions.end()) {
      if (open != nullptr) {
        fresh.stack = stack_of(rank, thread->in_call, false);
        fresh.waits_for = parts_of(rank, *thread);
      }
      positions.push_back(std::move(fresh));
      return;
    }
    same->ranks.push_back(rank);
    same->least_seconds = std::min(same->least_seconds, fresh.least_seconds);
    same->most_seconds = std::max(same->most_seconds, fresh.most_seconds);
    if (same->call.tag != fresh.call.tag) same->call.tag = reports::kNoTag;
    if (same->call.peer != fresh.call.peer) same->call.peer = reports::kSeveralPeers;
    if (same->call.communicator != fresh.call.communicator) same->call.communicator.clear();
  }

  std::vector<LastCall> parts_of(std::uint32_t rank, const ThreadEnding& thread) {
    constexpr std::size_t kMost = 16;
    std::vector<LastCall> parts;
    for (const RecentCall& call : thread.calls) {
      if (is_part(call) && parts.size() < kMost) parts.push_back(call_of(rank, call));
    }
    return parts;
  }

  LastCall call_of(std::uint32_t rank, const RecentCall& call) {
    LastCall out;
    out.function = function_info(is_posix(call) ? instrument::PackClass::kPosix : instrument::PackClass::kMpi,
                                 instrument::function_of(call.word))
                       .name;
    const Location& site = resolver_.call_site(call.call_site);
    out.place = {site.symbol, site.source_file, site.line, site.module, site.offset};
    out.bytes = call.bytes;
    out.begin_seconds = seconds_at(rank, call.begin);
    out.seconds = static_cast<double>(call.ticks) * resolver_.seconds_per_tick(rank);
    if (is_posix(call)) {
      out.file = resolver_.file(rank, static_cast<std::uint32_t>(call.peer));
      return out;
    }
    using instrument::Shape;
    const Shape shape = instrument::shape_of(call.word);
    if (instrument::comm_of(call.word) != instrument::kNoComm)
      out.communicator = resolver_.communicator(rank, instrument::comm_of(call.word));
    const bool has_peer = shape == Shape::kSend || shape == Shape::kReceive || shape == Shape::kPostReceive ||
                          shape == Shape::kProbe || shape == Shape::kRooted || shape == Shape::kPut ||
                          shape == Shape::kGet;
    if (!has_peer) return out;
    out.peer = peer_of(rank, call);
    if (shape != Shape::kRooted && shape != Shape::kPut && shape != Shape::kGet)
      out.tag = call.tag == instrument::kAnyTag ? reports::kAnyTag : call.tag;
    return out;
  }

  [[nodiscard]] std::int64_t peer_of(std::uint32_t rank, const RecentCall& call) const {
    if (call.peer == instrument::kAnySource) return reports::kAnyPeer;
    if (call.peer < 0) return reports::kNoPeer;
    const std::int64_t world = resolver_.world_rank(rank, instrument::comm_of(call.word), call.peer);
    const std::int64_t own = world - resolver_.place().first_rank;
    return world < 0 || own < 0 || own >= resolver_.ranks() ? reports::kOtherPeer : own;
  }

  // without_system: begins at the program's own innermost function.
  std::vector<StackPlace> stack_of(std::uint32_t rank, const std::vector<StackFrame>& frames, bool without_system) {
    std::vector<StackPlace> out;
    for (const StackFrame& frame : frames) {
      if (frame.module == instrument::kPythonModule) {
        SourceFrame python = resolver_.python(rank, frame.offset);
        out.push_back({python.symbol, python.source_file, python.line, python.source_file, 0});
        continue;
      }
      const ModuleFacts module = resolver_.module(rank, frame.module);
      const bool is_ours = file_name(module.path).starts_with("libardoise");
      if (is_ours || (without_system && out.empty() && is_system(file_name(module.path)))) continue;
      const auto lines = resolver_.frames(module, frame.offset + frame.is_instruction);
      for (const SourceFrame& line : lines) {
        if (line.symbol == "_start" || line.symbol.starts_with("__libc_start")) return out;
        out.push_back({line.symbol, line.source_file, line.line, std::string(module.path), frame.offset});
      }
      if (lines.empty()) out.push_back({"", "", 0, std::string(module.path), frame.offset});
    }
    return out;
  }

  const Resolver& resolver_;
  const RankEndings& endings_;
};

class Endings final : public Analysis {
 public:
  explicit Endings(const AnalysisContext& context)
      : level_(context.level), ranks_(std::max(context.ranks, 1u)), endings_(ranks_) {}

  void attach(LevelSources& sources) override {
    sources.add({"endings@" + level_,
                 {blackboard::entry_type(level_, kDefinitions)},
                 [this](const blackboard::Context&, std::span<blackboard::EntryRef> entries) {
                   add(entries[0].as<DefinitionSpan>());
                 }});
  }
  std::vector<std::byte> partial() const override { return write_partial(kVersion, endings_); }
  void absorb(std::span<const std::byte> partial) override {
    RankEndings other(ranks_);
    read_partial(partial, "endings", kVersion, other);
    endings_.merge(other);
  }
  void contribute(const Resolver& resolver, reports::Application& application) const override {
    Teller(resolver, endings_).tell(application.ending);
    // Otherwise a rank that hangs in a call would seem to compute.
    auto& mpi_seconds = application.per_rank.mpi_seconds;
    mpi_seconds.resize(std::max<std::size_t>(mpi_seconds.size(), resolver.ranks()));
    for (const auto& [rank, ending] : endings_.all())
      mpi_seconds[rank] += static_cast<double>(ticks_in_open_call(ending)) * resolver.seconds_per_tick(rank);
  }

 private:
  static constexpr std::uint32_t kVersion = 2;

  void add(const DefinitionSpan& span) {
    instrument::DefinitionReader reader(span.records);
    while (const auto definition = reader.next()) {
      if (!std::holds_alternative<instrument::DecodedEnd>(*definition) &&
          !std::holds_alternative<instrument::DecodedRecentCalls>(*definition) &&
          !std::holds_alternative<instrument::DecodedStack>(*definition)) {
        continue;
      }
      const std::scoped_lock guard(mutex_);
      endings_.add(span.header->rank, *definition);
    }
  }

  std::string level_;
  std::uint32_t ranks_;
  std::mutex mutex_;
  RankEndings endings_;
};

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(endings, "1.0", ardoise::knowledge_sources::Endings)
