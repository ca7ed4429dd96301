// Timing, and dispatch of calls.
#include "tools/replay/player.hpp"

#include <chrono>
#include <cmath>
#include <thread>

namespace ardoise::replay {

using vmpi::FunctionId;

namespace {

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

// The part of the player that makes a function's calls.
enum class Calls : std::uint8_t {
  kNone,
  kMessage,
  kCompletion,
  kCommunicator,
  kPreparedCollective,
  kNeighbourhood,
  kCollective,
  kOneSided,
  kFile
};
constexpr auto kCalls = [] {
  std::array<Calls, vmpi::kFunctionCount> calls{};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string_view category = vmpi::kFunctionTraits[i].category;
    if (category == "point-to-point") calls[i] = Calls::kMessage;
    if (category == "wait") calls[i] = Calls::kCompletion;
    if (category == "communicator" || category == "topology" || category == "process") calls[i] = Calls::kCommunicator;
    if (category == "collective") calls[i] = Calls::kCollective;
    if (category == "neighbourhood") calls[i] = Calls::kNeighbourhood;
    if ((category == "collective" || category == "neighbourhood") && vmpi::kFunctionTraits[i].persistent)
      calls[i] = Calls::kPreparedCollective;
    if (category == "one-sided") calls[i] = Calls::kOneSided;
    if (category == "io") calls[i] = Calls::kFile;
  }
  return calls;
}();

}  // namespace

Player::Player(Stage& stage, std::size_t thread)
    : stage_(stage),
      thread_(thread),
      buffers_(stage.options.buffer_bytes),
      times_(kFileFlushCall + 1),
      random_(static_cast<std::minstd_rand::result_type>(stage.options.seed * 1000003 +
                                                         static_cast<std::uint64_t>(stage.rank) * 1009 + thread + 1)),
      slowed_(stage.options.slowed.contains(stage.rank) ? stage.options.slowed.at(stage.rank) : 1.0) {}

// Waits until the pause since `last_end` has passed; returns that time.
std::uint64_t Player::wait_for(std::uint64_t pause, std::uint64_t last_end) {
  const ReplayOptions& options = stage_.options;
  if (options.pause == PauseKind::kNone) return now();
  double length = static_cast<double>(pause) * options.compute * slowed_;
  if (options.noise > 0) {
    const double range = static_cast<double>(std::minstd_rand::max() - std::minstd_rand::min());
    length *= 1 + options.noise * (2 * static_cast<double>(random_() - std::minstd_rand::min()) / range - 1);
  }
  const auto asked = static_cast<std::uint64_t>(std::max(length, 0.0));
  const std::uint64_t until = last_end + asked;
  std::uint64_t time = now();
  if (options.pause == PauseKind::kSleep && time < until)
    std::this_thread::sleep_for(std::chrono::nanoseconds(until - time));
  while ((time = now()) < until) continue;
  pauses_.asked += asked;
  pauses_.taken += time - last_end;
  return time;
}

// Waits for the end of a call in which absent ranks took part.
std::uint64_t Player::last_as_long(std::uint64_t until) const {
  std::uint64_t time = now();
  if (stage_.options.pause == PauseKind::kNone) return time;
  if (stage_.options.pause == PauseKind::kSleep && time < until)
    std::this_thread::sleep_for(std::chrono::nanoseconds(until - time));
  while ((time = now()) < until) continue;
  return time;
}

void Player::play() {
  std::uint64_t last_end = now(), upper_pause = 0, upper_duration = 0, number = 0;
  const CallScript& script = stage_.script;
  for (const Step& step : script.steps(thread_)) {
    if (step.shape == kLong) {
      upper_pause = std::uint64_t{step.pause} << 32;
      upper_duration = std::uint64_t{step.duration} << 32;
      continue;
    }
    const CallShape& shape = script.shape(step.shape);
    const std::uint64_t begin = wait_for(upper_pause | step.pause, last_end);
    progress_.step.store(number++, std::memory_order_relaxed);
    progress_.shape.store(step.shape, std::memory_order_relaxed);
    progress_.since.store(static_cast<std::int64_t>(begin), std::memory_order_relaxed);
    make(shape, step.slot);
    last_end = now();
    if ((shape.flags & CallShape::kAtLeast) != 0) [[unlikely]]
      last_end = last_as_long(begin + (upper_duration | step.duration));
    progress_.since.store(0, std::memory_order_relaxed);
    stage_.done[thread_].store(number, std::memory_order_release);
    FunctionTimes& times = times_[shape.function];
    ++times.calls;
    times.recorded += upper_duration | step.duration;
    times.replayed += last_end - begin;
    upper_pause = upper_duration = 0;
  }
}

void Player::wait_for_threads(const Lists& lists) const {
  const auto after = lists.find(ListKind::kAfter);
  for (std::size_t i = 0; i < after.size(); ++i) {
    while (stage_.done[i].load(std::memory_order_acquire) < static_cast<std::uint64_t>(after[i]))
      std::this_thread::yield();
  }
}

void Player::make(const CallShape& shape, std::uint32_t slot) {
  if ((shape.flags & CallShape::kNeverDone) != 0) return pass(slot);
  if (shape.function >= kFileReadCall) return stage_.files.play_posix(shape);
  const Lists lists(shape);
  if (stage_.script.threads() > 1) wait_for_threads(lists);
  switch (kCalls[shape.function]) {
    case Calls::kMessage:
      return make_message(shape, lists, slot);
    case Calls::kCompletion:
      return make_completion(shape, lists);
    case Calls::kCommunicator:
      stage_.comms.play(shape, slot == kNothing ? nullptr : begin(slot));
      return begun(slot);
    case Calls::kPreparedCollective:
      if (shape.object < stage_.prepared.size()) stage_.prepared[shape.object].collective = &shape;
      return;
    case Calls::kNeighbourhood:
      if (shape.comm == kNothing) return pass(slot);
      make_neighbourhood(shape, lists, slot == kNothing ? nullptr : begin(slot), slot);
      return begun(slot);
    case Calls::kCollective:
      if (shape.comm == kNothing) return pass(slot);
      make_collective(shape, lists, slot == kNothing ? nullptr : begin(slot), slot);
      return begun(slot);
    case Calls::kOneSided:
      return make_one_sided(shape, lists, slot);
    case Calls::kFile: {
      const Extent touched = extent(shape.count, stage_.types[shape.type]);
      void* const buffer = slot == kNothing ? buffers_.send(touched) : buffers_.own(slot, true, touched);
      stage_.files.play(shape, lists, stage_.types, stage_.comms, buffer, slot == kNothing ? nullptr : begin(slot));
      return begun(slot);
    }
    case Calls::kNone:
      return;
  }
}

void Player::pass(std::uint32_t slot) {
  if (slot != kNothing) stage_.slots[slot].state.store(Slot::kDone, std::memory_order_release);
}

MPI_Request* Player::begin(std::uint32_t slot) {
  stage_.slots[slot].request = MPI_REQUEST_NULL;
  return &stage_.slots[slot].request;
}

void Player::begun(std::uint32_t slot) {
  if (slot != kNothing) stage_.slots[slot].state.store(Slot::kStarted, std::memory_order_release);
}

std::int64_t Player::scaled(std::int64_t count) const {
  if (stage_.options.bytes == 1) return count;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(count) * stage_.options.bytes));
}

Extent Player::extent(std::int64_t count, const ReplayType& type) const {
  if (count <= 0 || type.true_extent <= 0) return {};
  const std::int64_t last = (count - 1) * type.extent;
  return {std::min<std::int64_t>(last, 0) + type.true_lower,
          std::max<std::int64_t>(last, 0) + type.true_lower + type.true_extent};
}

MPI_Op predefined_operation(std::uint8_t number) {
  static const std::array<MPI_Op, vmpi::kOperationNames.size()> operations{
      MPI_OP_NULL, MPI_MAX,  MPI_MIN,  MPI_SUM,    MPI_PROD,   MPI_LAND,    MPI_BAND,  MPI_LOR,
      MPI_BOR,     MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL};
  return number < operations.size() ? operations[number] : MPI_OP_NULL;
}

MPI_Op Player::operation(const CallShape& shape, const ReplayType& type) const {
  const MPI_Op known = predefined_operation(shape.operation);
  // Calls replayed as bytes, or with datatypes that cannot be made, use no predefined operation.
  if (known != MPI_OP_NULL && type.is_predefined && (shape.flags & CallShape::kAsBytes) == 0 && shape.type != 0)
    return known;
  return shape.operation + 1u == vmpi::kOperationNames.size() ? stage_.user_operation_in_order : stage_.user_operation;
}

}  // namespace ardoise::replay
