// See posix_monitor.hpp.
#include "instrument/posix_monitor.hpp"

#include <exception>

#include "vmpi/observed_call.hpp"

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

void PosixCall::write(std::uint64_t end, std::uint64_t bytes, bool failed) noexcept {
  guarded([&] {
    ThreadRecorder* const thread = session_->thread();
    if (thread == nullptr) return;
    const Section section(*thread, session_->recorder.active);
    if (!section.entered()) return;
    thread->may_send = session_->may_send_now(*thread) && !thread->between_idups;
    const vmpi::Unobserved own_calls;
    session_->recorder.posix(*thread, function_, file_, begin_, end, bytes, failed, return_address_);
  });
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
