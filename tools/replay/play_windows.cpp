// Data movement in windows.
#include <algorithm>

#include "tools/replay/player.hpp"

namespace ardoise::replay {

using vmpi::ArgumentKind;
using vmpi::FunctionId;

void Player::make_one_sided(const CallShape& shape, const Lists& lists, std::uint32_t slot) {
  const vmpi::Role role = vmpi::kFunctionTraits[shape.function].role;
  if (role != vmpi::Role::kPut && role != vmpi::Role::kGet) return stage_.windows.play(shape, lists);
  const MPI_Win window = stage_.windows.get(shape.object);
  if (window == MPI_WIN_NULL || shape.peer < 0) return pass(slot);
  const auto places = lists.find(list_of(ArgumentKind::kAddress));
  const auto counts = lists.find(list_of(ArgumentKind::kInteger));
  const MPI_Aint place = places.empty() ? 0 : static_cast<MPI_Aint>(places[0]);
  const auto count = static_cast<int>(shape.count);
  const int target_count = counts.empty() ? count : static_cast<int>(counts[0]);
  const ReplayType& type = stage_.types[shape.type];
  const ReplayType& target_type = stage_.types[shape.other_type];
  const ReplayType& result_type = stage_.types[shape.receive_type];
  const Extent touched = extent(std::max(count, 1), type);
  const Extent result_touched =
      extent(std::max<std::int64_t>(shape.receive_count, 1), shape.receive_type != 0 ? result_type : type);
  const bool reads = static_cast<FunctionId>(shape.function) == FunctionId::kGet ||
                     static_cast<FunctionId>(shape.function) == FunctionId::kRget;
  void* const buffer = slot != kNothing ? buffers_.own(slot, reads, touched)
                       : reads          ? buffers_.receive(touched)
                                        : buffers_.send(touched);
  void* const result = slot != kNothing ? buffers_.own(slot, true, result_touched) : buffers_.result(result_touched);
  // One-sided operations are predefined, and may be used with derived datatypes.
  MPI_Op how = predefined_operation(shape.operation);
  if (how == MPI_OP_NULL || shape.type == 0) how = MPI_REPLACE;
  MPI_Request* const request = slot != kNothing ? begin(slot) : nullptr;
  const int target = shape.peer;
  switch (static_cast<FunctionId>(shape.function)) {
    case FunctionId::kPut:
      MPI_Put(buffer, count, type.handle, target, place, target_count, target_type.handle, window);
      break;
    case FunctionId::kGet:
      MPI_Get(buffer, count, type.handle, target, place, target_count, target_type.handle, window);
      break;
    case FunctionId::kAccumulate:
      MPI_Accumulate(buffer, count, type.handle, target, place, target_count, target_type.handle, how, window);
      break;
    case FunctionId::kRput:
      MPI_Rput(buffer, count, type.handle, target, place, target_count, target_type.handle, window, request);
      break;
    case FunctionId::kRget:
      MPI_Rget(buffer, count, type.handle, target, place, target_count, target_type.handle, window, request);
      break;
    case FunctionId::kRaccumulate:
      MPI_Raccumulate(buffer, count, type.handle, target, place, target_count, target_type.handle, how, window,
                      request);
      break;
    case FunctionId::kGet_accumulate:
      MPI_Get_accumulate(buffer, count, type.handle, result, static_cast<int>(shape.receive_count), result_type.handle,
                         target, place, target_count, target_type.handle, how, window);
      break;
    case FunctionId::kRget_accumulate:
      MPI_Rget_accumulate(buffer, count, type.handle, result, static_cast<int>(shape.receive_count), result_type.handle,
                          target, place, target_count, target_type.handle, how, window, request);
      break;
    case FunctionId::kFetch_and_op:
      MPI_Fetch_and_op(buffer, result, type.handle, target, place, how, window);
      break;
    case FunctionId::kCompare_and_swap:
      MPI_Compare_and_swap(buffer, buffers_.receive(touched), result, type.handle, target, place, window);
      break;
    default:
      return;
  }
  begun(slot);
}

}  // namespace ardoise::replay
