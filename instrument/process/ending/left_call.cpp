#include "instrument/process/ending/left_call.hpp"

#include "instrument/machine/clock.hpp"
#include "instrument/process/ending/end_note.hpp"
#include "instrument/process/session/session.hpp"
#include "instrument/sampling/sampled_thread.hpp"
#include "vmpi/wrappers/observed_call.hpp"

namespace ardoise::instrument {

void leave_calls_below(const char* target) noexcept {
  forget_left_signal(target);
  if (observed_posix.call != nullptr && target > observed_posix.call->frame) observed_posix.become({});
  // A target below the open call is within MPI or in one of its callbacks.
  if (vmpi::outermost_call == nullptr || target <= vmpi::outermost_call) return;
  const vmpi::Call* const call = observed_frame.call;
  if (observed_frame.function != 0 && call != nullptr && session.load(std::memory_order_acquire) != nullptr)
    left_call = {call->return_address, call->begin, now(), call->function};
  observed_frame.function = 0;
  vmpi::outermost_call = nullptr;
}

}  // namespace ardoise::instrument
