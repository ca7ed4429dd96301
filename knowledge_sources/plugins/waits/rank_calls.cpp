#include "knowledge_sources/plugins/waits/rank_calls.hpp"

#include <algorithm>
#include <utility>

#include "knowledge_sources/matching/message_kind.hpp"

namespace ardoise::knowledge_sources {

using instrument::CompletionRecord;
using instrument::MpiEvent;
using instrument::MpiRecord;
using instrument::NeighbourExtension;
using instrument::ReceiveHalfExtension;
using instrument::SampledExtension;
using instrument::Shape;
using instrument::StartedExtension;

namespace {

// MPI libraries send less than this eagerly, on any network.
constexpr std::uint64_t kShortBytes = 4096;

bool is_call(const MpiRecord& record) {
  return record.shape() != Shape::kExtension && record.shape() != Shape::kCompletion;
}

bool is_collective(const MpiRecord& record) {
  switch (record.shape()) {
    case Shape::kCollective:
    case Shape::kRooted:
    case Shape::kNeighbour:
    case Shape::kLocal:
    case Shape::kWindow:
    case Shape::kFileRead:
    case Shape::kFileWrite:
      return collective_kind(record.function()) != CollectiveKind::kNone;
    default:
      return false;
  }
}

template <class OnEvent>
void for_each_call(std::span<const MpiRecord> records, OnEvent&& event) {
  instrument::for_each_event(
      records, event, [](const CompletionRecord&) {}, [](const NeighbourExtension&) {}, [](const StartedExtension&) {});
}

std::uint64_t count_collectives(std::span<const MpiRecord> records) {
  std::uint64_t count = 0;
  for_each_call(records, [&](const MpiEvent& event) { count += is_collective(event.record) ? 1 : 0; });
  return count;
}

std::uint64_t ends_of(const MpiEvent& event) {
  const MpiRecord& record = event.record;
  const MessageKind kind = message_kind(record.function());
  switch (record.shape()) {
    case Shape::kSend:
      return (record.peer >= 0 ? 1u : 0u) + (event.receive_half != nullptr || kind.starts_both ? 1u : 0u);
    case Shape::kReceive:
    case Shape::kPostReceive:
      return record.peer == instrument::kNoPeer || kind.receives_taken ? 0 : 1;
    case Shape::kProbe:
      return record.peer >= 0 && kind.takes_message ? 1 : 0;
    default:
      return 0;
  }
}
std::uint64_t count_ends(std::span<const MpiRecord> records) {
  std::uint64_t count = 0;
  for_each_call(records, [&](const MpiEvent& event) { count += ends_of(event); });
  return count;
}

}  // namespace

// Follows the records of one pack.
class RankCalls::Reader {
 public:
  Reader(RankCalls& rank, std::uint32_t number, Thread& thread, const PackRecords& pack, Arrivals& out)
      : rank_(rank), number_(number), thread_(thread), pack_(pack), out_(out) {}

  void read() {
    instrument::for_each_event(
        pack_.records, [this](const MpiEvent& event) { on_call(event); },
        [this](const CompletionRecord& record) { on_completion(record); },
        [this](const NeighbourExtension& part) { on_neighbour(part); },
        [this](const StartedExtension& record) { on_started(record); },
        [this](const SampledExtension& record) { on_sampled(record); },
        [this](const instrument::GroupExtension& group) { rank_.windows_.add(group); });
  }

 private:
  // Rounded, as transmitted (travel.hpp).
  [[nodiscard]] double ns(std::uint64_t tick) const {
    constexpr double kRounds = 0x1.8p52;  // below 2^51
    return static_cast<double>(static_cast<std::int64_t>(tick - pack_.origin_tick)) * pack_.ns_per_tick + kRounds -
           kRounds;
  }
  [[nodiscard]] Part part_of(const MpiEvent& event) const {
    const MpiRecord& record = event.record;
    Part part{};
    part.posted = part.begin = ns(record.begin);
    part.end = ns(record.begin + event.duration);
    part.operations = 1;
    part.rank = rank_.rank_;
    part.call_site = record.call_site;
    part.function = record.function();
    return part;
  }
  [[nodiscard]] CallMoments moments_of(const MpiEvent& event) const {
    const ThreadProgress begin{ns(event.record.begin), thread_.now.mpi, thread_.now.sampled};
    const double duration = static_cast<double>(event.duration) * pack_.ns_per_tick;
    return {begin, {begin.time + duration, begin.mpi + duration, begin.sampled}, thread_.last_wait};
  }

  void on_call(const MpiEvent& event) {
    rank_.end_completing(thread_, out_);
    thread_.call = moments_of(event);
    const bool asks = is_question(event.record);
    if (asks && !thread_.asks) thread_.asks_since = thread_.call.begin;
    thread_.asks = thread_.asks || asks;
    look_at(event);
    thread_.asks = asks;
    thread_.now = thread_.call.end;
    if (number_ == 0)
      rank_.timeline_.add_call(static_cast<std::int64_t>(thread_.call.begin.time),
                               static_cast<std::int64_t>(thread_.call.end.time), event.record.function(),
                               event.record.call_site);
    if (may_wait(event.record)) thread_.last_wait = thread_.call.end;
  }
  static bool is_question(const MpiRecord& record) {
    const Shape shape = record.shape();
    if (shape != Shape::kProbe && shape != Shape::kCompletes) return false;
    const MessageKind kind = message_kind(record.function());
    return shape == Shape::kProbe ? !kind.waits_for_message : kind.tests;
  }
  // See Part::asked. A rank that works between its questions does not wait for the answer.
  [[nodiscard]] float asked() const {
    constexpr double kMostWork = 0.2;  // of the time
    if (!thread_.asks) return 0;
    const double all = thread_.call.begin.time - thread_.asks_since.time;
    return thread_.call.begin.sampled - thread_.asks_since.sampled < kMostWork * all ? static_cast<float>(all) : 0;
  }
  static bool may_wait(const MpiRecord& record) {
    switch (record.shape()) {
      case Shape::kReceive:
        return true;
      case Shape::kCompletes:
        return !message_kind(record.function()).tests;
      default:
        return is_collective(record) && !is_nonblocking(record.function());
    }
  }
  void look_at(const MpiEvent& event) {
    const Shape shape = event.record.shape();
    if (is_collective(event.record)) return on_collective(event);
    if (shape == Shape::kCompletes) return begin_completing(event);
    if (RankWindows::follows(event.record))
      return rank_.windows_.add(event.record, part_of(event), thread_.call, thread_.samples);
    if (rank_.given_up_ != Reason::kNone) return rank_.count_given_up(ends_of(event));
    if (shape == Shape::kSend) return on_send(event);
    if (shape == Shape::kReceive) return on_receive(event);
    if (shape == Shape::kProbe) return on_probe(event);
    if (shape == Shape::kPostReceive && event.record.peer != instrument::kNoPeer &&
        !message_kind(event.record.function()).receives_taken)
      start_receive(event.record.begin, key_of(event.record));
  }

  void on_collective(const MpiEvent& event) {
    const MpiRecord& record = event.record;
    Comm& comm = rank_.comm_of(record.comm());
    const unsigned order = call_order(collective_kind(record.function()));
    if (comm.calls == std::array<std::uint64_t, kCallOrders>{}) comm.thread = number_;
    comm.several_threads = comm.several_threads || comm.thread != number_;
    Collective collective{part_of(event), std::uint64_t{order} << 56 | comm.calls[order]++, record.comm(),
                          record.function(), record.shape() == Shape::kRooted ? record.peer : -1};
    Stretch& stretch = collective.part.stretch;
    stretch = stretch_between(comm.has_ended ? comm.last : thread_.call.before, thread_.call.begin);
    if (stretch.sampled > 0)
      stretch.place = thread_.samples.draw(thread_.call.begin.time - stretch.all, thread_.call.begin.time);
    if (is_nonblocking(record.function())) return rank_.collectives_.add(record.begin, collective);
    if (collective_kind(record.function()) == CollectiveKind::kNeighbours) {
      // Its neighbours follow: treated as if it completed itself.
      begin_completing(event);
      thread_.left = 0;
      thread_.ended_collectives.push_back(collective);
      return;
    }
    comm.has_ended = true;
    comm.last = thread_.call.end;
    rank_.place(collective, out_);
  }

  void on_neighbour(const NeighbourExtension& part) {
    const Comm& comm = rank_.comm_of(part.comm);
    const std::uint64_t calls = comm.calls[call_order(CollectiveKind::kNeighbours)];
    if (calls == 0 || part.destination < 0 || comm.several_threads) return;
    rank_.place(ToNeighbour{calls - 1, part.comm, static_cast<std::uint32_t>(part.destination)}, out_);
  }

  void begin_completing(const MpiEvent& event) {
    thread_.completing = part_of(event);
    if (message_kind(event.record.function()).tests) {
      thread_.completing.end = thread_.completing.begin;
      thread_.completing.asked = asked();
    }
    thread_.is_completing = true;
    thread_.completing_call = thread_.call;
    thread_.left = event.record.tag;
  }

  static MessageKey key_of(const MpiRecord& record) { return {record.comm(), record.peer, record.tag}; }

  void on_send(const MpiEvent& event) {
    const MpiRecord& record = event.record;
    const MessageKind kind = message_kind(record.function());
    Part part = part_of(event);
    if (kind.starts_both) {
      start_receive(record.begin, {record.comm(), instrument::kAnySource, instrument::kAnyTag});
      part.end = part.begin;
    }
    if (event.receive_half != nullptr) {
      const auto half = instrument::as<ReceiveHalfExtension>(*event.receive_half);
      if (half.source >= 0) {
        if (record.peer >= 0) {
          part.operations = 2;
          part.call = ++rank_.calls_;
        }
        rank_.add_message(thread_, false, {record.comm(), half.source, half.tag}, part, thread_.call, out_);
      }
    }
    if (record.peer < 0) return;
    if (kind.starts && !kind.starts_both) return start_send(record.begin, key_of(record), kind, event.bytes);
    if (kind.is_buffered) part.end = part.begin;
    rank_.add_message(thread_, true, key_of(record), part, thread_.call, out_);
  }

  void on_receive(const MpiEvent& event) {
    if (event.record.peer < 0 || message_kind(event.record.function()).receives_taken) return;
    Part part = part_of(event);
    part.asked = asked();
    CallMoments call = thread_.call;
    const MessageKey key = key_of(event.record);
    if (rank_.probed_ && rank_.probed_->key == key) {
      // It was waited for there.
      const double posted = part.posted;
      part = rank_.probed_->part;
      part.posted = posted;
      call.begin = rank_.probed_->call.begin;
      call.before = rank_.probed_->call.before;
    }
    rank_.probed_.reset();
    rank_.add_message(thread_, false, key, part, call, out_);
  }

  void on_probe(const MpiEvent& event) {
    const MessageKind kind = message_kind(event.record.function());
    if (event.record.peer < 0) return;
    Part part = part_of(event);
    if (kind.takes_message) {
      if (!kind.waits_for_message) {
        part.end = part.begin;
        part.asked = asked();
      }
      rank_.add_message(thread_, false, key_of(event.record), part, thread_.call, out_);
    } else if (kind.waits_for_message) {
      rank_.probed_ = Probed{key_of(event.record), part, thread_.call};
    }
  }

  void start_send(std::uint64_t id, const MessageKey& key, const MessageKind& kind, std::uint64_t bytes) {
    Started started{};
    started.sends = true;
    started.never_waits = kind.is_buffered;
    started.is_short = bytes < kShortBytes && !kind.is_synchronous;
    start_message(id, started, rank_.sends_, key);
  }
  void start_receive(std::uint64_t id, const MessageKey& key) {
    Started started{};
    start_message(id, started, rank_.receives_, key);
  }
  void start_message(std::uint64_t id, Started& started, PostOrder& order, const MessageKey& key) {
    started.comm = key.comm;
    started.place = order.post(key, thread_.call);
    if (started.place != PostOrder::kNone) {
      rank_.started_.add(id, started);
      return;
    }
    rank_.give_up_messages(Reason::kBeyondRoom);
    rank_.count_given_up(1);
  }

  void on_started(const StartedExtension& record) {
    if (rank_.given_up_ != Reason::kNone) return rank_.count_given_up(record.peer == instrument::kNoPeer ? 0 : 1);
    const MpiRecord operation{0, 0, 0, 0, 0, 0, record.operation};
    const MessageKey key{operation.comm(), record.peer, record.tag};
    if (operation.shape() == Shape::kSend && record.peer >= 0) start_send(record.begin, key, {}, record.bytes);
    if (operation.shape() == Shape::kPostReceive && record.peer != instrument::kNoPeer)
      start_receive(record.begin, key);
  }

  void on_sampled(const SampledExtension& record) {
    thread_.now.sampled += static_cast<double>(record.weight);
    const std::uint32_t place = rank_.places_.number_of(number_, record);
    thread_.samples.add(ns(record.tick), record.weight, place);
    if (number_ == 0) rank_.timeline_.add_sample(static_cast<std::int64_t>(ns(record.tick)), record.weight, place);
  }

  void on_completion(const CompletionRecord& record) {
    if (const auto started = rank_.started_.take(record.post_begin)) {
      const bool cancelled = started->sends ? record.tag == instrument::kAnyTag : record.peer < 0;
      thread_.ended.push_back({*started, record.peer, record.tag, cancelled});
    } else if (const auto collective = rank_.collectives_.take(record.post_begin)) {
      thread_.ended_collectives.push_back(*collective);
    }
    if (--thread_.left == 0) rank_.end_completing(thread_, out_);
  }

  RankCalls& rank_;
  std::uint32_t number_;
  Thread& thread_;
  const PackRecords& pack_;
  Arrivals& out_;
};

void RankCalls::count_on(blackboard::Blackboard& board) {
  board_ = &board;
  early_bytes_.count_on(board);
  windows_.count_on(board);
}

RankCalls::Thread& RankCalls::thread_of(std::uint32_t number) {
  const auto [thread, is_new] = threads_.try_emplace(number);
  if (is_new && board_ != nullptr) thread->second.packs.count_on(*board_);
  return thread->second;
}

void RankCalls::add(std::uint32_t number, std::uint64_t order, const PackRecords& pack, Arrivals& out) {
  Thread& thread = thread_of(number);
  if (!thread.has_called && std::ranges::any_of(pack.records, is_call)) {
    thread.has_called = true;
    ++calling_threads_;
  }
  if (calling_threads_ > 1) give_up_messages(Reason::kSeveralThreads);
  const auto deliver_kept = [&](const KeptPack& kept, bool after_gap) {
    deliver(number, thread, kept, after_gap, out);
  };
  if (thread.packs.take(order)) {
    deliver(number, thread, pack, false, out);
    thread.packs.deliver_ready(deliver_kept);
  } else {
    thread.packs.add(order, KeptPack{{pack.records.begin(), pack.records.end()}, pack}, pack.records.size_bytes(),
                     deliver_kept);
  }
}

void RankCalls::deliver(std::uint32_t number, Thread& thread, const KeptPack& kept, bool after_gap, Arrivals& out) {
  PackRecords pack = kept.pack;
  pack.records = kept.records;
  deliver(number, thread, pack, after_gap, out);
}

void RankCalls::give_up_missing(Arrivals& out) {
  for (auto& [number, thread] : threads_)
    thread.packs.give_up_missing([&, number = number, &of = thread](const KeptPack& kept, bool after_gap) {
      deliver(number, of, kept, after_gap, out);
    });
  windows_.give_up_missing();
  unresolved_calls_.add(early(false));
  unresolved_ends_.add(early(true));
  early_.clear();
  early_bytes_.clear();
}

void RankCalls::deliver(std::uint32_t number, Thread& thread, const PackRecords& pack, bool after_gap, Arrivals& out) {
  if (pack.several_threads) give_up_messages(Reason::kSeveralThreads);
  if (pack.several_threads || calling_threads_ > 1) windows_.give_up(&Unresolved::of_no_kind);
  if ((pack.folded || after_gap) && !folded_) {
    folded_ = true;
    end_completing(thread, out);
    give_up_messages(Reason::kFolded);
    windows_.give_up(&Unresolved::folded);
    unresolved_calls_.folded += collectives_.size();
    collectives_.clear();
  }
  if (folded_) {
    unresolved_calls_.folded += count_collectives(pack.records);
    windows_.count(pack.records);
    return count_given_up(count_ends(pack.records));
  }
  Reader(*this, number, thread, pack, out).read();
}

void RankCalls::end_completing(Thread& thread, Arrivals& out) {
  if (!thread.is_completing) return;
  thread.is_completing = false;
  thread.asks = thread.asks && thread.ended.empty();
  Part part = thread.completing;
  const std::size_t collectives = thread.ended_collectives.size();
  const auto count = [&](bool Ended::*kind) {
    return static_cast<std::size_t>(std::ranges::count(thread.ended, false, kind));
  };
  // Short sends wait for their receivers only when alone; with other operations the call waits for those.
  const bool has_others = collectives != 0 || std::ranges::any_of(thread.ended, [](const Ended& each) {
                            return !each.cancelled && !(each.started.sends && each.started.is_short);
                          });
  for (Ended& each : thread.ended) {
    const Started& started = each.started;
    each.never_waits = each.cancelled || (started.sends && (started.never_waits || (started.is_short && has_others)));
  }
  part.operations = static_cast<std::uint32_t>(count(&Ended::never_waits) + collectives);
  if (part.operations > 1) part.call = ++calls_;
  for (const Ended& each : thread.ended) end_message(thread, each, part, out);
  for (Collective& each : thread.ended_collectives) {
    part.posted = each.part.posted;
    part.stretch = each.part.stretch;
    each.part = part;
    Comm& comm = comm_of(each.comm);
    comm.has_ended = true;
    comm.last = thread.completing_call.end;
    place(each, out);
  }
  thread.ended.clear();
  thread.ended_collectives.clear();
}

void RankCalls::end_message(Thread& thread, const Ended& ended, Part part, Arrivals& out) {
  if (given_up_ != Reason::kNone) return;
  const Started& started = ended.started;
  PostOrder& order = started.sends ? sends_ : receives_;
  if (ended.never_waits) {
    part.end = part.begin;
    part.operations = 1;
    part.call = 0;
  }
  if (!ended.cancelled && !started.sends) part.order = comm_of(started.comm).receives_ended++;
  if (ended.cancelled) {
    order.cancel(started.place, in_order_);
  } else {
    order.end(started.place, ended.peer, ended.tag, part, thread.completing_call, in_order_);
  }
  pass_on(thread, started.sends, out);
}

void RankCalls::add_message(Thread& thread, bool sends, const MessageKey& key, Part part, const CallMoments& call,
                            Arrivals& out) {
  if (given_up_ != Reason::kNone) return count_given_up(1);
  if (!sends) part.order = comm_of(key.comm).receives_ended++;
  if ((sends ? sends_ : receives_).add(key, part, call, in_order_)) return pass_on(thread, sends, out);
  give_up_messages(Reason::kBeyondRoom);
  count_given_up(1);
}

void RankCalls::pass_on(const Thread& thread, bool sends, Arrivals& out) {
  for (const EndInOrder& end : in_order_) {
    Stretch& stretch = end.part->stretch;
    if (stretch.sampled > 0) {
      const double to = sends ? end.part->posted : end.part->begin;
      stretch.place = thread.samples.draw(to - stretch.all, to);
    }
    end.part->clock_error = static_cast<float>(clock_error_);
    place({end.key, sends, end.queue}, *end.part, out);
  }
  in_order_.clear();
}

void RankCalls::place(const Collective& call, Arrivals& out) {
  const Comm& comm = comm_of(call.comm);
  if (comm.several_threads || !comm.within_world || call.comm >= instrument::kUnnamedComm) {
    ++unresolved_calls_.of_no_kind;
    if (call.part.operations > 1) out.add(OfNoKind{call.part});
  } else if (comm.defined) {
    out.add(
        InCollective{{comm.identity, call.number}, call.function, {with_error(call.part), comm.own_rank, call.root}});
  } else {
    keep(call.comm, call);
  }
}

void RankCalls::place(const ToNeighbour& pair, Arrivals& out) {
  const Comm& comm = comm_of(pair.comm);
  if (comm.several_threads || !comm.within_world || pair.comm >= instrument::kUnnamedComm) return;
  if (comm.defined) {
    out.add(NeighbourPair{{comm.identity, pair.number}, {comm.own_rank, pair.destination}});
  } else {
    keep(pair.comm, pair);
  }
}

void RankCalls::place(const MessageEnd& message, const Part& part, Arrivals& out) {
  const Comm& comm = comm_of(message.key.comm);
  if (!comm.within_world || message.key.comm >= instrument::kUnnamedComm) {
    ++unresolved_ends_.of_no_kind;
    if (part.operations > 1) out.add(OfNoKind{part});
  } else if (comm.defined) {
    const auto other = static_cast<std::uint32_t>(message.key.peer);
    const std::uint32_t source = message.sends ? comm.own_rank : other,
                        destination = message.sends ? other : comm.own_rank;
    out.add(EndOfMessage{{comm.identity, source, destination, message.key.tag}, message.sends, message.queue, part});
  } else {
    keep(message.key.comm, EarlyMessage{message, part});
  }
}

void RankCalls::keep(std::uint32_t comm, const Early& early) {
  early_[comm].push_back(early);
  early_bytes_.add(sizeof early);
}

std::vector<RankCalls::Early> RankCalls::take_early(std::uint32_t comm) {
  const auto found = early_.extract(comm);
  if (!found) return {};
  early_bytes_.remove(found.mapped().size() * sizeof(Early));
  return std::move(found.mapped());
}

// messages: of messages, else of calls.
Unresolved RankCalls::early(bool messages) const {
  Unresolved sum;
  for (const auto& [comm, list] : early_) {
    for (const Early& each : list)
      sum.incomplete +=
          messages ? std::holds_alternative<EarlyMessage>(each) : std::holds_alternative<Collective>(each);
  }
  return sum;
}

void RankCalls::define(const CommDefinition& definition, Arrivals& out) {
  windows_.define(definition.number, definition.identity, definition.own_rank, definition.within_world);
  Comm& comm = comm_of(definition.number);
  if (comm.defined) return;
  comm.defined = true;
  comm.identity = definition.identity;
  comm.own_rank = definition.own_rank;
  comm.within_world = definition.within_world;
  for (Early& each : take_early(definition.number)) {
    if (auto* const message = std::get_if<EarlyMessage>(&each)) {
      message->part.clock_error = static_cast<float>(clock_error_);
      place(message->end, message->part, out);
    } else if (const auto* const pair = std::get_if<ToNeighbour>(&each)) {
      place(*pair, out);
    } else {
      place(std::get<Collective>(each), out);
    }
  }
}

void RankCalls::add_init_and_finalize(Arrivals& out) {
  for (auto& [number, thread] : threads_) end_completing(thread, out);
  if (has_init_and_finalize_ || world_ranks_ == 0) return;
  has_init_and_finalize_ = true;
  const CommIdentity world{0, 0, world_ranks_};
  const auto tell = [&](vmpi::FunctionId function, const Part& part) {
    const auto number = static_cast<std::uint32_t>(function);
    out.add(InCollective{{world, number}, number, {with_error(part), rank_, -1}});
  };
  Part part{};
  part.operations = 1;
  part.rank = rank_;
  if (init_) {
    part.posted = part.begin = init_->first;
    part.end = init_->second;
    part.function = static_cast<std::uint32_t>(vmpi::FunctionId::kInit);
    tell(vmpi::FunctionId::kInit, part);
  }
  if (!finalize_) return;
  timeline_.end_at(static_cast<std::int64_t>(*finalize_));
  constexpr double kNotKnown = 4e15;  // time of leaving: after the last arrival
  part.posted = part.begin = *finalize_;
  part.end = std::max(kNotKnown, *finalize_);
  part.function = static_cast<std::uint32_t>(vmpi::FunctionId::kFinalize);
  if (const auto thread = threads_.find(0); thread != threads_.end() && !folded_) {
    const ThreadProgress now{*finalize_, thread->second.now.mpi, thread->second.now.sampled};
    part.stretch = stretch_between(thread->second.last_wait, now);
    if (part.stretch.sampled > 0)
      part.stretch.place = thread->second.samples.draw(now.time - part.stretch.all, now.time);
  }
  tell(vmpi::FunctionId::kFinalize, part);
}

void RankCalls::give_up_messages(Reason reason) {
  if (given_up_ != Reason::kNone) return;
  given_up_ = reason;
  count_given_up(sends_.size() + receives_.size());
  sends_ = PostOrder(PostOrder::Of::kSends);
  receives_ = PostOrder(PostOrder::Of::kReceives);
  probed_.reset();
  started_.clear();
}

void RankCalls::count_given_up(std::uint64_t ends) {
  switch (given_up_) {
    case Reason::kNone:
      return;
    case Reason::kFolded:
      unresolved_ends_.folded += ends;
      return;
    case Reason::kBeyondRoom:
      unresolved_ends_.beyond_room += ends;
      return;
    case Reason::kSeveralThreads:
      unresolved_ends_.of_no_kind += ends;
      return;
  }
}

Unresolved RankCalls::unresolved_calls() const {
  Unresolved sum = unresolved_calls_;
  sum.add(windows_.unresolved());
  sum.add(early(false));
  sum.incomplete += collectives_.size();
  for (const auto& [number, thread] : threads_) {
    thread.packs.for_each_waiting([&](std::uint64_t, const KeptPack& kept) {
      sum.folded += count_collectives(kept.records) + RankWindows::epochs_in(kept.records);
    });
  }
  return sum;
}

Unresolved RankCalls::unresolved_ends() const {
  Unresolved sum = unresolved_ends_;
  sum.add(early(true));
  sum.incomplete += sends_.size() + receives_.size();
  for (const auto& [number, thread] : threads_) {
    thread.packs.for_each_waiting([&](std::uint64_t, const KeptPack& kept) { sum.folded += count_ends(kept.records); });
  }
  return sum;
}

}  // namespace ardoise::knowledge_sources
