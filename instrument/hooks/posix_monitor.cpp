#include "instrument/hooks/posix_monitor.hpp"

#include <optional>

#include "instrument/machine/vfork_child.hpp"
#include "instrument/python/checked_memory.hpp"
#include "instrument/python/interpreter.hpp"
#include "vmpi/wrappers/observed_call.hpp"

namespace ardoise::instrument {

Session* PosixCall::observing_session() noexcept {
  Session* const current = session.load(std::memory_order_acquire);
  if (current == nullptr) [[likely]]
    return nullptr;
  // True if deeper in the stack than an observed MPI call of this thread.
  if (vmpi::stack_address() < vmpi::outermost_call) return nullptr;
  if (is_vfork_child()) return nullptr;
  return current;
}

void PosixCall::opened_descriptor(int descriptor, const char* path) noexcept {
  forget_descriptor(descriptor);
  if (session_ == nullptr || descriptor < 0) return;
  descriptor_ = descriptor;
  open_.file = session_->recorder.files.opened(descriptor, path);
  moved_to(0);
}

void PosixCall::opened_stream(std::FILE* stream, const char* path) noexcept {
  if (stream != nullptr) opened_descriptor(descriptor_of(stream), path);
}

// Counts calls that read or write, except copies within the kernel.
void PosixCall::count_access(std::uint64_t bytes) noexcept {
  const PosixCategory category = kPosixFunctions[static_cast<std::size_t>(open_.function)].category;
  const bool write = category == PosixCategory::kWrite;
  if ((!write && category != PosixCategory::kRead) || copies_in_the_kernel(open_.function)) return;
  session_->recorder.accesses.add(open_.file, descriptor_, position_, bytes, write);
}

void PosixCall::end_at(const ObservedFrame& frame, std::uint64_t bytes, bool failed) noexcept {
  const int saved = errno;
  const Recorder::PosixEvent event{open_.function, open_.file, open_.begin,          now(),
                                   bytes,          failed,     open_.return_address, saved};
  Recorder& recorder = session_->recorder;
  ThreadRecorder* const thread = session_->known_thread();
  if (thread == nullptr) {
    recorder.count_only(event);
  } else {
    const ActivityScope scope(thread->activity, Activity::kHook, recorder.active);
    if (scope.refused()) recorder.count_only(event);
    if (scope.entered()) {
      const CostTimer timer(*thread, recorder.cost);
      thread->may_send = false;
      std::optional<python::CheckedOnce> checked;
      if (python::interpreter.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
        checked.emplace(event.begin);
      const bool has_context = session_->has_call_stacks && current_sampled != nullptr;
      if (has_context) [[unlikely]]
        session_->sampling.record_context(*current_sampled, frame, event.begin, event.end);
      const CallSums sums = recorder.posix(*thread, event);
      if (has_context && sums.calls == 0) [[unlikely]]
        thread->drop_context();
      if (sums.calls != 0 && !failed) count_access(bytes);
      if (sums.calls != 0 && current_sampled != nullptr) session_->sampling.count_call(*current_sampled, frame, sums);
    }
  }
  observed_posix.become(outer_);
  errno = saved;
}

void forget_descriptor(int descriptor) noexcept {
  Session* const current = session.load(std::memory_order_acquire);
  if (current != nullptr && !is_vfork_child()) current->recorder.files.forget(descriptor);
}

int descriptor_of(std::FILE* stream) noexcept {
  if (stream == nullptr) return -1;
  const int saved = errno;
  const int descriptor = ::fileno(stream);
  errno = saved;
  return descriptor;
}

}  // namespace ardoise::instrument

// As in observed_enter.cpp: the registers at the hook's call.
#if defined(__x86_64__)

extern "C" [[gnu::used, gnu::visibility("hidden")]] void ardoise_posix_end_from(ardoise::instrument::PosixCall& call,
                                                                                std::uint64_t bytes, bool failed,
                                                                                std::uint64_t rbx, std::uint64_t rbp,
                                                                                std::uint64_t sp) noexcept {
  const auto pc = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  call.end_at({{pc, sp, rbp, rbx, true, nullptr}, call.return_address(), call.called()}, bytes, failed);
}

[[gnu::naked]] void ardoise_on_posix_end(ardoise::instrument::PosixCall&, std::uint64_t, bool) noexcept {
  asm("mov %rbx, %rcx\n\t"
      "mov %rbp, %r8\n\t"
      "lea 8(%rsp), %r9\n\t"
      "jmp ardoise_posix_end_from");
}

#else

void ardoise_on_posix_end(ardoise::instrument::PosixCall& call, std::uint64_t bytes, bool failed) noexcept {
  const auto* const frame = static_cast<const std::uint64_t*>(__builtin_frame_address(0));
  const ardoise::instrument::FrameRegisters hook{
      frame[1], reinterpret_cast<std::uint64_t>(frame + 2), frame[0], 0, true, nullptr};
  call.end_at({hook, call.return_address(), call.called()}, bytes, failed);
}

#endif
