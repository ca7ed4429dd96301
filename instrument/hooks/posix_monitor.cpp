// See posix_monitor.hpp.
#include "instrument/hooks/posix_monitor.hpp"

#include <exception>

#include "vmpi/wrappers/observed_call.hpp"

namespace ardoise::instrument {
namespace {

// The thread is in guarded(). An allocator that does I/O of its own would otherwise come back to where it was called
// from.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_guarded = false;

// Runs what may allocate or call the system; recording must not show in errno, and its failure not in the program.
template <class Body>
void guarded(Body&& body) noexcept {
  const int saved = errno;
  is_guarded = true;
  try {
    body();
  } catch (const std::exception&) {
    switch_off("no memory to record I/O; recording ends here.");
  }
  is_guarded = false;
  errno = saved;
}

}  // namespace

Session* PosixCall::observing_session() noexcept {
  Session* const current = session.load(std::memory_order_acquire);
  if (current == nullptr) [[likely]]
    return nullptr;
  if (is_guarded) return nullptr;
  // Deeper in the stack than an observed MPI call of this thread.
  if (vmpi::stack_address() < vmpi::outermost_call) return nullptr;
  const ThreadRecorder* const thread = known_thread();
  // Relaxed: the thread's own flag.
  if (thread != nullptr && thread->busy.load(std::memory_order_relaxed)) return nullptr;
  return current;
}

std::uint32_t PosixCall::number_of(int descriptor) noexcept {
  std::uint32_t number = Files::kUnknown;
  guarded([&] { number = session_->recorder.files.of_descriptor(descriptor); });
  return number;
}

std::uint32_t PosixCall::number_of(std::FILE* stream) noexcept { return number_of(descriptor_of(stream)); }

void PosixCall::opened_descriptor(int descriptor) noexcept {
  forget_descriptor(descriptor);
  if (session_ != nullptr && descriptor >= 0) file_ = number_of(descriptor);
}

void PosixCall::opened_stream(std::FILE* stream) noexcept {
  if (stream != nullptr) opened_descriptor(descriptor_of(stream));
}

void PosixCall::end_at(const ObservedFrame& frame, std::uint64_t bytes, bool failed) noexcept {
  const std::uint64_t end = now();
  guarded([&] {
    ThreadRecorder* const thread = session_->thread();
    if (thread == nullptr) return;
    const Section section(*thread, session_->recorder.active);
    if (!section.entered()) return;
    thread->may_send = session_->may_send_now(*thread) && !thread->between_idups;
    const vmpi::Unobserved own_calls;
    const CallSums sums =
        session_->recorder.posix(*thread, function_, file_, begin_, end, bytes, failed, return_address_);
    if (sums.calls == 0 || current_sampled == nullptr) return;
    session_->sampling.count_call(*current_sampled, frame, sums);
  });
  observed_posix.become(outer_);
}

void forget_descriptor(int descriptor) noexcept {
  if (Session* const current = session.load(std::memory_order_acquire)) current->recorder.files.forget(descriptor);
}

int descriptor_of(std::FILE* stream) noexcept {
  if (stream == nullptr) return -1;
  const int saved = errno;
  const int descriptor = ::fileno(stream);
  errno = saved;
  return descriptor;
}

}  // namespace ardoise::instrument

// As in observed_enter.cpp: the registers as the hook's call left them.
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
