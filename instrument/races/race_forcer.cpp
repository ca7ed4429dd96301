#include "instrument/races/race_forcer.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "instrument/machine/own_folder.hpp"
#include "instrument/races/race_kinds.hpp"
#include "instrument/races/race_sites.hpp"

namespace ardoise::instrument {

using vmpi::Call;
using vmpi::CallOverride;

namespace {

constexpr std::size_t kAnyNumber = SIZE_MAX;
constexpr std::size_t kMostOutcomes = std::size_t{1} << 27;  // of all threads: 2 GiB
constexpr int kDivergedStatus = 3;

RaceForcer* the_forcer = nullptr;
MPI_Request behind_in_forcer(MPI_Request request) noexcept { return the_forcer->behind(request); }

}  // namespace

std::uint64_t monotonic_nanoseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

RaceForcer::RaceForcer(Settings settings, std::unique_ptr<RaceFile> file)
    : settings_(std::move(settings)), file_(std::move(file)) {
  the_forcer = this;
}

std::string RaceForcer::start() {
  if (std::string error = read_outcomes(); !error.empty()) return error;
  if (PMPI_Comm_dup(MPI_COMM_SELF, &nowhere_) != MPI_SUCCESS) return "no communicator could be made";
  return "";
}

std::string RaceForcer::read_outcomes() {
  RaceStream stream(*file_, 0);
  std::vector<Outcome> last;
  std::size_t count = 0;
  while (const RaceEntry* const entry = stream.next()) {
    const std::vector<std::int32_t>& values = entry->values;
    if (values.size() != 4 || values[0] <= 0 || static_cast<std::uint32_t>(values[0]) > file_->last_stream() + 1)
      return "has completions that no receive can have";
    if (++count > kMostOutcomes)
      return fmt::format("has completions of more than {} receives, which take too much memory", kMostOutcomes);
    const auto number = static_cast<std::size_t>(values[0]);
    if (outcomes_.size() <= number) outcomes_.resize(number + 1);
    if (last.size() <= number) last.resize(number + 1, Outcome{0, 0, 0});
    last[number].post += static_cast<std::uint64_t>(static_cast<std::int64_t>(values[1]));
    last[number].source = values[2];
    last[number].tag = wrapped_sum(last[number].tag, values[3]);
    outcomes_[number].push_back(last[number]);
  }
  for (auto& outcomes : outcomes_) {
    std::sort(outcomes.begin(), outcomes.end(), [](const Outcome& a, const Outcome& b) { return a.post < b.post; });
  }
  return "";
}

RaceForcer::Thread& RaceForcer::thread() {
  if (own_ != nullptr) [[likely]]
    return *own_;
  const MutexLock guard(lock_);
  const auto number = static_cast<std::uint32_t>(threads_.size()) + 1;
  threads_.push_back(std::make_unique<Thread>(*file_, number));
  Thread& made = *threads_.back();
  static const std::vector<Outcome> kNone;
  made.outcomes = number < outcomes_.size() ? &outcomes_[number] : &kNone;
  return *(own_ = &made);
}

const RaceForcer::Outcome* RaceForcer::outcome_of_next_post(Thread& thread) {
  const std::uint64_t post = thread.posts++;
  const auto& all = *thread.outcomes;
  while (thread.next_outcome < all.size() && all[thread.next_outcome].post < post) ++thread.next_outcome;
  if (thread.next_outcome == all.size() || all[thread.next_outcome].post != post) return nullptr;
  return &all[thread.next_outcome];
}

std::string RaceForcer::named(const RaceKey& key) {
  std::string text = fmt::format("{} at {}", key.function, site_name(settings_.folder, key));
  if (key.comm_size != 0) text += fmt::format(", on a communicator of {}", key.comm_size);
  return text;
}

void RaceForcer::note_divergence(const RaceKey& key) {
  if (settings_.output.empty()) return;
  const std::string line = fmt::format("{}\t{}\t{}\t{:x}\n", settings_.rank, key.function, key.module, key.offset);
  append_to(kRaceDivergences, line.data(), line.size());
}

void RaceForcer::append_to(const char* name, const void* bytes, std::size_t size) const {
  const long file = OwnFolder(settings_.output.c_str()).append(name, 0600);
  if (file < 0) return;
  (void)::syscall(SYS_write, file, bytes, size);
  ::syscall(SYS_close, file);
}

std::nullptr_t RaceForcer::diverge(Thread& thread, const std::string& recorded, const Call& call,
                                   const std::string& why) {
  if (diverged_.exchange(true, std::memory_order_relaxed)) return nullptr;
  const RaceKey here = RacePlaces::describe(call);
  note_divergence(here);
  settings_.say(
      fmt::format("rank {} diverges from the record at decision {} of its thread {}: recorded: {}; now: {}{}. {}",
                  settings_.rank, thread.decisions, thread.number - 1, recorded, named(here), why,
                  settings_.stops ? "The program is stopped (--replay-divergence stop)."
                                  : "Nothing is forced on this rank from here on."));
  if (settings_.stops) PMPI_Abort(MPI_COMM_WORLD, kDivergedStatus);
  return nullptr;
}

const RaceEntry* RaceForcer::next(Thread& thread, const Call& call, std::size_t values) {
  const RaceEntry* const entry = thread.stream.next();
  ++thread.decisions;
  if (entry == nullptr) {
    const std::string end = !thread.stream.is_sound() ? "the record is damaged here"
                            : file_->end() && file_->end()->why == RaceEndReason::kFinalized
                                ? "no further decision"
                                : "the record ends here, it is incomplete";
    return diverge(thread, end, call, "");
  }
  std::uint32_t& number = thread.places.number(call);
  if (number != entry->key) [[unlikely]] {
    const RaceKey& recorded = thread.stream.keys()[entry->key];
    if (number != RacePlaces::kUnknown) return diverge(thread, named(recorded), call, "");
    const RaceKey key = RacePlaces::describe(call);
    if (key.function != recorded.function || key.offset != recorded.offset || key.comm_size != recorded.comm_size ||
        module_file(key.module) != module_file(recorded.module))
      return diverge(thread, named(recorded), call, "");
    number = entry->key;
  }
  if (entry->values.size() != values && values != kAnyNumber)
    return diverge(thread, named(thread.stream.keys()[entry->key]), call, " with other wildcards");
  return entry;
}

void RaceForcer::pin(CallOverride& changes, std::int32_t source, std::int32_t tag) const {
  changes.pins = true;
  changes.source = source;
  changes.tag = tag;
}

void RaceForcer::pin_unmatched(CallOverride& changes) const {
  pin(changes, MPI_ANY_SOURCE, MPI_ANY_TAG);
  changes.comm = nowhere_;
}

void RaceForcer::begin_wait(Thread& thread, const Call& call, CallOverride& changes) {
  thread.wait = {};
  thread.wait.call = &call;
  thread.wait.changes = &changes;
}

bool RaceForcer::has_other_diverged() const {
  struct stat found {};
  return !settings_.output.empty() && OwnFolder(settings_.output.c_str()).stat(kRaceDivergences, found) == 0;
}

void RaceForcer::note_end() const {
  if (settings_.output.empty()) return;
  const RaceEnded own{settings_.partition, settings_.rank};
  append_to(kRaceEnded, &own, sizeof own);
}

int RaceForcer::world_rank(MPI_Comm comm, int rank) const {
  if (comm == settings_.world) return rank;
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  int is_inter = 0, in_world = MPI_UNDEFINED;
  PMPI_Comm_test_inter(comm, &is_inter);
  if ((is_inter != 0 ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS) return -1;
  PMPI_Comm_group(settings_.world, &world);
  PMPI_Group_translate_ranks(group, 1, &rank, world, &in_world);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return in_world == MPI_UNDEFINED ? -1 : in_world;
}

std::string RaceForcer::who_has_ended(const Wait& wait) const {
  if (settings_.output.empty()) return "";
  const int sender = wait.comm != MPI_COMM_NULL ? world_rank(wait.comm, wait.source) : wait.sender;
  const long file = OwnFolder(settings_.output.c_str()).read(kRaceEnded);
  if (file < 0) return "";
  std::array<RaceEnded, 512> some{};
  int others = 0;
  bool has_sender = false;
  for (long bytes; (bytes = ::syscall(SYS_read, file, some.data(), sizeof some)) > 0;) {
    for (const RaceEnded& each : std::span(some).first(static_cast<std::size_t>(bytes) / sizeof(RaceEnded))) {
      if (each.partition != settings_.partition || each.rank == settings_.rank) continue;
      ++others;
      has_sender = has_sender || each.rank == sender;
    }
  }
  ::syscall(SYS_close, file);
  if (has_sender) return fmt::format("rank {}, whose message it waits for, has ended MPI", sender);
  return others == settings_.ranks - 1 && others != 0 ? "all other ranks have ended MPI" : "";
}

void RaceForcer::diverge_from_wait(Thread& thread, const std::string& who) {
  const RaceKey here = RacePlaces::describe(*thread.wait.call);
  const bool stops = settings_.stops || thread.wait.is_posted;
  note_divergence(here);
  settings_.say(fmt::format(
      "rank {} diverges from the record in {}: {}. {}", settings_.rank, named(here), who,
      settings_.stops ? "The program is stopped (--replay-divergence stop)."
      : stops         ? "The receive was posted for that message and cannot get another one: the program is stopped."
                      : "Nothing is forced on this rank from here on."));
  if (stops) PMPI_Abort(MPI_COMM_WORLD, kDivergedStatus);
}

// The call continues as the program made it. Posted receives keep what was forced on them.
void RaceForcer::give_up(Thread& thread) {
  CallOverride& changes = *thread.wait.changes;
  changes.until_true = changes.pins = false;
  changes.kept = nullptr;
  changes.kept_count = 0;
  if (diverged_.exchange(true, std::memory_order_relaxed)) return;
  settings_.say(
      fmt::format("rank {} waits in {}, and another rank has diverged from the record. Nothing is forced on "
                  "this rank from here on.",
                  settings_.rank, named(RacePlaces::describe(*thread.wait.call))));
}

void RaceForcer::look_at_clock(Thread& thread) {
  constexpr std::uint64_t kRoundsWithoutYield = 64, kRoundsWithoutSleep = 1024, kRoundsBetweenLooks = 256,
                          kBetweenDivergences = 1'000'000'000;
  constexpr timespec kSleep{0, 20'000};
  Wait& wait = thread.wait;
  // If ranks share processors, the awaited rank needs this one's processor.
  if (++wait.rounds > kRoundsWithoutSleep) {
    ::nanosleep(&kSleep, nullptr);
  } else if (wait.rounds > kRoundsWithoutYield) {
    ::sched_yield();
  }
  if (wait.rounds % kRoundsBetweenLooks != 0 || wait.call == nullptr) return;
  const std::uint64_t now = settings_.nanoseconds();
  if (wait.begin_ns == 0) wait.begin_ns = wait.looked_ns = now;
  if (now - wait.looked_ns > kBetweenDivergences) {
    wait.looked_ns = now;
    // Its last message may still be in flight when its end is seen first.
    const std::string who = who_has_ended(wait);
    const bool is_hopeless = !who.empty() && wait.sender_has_ended;
    wait.sender_has_ended = !who.empty();
    if (is_hopeless) {
      if (wait.is_posted || !diverged_.load(std::memory_order_relaxed)) diverge_from_wait(thread, who);
      diverged_.store(true, std::memory_order_relaxed);
      return give_up(thread);
    }
    if (has_other_diverged()) return give_up(thread);
  }
  if (wait.told || settings_.patience_seconds <= 0) return;
  if (static_cast<double>(now - wait.begin_ns) < settings_.patience_seconds * 1e9) return;
  wait.told = true;
  const std::string what = wait.knows_message ? fmt::format("the message from rank {} of its communicator with tag {}",
                                                            wait.source, wait.tag)
                                              : "a request that is complete here in the record";
  settings_.say(fmt::format("rank {} has waited {:.0f} s for {}, in {}, and continues to wait.", settings_.rank,
                            settings_.patience_seconds, what, named(RacePlaces::describe(*wait.call))));
}

void RaceForcer::again() { look_at_clock(thread()); }

void RaceForcer::wait_until(Thread& thread, auto&& is_done) {
  while (!diverged_.load(std::memory_order_relaxed) && !is_done()) look_at_clock(thread);
}

// Lets MPI make progress in place of the skipped call.
void RaceForcer::skip(CallOverride& changes) {
  changes.skips = true;
  int flag = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, nowhere_, &flag, MPI_STATUS_IGNORE);
}

void RaceForcer::pin_message(Thread& thread, const RaceEntry& entry, std::size_t first, Call& call,
                             CallOverride& changes) {
  if (thread.tags.size() <= entry.key) thread.tags.resize(thread.stream.keys().size(), 0);
  std::int32_t& tag = thread.tags[entry.key];
  tag = wrapped_sum(tag, entry.values[first + 1]);
  pin(changes, entry.values[first], tag);
  begin_wait(thread, call, changes);
  thread.wait.source = changes.source;
  thread.wait.tag = changes.tag;
  thread.wait.comm = call.comm;
  thread.wait.knows_message = true;
}

void RaceForcer::force_post(Thread& thread, Call& call, CallOverride& changes) {
  const Wanted wanted = wanted_by(call);
  thread.posts_now = wanted.is_receive();
  if (!thread.posts_now) return;
  if (wanted.has_wildcard() && next(thread, call, 0) == nullptr) {
    thread.posts_now = false;
    return;
  }
  PostedReceive& posted = thread.posted;
  posted = {};
  posted.stream = thread.number;
  posted.post = thread.posts;
  posted.has_wildcard = wanted.has_wildcard();
  posted.source = wanted.source;
  posted.tag = wanted.tag;
  const Outcome* const outcome = outcome_of_next_post(thread);
  // The receive got, or will get, its message.
  posted.cancel_tried = outcome != nullptr && outcome->source != kCancelledReceive;
  if (outcome == nullptr) {
    if (posted.has_wildcard) pin_unmatched(changes);
  } else if (outcome->source == kCancelledReceive) {
    pin_unmatched(changes);
  } else if (posted.has_wildcard && outcome->source != kUnknownMessage) {
    pin(changes, outcome->source, outcome->tag);
    posted.source = outcome->source;
    posted.tag = outcome->tag;
    posted.sender = world_rank(call.comm, outcome->source);
  }
}

// A persistent receive keeps its request, which is never started; a separate receive is posted for each start.
int RaceForcer::start_instead(Thread& thread, MPI_Request request, const PostedReceive& receive, bool& is_open) {
  const std::uint64_t post = thread.posts;
  const Outcome* const outcome = outcome_of_next_post(thread);
  const bool is_cancelled = outcome != nullptr && outcome->source == kCancelledReceive;
  const bool is_known = receive.type != MPI_DATATYPE_NULL && (outcome == nullptr || outcome->source != kUnknownMessage);
  is_open = receive.has_wildcard ? !is_known : !is_cancelled || !is_known;
  MPI_Request instead = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  std::int32_t source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
  MPI_Comm comm = nowhere_;
  if (outcome != nullptr && !is_cancelled) {
    source = outcome->source;
    tag = outcome->tag;
    comm = receive.comm;
  }
  if (!is_open) {
    if (receive.count > INT_MAX) {
#if MPI_VERSION >= 4
      code = PMPI_Irecv_c(receive.buffer, receive.count, receive.type, source, tag, comm, &instead);
#endif
    } else {
      code = PMPI_Irecv(receive.buffer, static_cast<int>(receive.count), receive.type, source, tag, comm, &instead);
    }
    if (code == MPI_SUCCESS) substitutes_.fetch_add(1, std::memory_order_relaxed);
  }
  receives_.change(race_handle(request), own_->number, [&](PostedReceive& known) {
    known.stream = thread.number;
    known.post = post;
    known.is_active = true;
    known.cancel_tried = outcome != nullptr && !is_cancelled;
    known.instead = instead;
  });
  return code;
}

void RaceForcer::force_start(Thread& thread, Call& call, CallOverride& changes) {
  bool any = false;
  for (int i = 0; i < call.request_count; ++i)
    any = any || receives_.find(race_handle(call.requests[i]), own_->number).has_value();
  if (!any) return;
  changes.skips = true;
  for (int i = 0; i < call.request_count && changes.code == MPI_SUCCESS; ++i) {
    const auto receive = receives_.find(race_handle(call.requests[i]), own_->number);
    bool is_open = true;
    if (receive && !diverged_.load(std::memory_order_relaxed) &&
        (!receive->has_wildcard || next(thread, call, 0) != nullptr))
      changes.code = start_instead(thread, call.requests[i], *receive, is_open);
    if (is_open) changes.code = PMPI_Start(&call.requests[i]);
  }
}

int RaceForcer::sender_of(MPI_Request request) {
  const auto receive = receives_.find(race_handle(request), own_->number);
  return receive ? receive->sender : -1;
}

MPI_Request RaceForcer::behind(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return request;
  const auto receive = receives_.find(race_handle(request), own_->number);
  return receive && receive->instead != MPI_REQUEST_NULL ? receive->instead : request;
}

void RaceForcer::force_test(Thread& thread, Call& call, CallOverride& changes) {
  const RaceEntry* const entry = next(thread, call, 1);
  if (entry == nullptr) return;
  if (entry->values[0] == 0) return skip(changes);
  begin_wait(thread, call, changes);
  changes.until_true = true;
}

void RaceForcer::force_any(Thread& thread, Call& call, CallOverride& changes) {
  const RaceEntry* const entry = next(thread, call, 1);
  if (entry == nullptr || entry->values[0] < 0) return;
  if (entry->values[0] == 0) return call.function == vmpi::FunctionId::kTestany ? skip(changes) : void();
  const int index = entry->values[0] - 1;
  if (index >= call.request_count || call.requests[index] == MPI_REQUEST_NULL) {
    diverge(thread, named(thread.stream.keys()[entry->key]), call,
            fmt::format(", where request {} of {} was the complete one", index, call.request_count));
    return;
  }
  thread.kept.assign(1, index);
  changes.kept = thread.kept.data();
  changes.kept_count = 1;
  changes.until_true = true;
  begin_wait(thread, call, changes);
  if (call.function == vmpi::FunctionId::kWaitany) {
    thread.wait.sender = sender_of(call.requests[index]);
    MPI_Request request = behind(call.requests[index]);
    wait_until(thread, [&] {
      int flag = 0;
      return PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
    });
  }
}

void RaceForcer::force_some(Thread& thread, Call& call, CallOverride& changes) {
  const RaceEntry* const entry = next(thread, call, kAnyNumber);
  if (entry == nullptr || entry->values.empty() || entry->values[0] < 0) return;
  if (entry->values[0] == 0) return call.function == vmpi::FunctionId::kTestsome ? skip(changes) : void();
  thread.kept.clear();
  for (std::size_t i = 1; i < entry->values.size(); ++i) {
    const int index = entry->values[i];
    if (index < 0 || index >= call.request_count || call.requests[index] == MPI_REQUEST_NULL) {
      diverge(thread, named(thread.stream.keys()[entry->key]), call,
              fmt::format(", where request {} of {} was among the complete ones", index, call.request_count));
      return;
    }
    thread.kept.push_back(index);
  }
  changes.kept = thread.kept.data();
  changes.kept_count = static_cast<int>(thread.kept.size());
  begin_wait(thread, call, changes);
  for (const int index : thread.kept) {
    thread.wait.sender = sender_of(call.requests[index]);
    MPI_Request request = behind(call.requests[index]);
    wait_until(thread, [&] {
      int flag = 0;
      return PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
    });
  }
}

// For forced receives, whose message may never come; also after the rank diverged.
void RaceForcer::wait_for_posted(Thread& thread, Call& call, CallOverride& changes) {
  if (receives_.empty()) return;
  for (int i = 0; i < call.request_count; ++i) {
    if (call.requests[i] == MPI_REQUEST_NULL) continue;
    const auto receive = receives_.find(race_handle(call.requests[i]), own_->number);
    if (!receive || !receive->is_active || !receive->has_wildcard) continue;
    begin_wait(thread, call, changes);
    thread.wait.is_posted = true;
    thread.wait.sender = receive->sender;
    thread.wait.knows_message = receive->cancel_tried && !receive->is_persistent;
    thread.wait.source = receive->source;
    thread.wait.tag = receive->tag;
    MPI_Request request = receive->instead != MPI_REQUEST_NULL ? receive->instead : call.requests[i];
    for (int flag = 0; PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0;)
      look_at_clock(thread);
  }
}

void RaceForcer::before(Call& call, CallOverride& changes) {
  Thread& own = thread();
  own.posts_now = false;
  own.wait.call = nullptr;
  const RaceKind kind = race_kind(call.function);
  const bool looks_at_requests = kind == RaceKind::kTest || kind == RaceKind::kTestAny || kind == RaceKind::kWaitAny ||
                                 kind == RaceKind::kSome || kind == RaceKind::kWait || kind == RaceKind::kCancel;
  if (looks_at_requests && substitutes_.load(std::memory_order_relaxed) != 0) changes.substitute = behind_in_forcer;
  if (kind == RaceKind::kFree) {
    if (const auto receive = receives_.find(race_handle(call.requests[0]), own_->number);
        receive && receive->instead != MPI_REQUEST_NULL) {
      MPI_Request instead = receive->instead;
      PMPI_Request_free(&instead);
    }
    return;
  }
  if (kind == RaceKind::kWait) return wait_for_posted(own, call, changes);
  if (diverged_.load(std::memory_order_relaxed)) return;
  switch (kind) {
    case RaceKind::kReceive:
    case RaceKind::kProbe:
      if (!wanted_by(call).has_wildcard()) return;
      if (const RaceEntry* const entry = next(own, call, kAnyNumber); entry != nullptr && entry->values.size() == 2) {
        pin_message(own, *entry, 0, call, changes);
        // It sends first, so it cannot wait here.
        if (vmpi::function_traits(call.function).role == vmpi::Role::kSendReceive) return;
        wait_until(own, [&] {
          int flag = 0;
          return PMPI_Iprobe(changes.source, changes.tag, call.comm, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
                 flag != 0;
        });
      }
      return;
    case RaceKind::kTryProbe: {
      if (!wanted_by(call).is_receive()) return;
      const RaceEntry* const entry = next(own, call, kAnyNumber);
      if (entry == nullptr || entry->values.empty()) return;
      if (entry->values[0] == 0) return skip(changes);
      if (entry->values.size() == 3) {
        pin_message(own, *entry, 1, call, changes);
      } else {
        begin_wait(own, call, changes);
      }
      changes.until_true = true;
      return;
    }
    case RaceKind::kPost:
      return force_post(own, call, changes);
    case RaceKind::kStart:
      return force_start(own, call, changes);
    case RaceKind::kTest:
      return force_test(own, call, changes);
    case RaceKind::kTestAny:
    case RaceKind::kWaitAny:
      return force_any(own, call, changes);
    case RaceKind::kSome:
      return force_some(own, call, changes);
    case RaceKind::kCancel:
      if (const auto receive = receives_.find(race_handle(call.requests[0]), own_->number);
          receive && receive->cancel_tried)
        changes.skips = true;
      return;
    case RaceKind::kNone:
    case RaceKind::kPrepare:
    case RaceKind::kFree:
    case RaceKind::kWait:
      return;
  }
}

void RaceForcer::after(Call& call, const CallOverride& changes) {
  Thread& own = thread();
  own.wait.call = nullptr;
  switch (race_kind(call.function)) {
    case RaceKind::kPost:
      if (own.posts_now && call.requests != nullptr) receives_.add(race_handle(call.requests[0]), own.posted);
      return;
    case RaceKind::kPrepare: {
      const Wanted wanted = wanted_by(call);
      if (!wanted.is_receive() || call.requests == nullptr) return;
      PostedReceive receive;
      receive.has_wildcard = wanted.has_wildcard();
      receive.stream = own.number;
      receive.is_persistent = true;
      receive.is_active = false;
      receive.buffer = changes.buffer;
      receive.count = changes.count;
      receive.comm = call.comm;
      if (changes.type != MPI_DATATYPE_NULL) PMPI_Type_dup(changes.type, &receive.type);
      return receives_.add(race_handle(call.requests[0]), receive);
    }
    case RaceKind::kFree:
      if (call.result != MPI_SUCCESS) return;
      if (auto receive = receives_.forget(race_handle(call.requests[0]), own_->number)) {
        if (receive->type != MPI_DATATYPE_NULL) PMPI_Type_free(&receive->type);
        if (receive->instead != MPI_REQUEST_NULL) substitutes_.fetch_sub(1, std::memory_order_relaxed);
      }
      return;
    case RaceKind::kTest:
    case RaceKind::kTestAny:
    case RaceKind::kWaitAny:
    case RaceKind::kSome:
    case RaceKind::kWait:
      break;
    default:
      return;
  }
  if (receives_.empty()) return;
  for (int i = 0; i < call.completed_count; ++i) {
    const int index = call.completed_indices != nullptr ? call.completed_indices[i] : i;
    if (index < 0 || index >= call.request_count) continue;
    if (const auto receive = receives_.complete(race_handle(call.requests[index]), own_->number);
        receive && receive->instead != MPI_REQUEST_NULL)
      substitutes_.fetch_sub(1, std::memory_order_relaxed);
  }
}

void RaceForcer::finish() {
  note_end();
  if (diverged_.load(std::memory_order_relaxed)) return;
  const MutexLock guard(lock_);
  // A program that died in the recorded run may survive now; its later calls are not in the record.
  for (const auto& thread : threads_) {
    const RaceEntry* const entry = thread->stream.next();
    if (entry == nullptr) continue;
    settings_.say(fmt::format(
        "rank {} diverges from the record after decision {} of its thread {}: recorded: {}; now: MPI_Finalize.",
        settings_.rank, thread->decisions, thread->number - 1, named(thread->stream.keys()[entry->key])));
    diverged_.store(true, std::memory_order_relaxed);
    note_divergence({"MPI_Finalize", "", 0, 0});
    return;
  }
}

}  // namespace ardoise::instrument
