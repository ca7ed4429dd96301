// See rank_calls.hpp.
#include "knowledge_sources/waits/rank_calls.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {

void RankCalls::add(std::uint32_t thread, std::uint64_t order, PackCollectives pack, std::vector<Arrived>& out) {
  const std::size_t weight = 1 + pack.calls.size();
  threads_[thread].add(order, std::move(pack), weight,
                       [&](const PackCollectives& each, bool after_gap) { deliver(thread, each, after_gap, out); });
}

void RankCalls::deliver(std::uint32_t thread, const PackCollectives& pack, bool after_gap, std::vector<Arrived>& out) {
  folded_ = folded_ || pack.folded || after_gap;
  if (folded_) {
    unresolved_.folded += pack.calls.size();
    return;
  }
  for (const Collective& call : pack.calls) {
    Comm& comm = comms_[call.comm];
    if (comm.count == 0) comm.thread = thread;
    comm.several_threads = comm.several_threads || comm.thread != thread;
    place(comm, call, comm.count++, out);
  }
}

void RankCalls::place(const Comm& comm, const Collective& call, std::uint64_t number, std::vector<Arrived>& out) {
  if (comm.several_threads || comm.is_inter || call.comm >= instrument::kUnnamedComm) {
    ++unresolved_.of_no_kind;
  } else if (comm.defined) {
    out.push_back({{comm.identity, number},
                   call.function,
                   {call.begin, call.end, clock_error_, rank_, comm.own_rank, call.root, call.call_site}});
  } else if (early_.size() < kMostEarly) {
    early_.push_back({call, number});
  } else {
    ++unresolved_.beyond_room;
  }
}

void RankCalls::place_early(std::vector<Arrived>& out) {
  std::vector<Early> waiting;
  waiting.swap(early_);
  for (const Early& early : waiting) place(comms_[early.call.comm], early.call, early.number, out);
}

void RankCalls::define(std::uint32_t number, const CommIdentity& identity, std::uint32_t own_rank, bool is_inter,
                       std::vector<Arrived>& out) {
  Comm& comm = comms_[number];
  if (comm.defined) return;
  comm.defined = true;
  comm.identity = identity;
  comm.own_rank = own_rank;
  comm.is_inter = is_inter || identity.size == 0;
  place_early(out);
}

void RankCalls::merge(const RankCalls& other, std::vector<Arrived>& out) {
  clock_error_ = std::max(clock_error_, other.clock_error_);
  folded_ = folded_ || other.folded_;
  unresolved_.add(other.unresolved_);
  early_.insert(early_.end(), other.early_.begin(), other.early_.end());
  for (const auto& [number, theirs] : other.comms_) {
    Comm& ours = comms_[number];
    ours.several_threads = ours.several_threads || theirs.several_threads || (ours.count != 0 && theirs.count != 0);
    if (ours.count == 0) ours.thread = theirs.thread;
    ours.count += theirs.count;
    if (ours.defined || !theirs.defined) continue;
    ours.defined = true;
    ours.identity = theirs.identity;
    ours.own_rank = theirs.own_rank;
    ours.is_inter = theirs.is_inter;
  }
  place_early(out);
  for (const auto& [thread, theirs] : other.threads_) {
    threads_[thread].merge(
        theirs, [](const PackCollectives& pack) { return 1 + pack.calls.size(); },
        [&, number = thread](const PackCollectives& pack, bool after_gap) { deliver(number, pack, after_gap, out); });
  }
}

UnresolvedCalls RankCalls::unresolved() const {
  UnresolvedCalls sum = unresolved_;
  sum.incomplete += early_.size();
  for (const auto& [number, thread] : threads_) {
    thread.for_each_waiting([&](std::uint64_t, const PackCollectives& pack) { sum.folded += pack.calls.size(); });
  }
  return sum;
}

void RankCalls::write(ByteWriter& out) const {
  out.put(clock_error_);
  out.put(std::uint32_t{folded_});
  out.put(unresolved_);
  out.put_array(std::span<const Early>(early_));
  out.put_count(comms_.size());
  for (const auto& [number, comm] : comms_) {
    out.put(number);
    out.put(comm.count);
    out.put(comm.identity);
    out.put(comm.own_rank);
    out.put(comm.thread);
    out.put(std::array<std::uint8_t, 4>{comm.defined, comm.is_inter, comm.several_threads, 0});
  }
  out.put_count(threads_.size());
  for (const auto& [number, thread] : threads_) {
    std::vector<std::pair<std::uint64_t, const PackCollectives*>> waiting;
    thread.for_each_waiting(
        [&](std::uint64_t order, const PackCollectives& pack) { waiting.emplace_back(order, &pack); });
    out.put(number);
    out.put(thread.next());
    out.put_count(waiting.size());
    for (const auto& [order, pack] : waiting) {
      out.put(order);
      out.put(std::uint32_t{pack->folded});
      out.put_array(std::span<const Collective>(pack->calls));
    }
  }
}

void RankCalls::read(ByteReader& in) {
  clock_error_ = in.get<double>();
  folded_ = in.get<std::uint32_t>() != 0;
  unresolved_ = in.get<UnresolvedCalls>();
  early_ = in.get_array<Early>();
  in.check(early_.size() <= kMostEarly, "has too many calls of communicators that are not defined");
  for (auto left = in.get_count(40); left != 0; --left) {
    const auto number = in.get<std::uint32_t>();
    Comm& comm = comms_[number];
    comm.count = in.get<std::uint64_t>();
    comm.identity = in.get<CommIdentity>();
    comm.own_rank = in.get<std::uint32_t>();
    comm.thread = in.get<std::uint32_t>();
    const auto flags = in.get<std::array<std::uint8_t, 4>>();
    comm.defined = flags[0] != 0;
    comm.is_inter = flags[1] != 0 || comm.identity.size == 0;
    comm.several_threads = flags[2] != 0;
  }
  for (auto left = in.get_count(20); left != 0; --left) {
    const auto number = in.get<std::uint32_t>();
    auto& thread = threads_[number];
    thread.start_at(in.get<std::uint64_t>());
    for (auto packs = in.get_count(20); packs != 0; --packs) {
      const auto order = in.get<std::uint64_t>();
      PackCollectives pack;
      pack.folded = in.get<std::uint32_t>() != 0;
      pack.calls = in.get_array<Collective>();
      in.check(order > thread.next(), "has a pack that should have been taken");
      thread.keep(order, std::move(pack));
    }
  }
}

}  // namespace ardoise::knowledge_sources
