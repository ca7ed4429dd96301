#include "tools/replay/replay_comms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ardoise::replay {

using vmpi::ArgumentKind;
using vmpi::FunctionId;

namespace {

int integer(const CallShape& shape, std::size_t place) {
  const auto integers = Lists(shape).find(list_of(ArgumentKind::kInteger));
  return place < integers.size() ? static_cast<int>(integers[place]) : 0;
}

std::vector<int> as_ints(std::span<const std::int64_t> values) {
  std::vector<int> ints;
  for (const std::int64_t value : values) ints.push_back(static_cast<int>(value));
  return ints;
}

// Position of a process in a communicator of the archive.
int place_in(const std::vector<std::int32_t>& members, std::int32_t rank) {
  return static_cast<int>(std::ranges::find(members, rank) - members.begin());
}

}  // namespace

ReplayComms::ReplayComms(const ArchiveWorld& world, std::int32_t rank, const std::set<std::uint32_t>& made_by_calls,
                         bool has_threads)
    : world_(world), rank_(rank), has_threads_(has_threads) {
  const auto is_member = [&](const ReplayComm& comm) {
    return std::ranges::count(comm.members, rank) + std::ranges::count(comm.others, rank) != 0;
  };
  std::vector<int> all_made;
  for (const ReplayComm& comm : world.comms())
    all_made.push_back(!is_member(comm) || made_by_calls.contains(comm.number) ? 1 : 0);
  PMPI_Allreduce(MPI_IN_PLACE, all_made.data(), static_cast<int>(all_made.size()), MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  std::size_t place = 0;
  for (const ReplayComm& comm : world.comms()) {
    const bool is_made = all_made[place++] != 0 && comm.number != world.number();
    if (is_made) by_calls_.insert(comm.number);
    if (comm.number == world.number()) {
      put(comm.number, MPI_COMM_WORLD);
    } else if (comm.is_self) {
      put(comm.number, MPI_COMM_SELF);
    } else if (!is_made && is_member(comm)) {
      make_before(comm);
    }
  }
}

void ReplayComms::put(std::uint32_t number, MPI_Comm comm) {
  {
    const std::lock_guard guard(lock_);
    comms_[number] = comm;
  }
  made_.notify_all();
}

MPI_Comm ReplayComms::wait_for(std::uint32_t number) {
  std::unique_lock guard(lock_);
  const auto is_there = [&] { return find(number) != MPI_COMM_NULL; };
  if (!is_there() && !has_threads_)
    throw ReplayError(fmt::format("the trace uses communicator {}, but no call creates it", number));
  made_.wait(guard, is_there);
  return find(number);
}

MPI_Group ReplayComms::group_of(std::span<const std::int32_t> world_ranks) const {
  MPI_Group all = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Group_incl(all, static_cast<int>(world_ranks.size()), world_ranks.data(), &group);
  PMPI_Group_free(&all);
  return group;
}

void ReplayComms::make_before(const ReplayComm& comm) {
  const bool is_first = std::ranges::find(comm.members, rank_) != comm.members.end();
  const auto& side = is_first ? comm.members : comm.others;
  const int tag = static_cast<int>(comm.number % 30000);
  MPI_Group group = group_of(side);
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &made);
  PMPI_Group_free(&group);
  if (comm.is_inter()) {
    MPI_Comm local = made;
    const auto& other_side = is_first ? comm.others : comm.members;
    PMPI_Intercomm_create(local, 0, MPI_COMM_WORLD, other_side[0], tag, &made);
    PMPI_Comm_free(&local);
  } else if (const ReplayGrid* const grid = world_.grid(comm.number)) {
    MPI_Comm plain = made;
    PMPI_Cart_create(plain, static_cast<int>(grid->dimensions.size()), grid->dimensions.data(), grid->periods.data(), 0,
                     &made);
    PMPI_Comm_free(&plain);
  }
  put(comm.number, made);
}

// Into the recorded communicator: the same members in the same order.
MPI_Comm ReplayComms::split(MPI_Comm parent, const ReplayComm* made, bool is_programs) const {
  MPI_Comm comm = MPI_COMM_NULL;
  const bool is_in = made != nullptr;
  // Communicators of one process share one number in the archive, that of MPI_COMM_SELF.
  const bool is_alone = is_in && made->is_self;
  const int colour = is_alone ? INT32_MAX - rank_ : is_in ? static_cast<int>(made->number) : MPI_UNDEFINED;
  (is_programs ? MPI_Comm_split : PMPI_Comm_split)(parent, colour,
                                                   is_in && !is_alone ? place_in(made->members, rank_) : 0, &comm);
  return comm;
}

// True: the new communicator has the ranks of its parent. Otherwise its non-members have no record of it.
bool ReplayComms::keeps_order(const CallShape& shape, const ReplayComm& made) const {
  const ReplayComm* const parent = world_.comm(shape.comm);
  return parent != nullptr && !parent->is_inter() && made.members == parent->members;
}

MPI_Comm ReplayComms::make(const CallShape& shape, const ReplayComm* made, MPI_Comm parent, MPI_Request* request) {
  MPI_Comm comm = MPI_COMM_NULL;
  const Lists lists(shape);
  const ReplayGrid* const grid = made != nullptr ? world_.grid(made->number) : nullptr;
  const auto to_grid = [&](MPI_Comm of) {
    if (grid != nullptr)
      MPI_Cart_create(of, static_cast<int>(grid->dimensions.size()), grid->dimensions.data(), grid->periods.data(), 0,
                      &comm);
  };
  switch (static_cast<FunctionId>(shape.function)) {
    case FunctionId::kComm_dup:
    case FunctionId::kComm_dup_with_info:
      MPI_Comm_dup(parent, &comm);
      return comm;
    case FunctionId::kComm_idup:
    case FunctionId::kComm_idup_with_info:
      // The trace has the new communicator only when it is used, so it was made beforehand; this duplicate is unused.
      // Its request is not in the trace; the program waited for it before it made another one.
      finish_duplicates();
      {
        const std::lock_guard guard(lock_);
        auto& [duplicate, own] = duplicates_.emplace_back(MPI_COMM_NULL, MPI_REQUEST_NULL);
        MPI_Comm_idup(parent, &duplicate, request != nullptr ? request : &own);
      }
      return comm;
    case FunctionId::kComm_create:
    case FunctionId::kComm_create_group: {
      MPI_Group group = made == nullptr ? MPI_GROUP_EMPTY
                        : made->is_self ? group_of(std::span(&rank_, 1))
                                        : group_of(made->members);
      if (static_cast<FunctionId>(shape.function) == FunctionId::kComm_create) {
        MPI_Comm_create(parent, group, &comm);
      } else if (made != nullptr) {
        MPI_Comm_create_group(parent, group, integer(shape, 0), &comm);
      }
      if (group != MPI_GROUP_EMPTY) PMPI_Group_free(&group);
      return comm;
    }
    case FunctionId::kIntercomm_create: {
      const auto other = lists.find(list_of(ArgumentKind::kOtherCommunicator));
      const MPI_Comm bridge = other.empty() ? MPI_COMM_NULL : get(static_cast<std::uint32_t>(other[0]));
      MPI_Intercomm_create(parent, integer(shape, 0), bridge, integer(shape, 1), integer(shape, 2), &comm);
      return comm;
    }
    case FunctionId::kIntercomm_merge:
      MPI_Intercomm_merge(parent, integer(shape, 0), &comm);
      return comm;
    case FunctionId::kCart_create:
      if (made != nullptr && keeps_order(shape, *made)) {
        to_grid(parent);
        return comm;
      }
      [[fallthrough]];
    case FunctionId::kCart_sub: {
      MPI_Comm plain = split(parent, made, false);
      if (grid == nullptr || plain == MPI_COMM_NULL) return plain;
      to_grid(plain);
      PMPI_Comm_free(&plain);
      return comm;
    }
    case FunctionId::kGraph_create:
    case FunctionId::kDist_graph_create:
    case FunctionId::kDist_graph_create_adjacent: {
      MPI_Comm plain = split(parent, made, false);
      if (plain == MPI_COMM_NULL || made->has_absent) return plain;
      const std::vector<int> sources = as_ints(lists.find(list_of(ArgumentKind::kSources)));
      const std::vector<int> destinations = as_ints(lists.find(list_of(ArgumentKind::kDestinations)));
      MPI_Dist_graph_create_adjacent(plain, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                                     static_cast<int>(destinations.size()), destinations.data(), MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &comm);
      PMPI_Comm_free(&plain);
      return comm;
    }
    default:
      return split(parent, made, true);
  }
}

void ReplayComms::finish_duplicates() {
  const std::lock_guard guard(lock_);
  for (auto& [duplicate, request] : duplicates_) PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

void ReplayComms::play(const CallShape& shape, MPI_Request* request) {
  const auto function = static_cast<FunctionId>(shape.function);
  if (function == FunctionId::kComm_free || function == FunctionId::kComm_disconnect) {
    MPI_Comm comm = take(shape.comm);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    return;
  }
  if (shape.object != kNothing && !is_made_by_call(shape.object)) return;
  const ReplayComm* const made = shape.object != kNothing ? world_.comm(shape.object) : nullptr;
  const MPI_Comm comm = make(shape, made, get(shape.comm), request);
  if (made == nullptr || comm == MPI_COMM_NULL) return;
  if (!made->is_self) return put(made->number, comm);
  const std::lock_guard guard(lock_);
  alone_.push_back(comm);
}

// Returns a communicator to be freed; MPI_COMM_NULL: unknown.
MPI_Comm ReplayComms::take(std::uint32_t number) {
  const ReplayComm* const known = world_.comm(number);
  const bool is_alone = known != nullptr && known->is_self;
  if (known == nullptr || number == world_.number()) return MPI_COMM_NULL;
  MPI_Comm comm = is_alone ? MPI_COMM_NULL : get(number);
  const std::lock_guard guard(lock_);
  if (!is_alone) {
    comms_[number] = MPI_COMM_NULL;
  } else if (!alone_.empty()) {
    comm = alone_.back();
    alone_.pop_back();
  }
  return comm;
}

}  // namespace ardoise::replay
