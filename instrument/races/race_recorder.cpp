#include "instrument/races/race_recorder.hpp"

#include <string_view>

#include "instrument/races/race_kinds.hpp"

namespace ardoise::instrument {

using vmpi::Call;
using vmpi::CallOverride;

constexpr std::array<std::uint32_t, vmpi::kFunctionCount> RaceRecorder::kSeen = [] {
  std::array<std::uint32_t, vmpi::kFunctionCount> seen{};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::string_view name = vmpi::kFunctionTraits[i].name;
    if (name.find("ccumulate") != std::string_view::npos || name.starts_with("MPI_Fetch_and_op") ||
        name.starts_with("MPI_Compare_and_swap"))
      seen[i] = kSeenAccumulate;
    if (name == "MPI_Win_test") seen[i] = kSeenWindowTest;
    if (name == "MPI_Parrived") seen[i] = kSeenPartArrived;
  }
  return seen;
}();

RaceRecorder::Thread& RaceRecorder::thread() {
  if (own_ != nullptr) [[likely]]
    return *own_;
  const MutexLock guard(lock_);
  threads_.push_back(std::make_unique<Thread>(writer, static_cast<std::uint32_t>(threads_.size()) + 1));
  return *(own_ = threads_.back().get());
}

void RaceRecorder::add(Thread& thread, const Call& call, std::span<const std::int32_t> values) {
  std::uint32_t& number = thread.places.number(call);
  if (number != RacePlaces::kUnknown) [[likely]]
    return thread.output.add(number, values);
  number = thread.output.keys();
  const RaceKey key = RacePlaces::describe(call);
  thread.output.add(number, values, &key);
}

// {source, tag} of the message that the call received or found; is_flagged: {1, source, tag}.
void RaceRecorder::add_message(Thread& thread, const Call& call, bool is_flagged) {
  if (call.result != MPI_SUCCESS || call.statuses == nullptr) return add(thread, call, {});
  const std::uint32_t& number = thread.places.number(call);
  // A new key has no number yet, so its tags begin with 0.
  std::int32_t& last =
      thread.tags.try_emplace(number != RacePlaces::kUnknown ? number : thread.output.keys(), 0).first->second;
  const std::int32_t tag = call.statuses->MPI_TAG;
  const std::array<std::int32_t, 3> values{1, call.statuses->MPI_SOURCE, wrapped_difference(tag, last)};
  last = tag;
  add(thread, call, std::span(values).subspan(is_flagged ? 0 : 1));
}

void RaceRecorder::post(Thread& thread, const Call& call) {
  const Wanted wanted = wanted_by(call);
  if (!wanted.is_receive()) return;
  PostedReceive receive;
  receive.stream = thread.stream;
  receive.post = thread.posts++;
  receive.has_wildcard = wanted.has_wildcard();
  if (receive.has_wildcard) add(thread, call, {});
  if (call.requests == nullptr) return;
  receives_.add(race_handle(call.requests[0]), receive);
}

void RaceRecorder::start(Thread& thread, const Call& call) {
  for (int i = 0; i < call.request_count; ++i) {
    bool has_wildcard = false;
    if (receives_.change(race_handle(call.requests[i]), own_->stream,
                         [&](PostedReceive& receive) {
                           receive.stream = thread.stream;
                           receive.post = thread.posts++;
                           receive.is_active = call.result == MPI_SUCCESS;
                           has_wildcard = receive.has_wildcard;
                         }) &&
        has_wildcard) {
      add(thread, call, {});
    }
  }
}

void RaceRecorder::add_outcome(const PostedReceive& receive, std::int32_t source, std::int32_t tag) {
  const MutexLock guard(outcomes_lock_);
  if (last_.size() <= receive.stream) last_.resize(receive.stream + 1);
  LastOutcome& last = last_[receive.stream];
  const std::array<std::int32_t, 4> values{static_cast<std::int32_t>(receive.stream),
                                           static_cast<std::int32_t>(receive.post - last.post), source,
                                           wrapped_difference(tag, last.tag)};
  last = {receive.post, tag};
  static const RaceKey key{"completion", "", 0, 0};
  outcomes_.add(0, values, outcomes_.keys() == 0 ? &key : nullptr);
}

void RaceRecorder::add_outcome(const PostedReceive& receive, const MPI_Status* status) {
  if (!receive.has_wildcard && !receive.cancel_tried) return;
  if (status == nullptr) return add_outcome(receive, kUnknownMessage, 0);
  int is_cancelled = 0;
  if (receive.cancel_tried) PMPI_Test_cancelled(status, &is_cancelled);
  if (is_cancelled != 0) return add_outcome(receive, kCancelledReceive, 0);
  if (!receive.has_wildcard) return add_outcome(receive, kNotCancelled, 0);
  add_outcome(receive, status->MPI_SOURCE, status->MPI_TAG);
}

void RaceRecorder::complete(const Call& call) {
  if (receives_.empty()) return;
  for (int i = 0; i < call.completed_count; ++i) {
    const int index = call.completed_indices != nullptr ? call.completed_indices[i] : i;
    if (index < 0 || index >= call.request_count) continue;
    if (const auto receive = receives_.complete(race_handle(call.requests[index]), own_->stream))
      add_outcome(*receive, call.statuses != nullptr ? call.statuses + i : nullptr);
  }
}

void RaceRecorder::after(Call& call, const CallOverride& changes) {
  if (writer.failed()) return;
  Thread& own = thread();
  const std::array<std::int32_t, 1> flag{changes.flag ? 1 : 0};
  const RaceKind kind = race_kind(call.function);
  switch (kind) {
    case RaceKind::kNone:
      return;
    case RaceKind::kReceive:
    case RaceKind::kProbe:
      if (wanted_by(call).has_wildcard()) add_message(own, call, false);
      return;
    case RaceKind::kTryProbe:
      if (!wanted_by(call).is_receive()) return;
      if (!changes.flag || !wanted_by(call).has_wildcard()) return add(own, call, flag);
      return add_message(own, call, true);
    case RaceKind::kPost:
      return post(own, call);
    case RaceKind::kPrepare: {
      const Wanted wanted = wanted_by(call);
      if (!wanted.is_receive() || call.requests == nullptr) return;
      PostedReceive receive;
      receive.has_wildcard = wanted.has_wildcard();
      receive.stream = own.stream;
      receive.is_persistent = true;
      receive.is_active = false;
      return receives_.add(race_handle(call.requests[0]), receive);
    }
    case RaceKind::kStart:
      return start(own, call);
    case RaceKind::kTest: {
      // A failed test has completed its request.
      const std::array<std::int32_t, 1> done{changes.flag || call.result != MPI_SUCCESS ? 1 : 0};
      add(own, call, done);
      break;
    }
    case RaceKind::kTestAny:
    case RaceKind::kWaitAny: {
      const std::int32_t index = call.completed_count == 1 ? 1 + call.completed_indices[0] : 0;
      const std::array<std::int32_t, 1> value{
          changes.none_active && (changes.flag || kind == RaceKind::kWaitAny) ? -1 : index};
      add(own, call, value);
      break;
    }
    case RaceKind::kSome:
      own.values.assign(1, changes.none_active ? -1 : call.completed_count);
      if (!changes.none_active && call.completed_count > 0)
        own.values.insert(own.values.end(), call.completed_indices, call.completed_indices + call.completed_count);
      add(own, call, own.values);
      break;
    case RaceKind::kWait:
      break;
    case RaceKind::kCancel:
      receives_.change(race_handle(call.requests[0]), own_->stream,
                       [](PostedReceive& receive) { receive.cancel_tried = true; });
      return;
    case RaceKind::kFree:
      if (const auto receive = receives_.forget(race_handle(call.requests[0]), own_->stream);
          receive && receive->is_active && receive->has_wildcard)
        seen_.fetch_or(kSeenFreedReceive, std::memory_order_relaxed);
      return;
  }
  complete(call);
}

void RaceRecorder::thread_ends() {
  if (own_ != nullptr) own_->output.flush();
}

void RaceRecorder::finish() {
  const MutexLock guard(lock_);
  RaceEnd end;
  for (const auto& thread : threads_) {
    thread->output.flush();
    end.decisions += thread->output.decisions();
  }
  end.streams = static_cast<std::uint32_t>(threads_.size());
  end.seen = seen_.load(std::memory_order_relaxed);
  {
    const MutexLock outcomes_guard(outcomes_lock_);
    outcomes_.flush();
  }
  writer.finish(end);
}

}  // namespace ardoise::instrument
