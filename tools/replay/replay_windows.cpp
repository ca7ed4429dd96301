#include "tools/replay/replay_windows.hpp"

#include <vector>

namespace ardoise::replay {

using vmpi::ArgumentKind;
using vmpi::FunctionId;

MPI_Win ReplayWindows::get(std::uint32_t number) {
  const std::lock_guard guard(lock_);
  const auto found = windows_.find(number);
  return found == windows_.end() ? MPI_WIN_NULL : found->second.handle;
}

void ReplayWindows::make(const CallShape& shape, const Lists& lists) {
  const auto* const window = world_.definitions().windows.find(shape.object);
  if (window == nullptr) return;
  const MPI_Comm comm = comms_.get(window->comm);
  const auto sizes = lists.find(list_of(ArgumentKind::kAddress));
  const auto units = lists.find(list_of(ArgumentKind::kInteger));
  const MPI_Aint size = sizes.empty() ? 0 : static_cast<MPI_Aint>(sizes[0]);
  const int unit = units.empty() ? 1 : static_cast<int>(units[0]);
  void* base = nullptr;
  MPI_Win made = MPI_WIN_NULL;
  std::unique_ptr<ReplayBuffer> memory;
  if (static_cast<FunctionId>(shape.function) == FunctionId::kWin_create) {
    memory = std::make_unique<ReplayBuffer>();
    base = memory->at({0, static_cast<std::int64_t>(size)});
    MPI_Win_create(base, size, unit, MPI_INFO_NULL, comm, &made);
  } else if (static_cast<FunctionId>(shape.function) == FunctionId::kWin_allocate_shared) {
    MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, comm, static_cast<void*>(&base), &made);
  } else {
    MPI_Win_allocate(size, unit, MPI_INFO_NULL, comm, static_cast<void*>(&base), &made);
  }
  const std::lock_guard guard(lock_);
  windows_.insert_or_assign(shape.object, Window{made, std::move(memory), false});
}

// Ranks of the window's group that are in the group of the call.
MPI_Group ReplayWindows::group_of(MPI_Win window, const Lists& lists) const {
  MPI_Group all = MPI_GROUP_NULL, world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  PMPI_Win_get_group(window, &all);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> world_ranks, ranks;
  for (const std::int64_t rank : lists.find(ListKind::kGroup)) world_ranks.push_back(static_cast<int>(rank));
  ranks.resize(world_ranks.size());
  PMPI_Group_translate_ranks(world, static_cast<int>(ranks.size()), world_ranks.data(), all, ranks.data());
  PMPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group);
  PMPI_Group_free(&all);
  PMPI_Group_free(&world);
  return group;
}

void ReplayWindows::play(const CallShape& shape, const Lists& lists) {
  const auto function = static_cast<FunctionId>(shape.function);
  if (function == FunctionId::kWin_create || function == FunctionId::kWin_allocate ||
      function == FunctionId::kWin_allocate_shared)
    return make(shape, lists);
  MPI_Win window = get(shape.object);
  if (window == MPI_WIN_NULL) return;
  switch (function) {
    case FunctionId::kWin_free: {
      MPI_Win_free(&window);
      const std::lock_guard guard(lock_);
      windows_.erase(shape.object);
      return;
    }
    case FunctionId::kWin_fence:
      MPI_Win_fence(0, window);
      return;
    case FunctionId::kWin_post:
    case FunctionId::kWin_start: {
      MPI_Group group = group_of(window, lists);
      if (function == FunctionId::kWin_post) {
        MPI_Win_post(group, 0, window);
      } else {
        MPI_Win_start(group, 0, window);
      }
      PMPI_Group_free(&group);
      return;
    }
    case FunctionId::kWin_complete:
      MPI_Win_complete(window);
      return;
    case FunctionId::kWin_wait:
    case FunctionId::kWin_test: {
      const bool ends = function == FunctionId::kWin_wait || (shape.flags & CallShape::kAnswer) != 0;
      const std::lock_guard guard(lock_);
      Window& state = windows_.at(shape.object);
      int flag = 0;
      if (!state.is_tested && !ends) MPI_Win_test(window, &flag);
      if (!state.is_tested && ends) MPI_Win_wait(window);
      state.is_tested = !ends && (state.is_tested || flag != 0);
      return;
    }
    case FunctionId::kWin_lock:
      MPI_Win_lock((shape.flags & CallShape::kExclusive) != 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, shape.peer, 0,
                   window);
      return;
    case FunctionId::kWin_unlock:
      MPI_Win_unlock(shape.peer, window);
      return;
    case FunctionId::kWin_lock_all:
      MPI_Win_lock_all(0, window);
      return;
    case FunctionId::kWin_unlock_all:
      MPI_Win_unlock_all(window);
      return;
    case FunctionId::kWin_flush:
      MPI_Win_flush(shape.peer, window);
      return;
    case FunctionId::kWin_flush_all:
      MPI_Win_flush_all(window);
      return;
    case FunctionId::kWin_flush_local:
      MPI_Win_flush_local(shape.peer, window);
      return;
    case FunctionId::kWin_flush_local_all:
      MPI_Win_flush_local_all(window);
      return;
    case FunctionId::kWin_sync:
      MPI_Win_sync(window);
      return;
    default:
      return;
  }
}

}  // namespace ardoise::replay
