// See last_moment.hpp.
#include "instrument/process/last_moment.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "instrument/hooks/posix_monitor.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::size_t kMostThreads = 64, kMostCalls = 64;

class LastMoment {
 public:
  LastMoment(Session& of, std::uint64_t tick) : session_(of), tick_(tick) {}

  void define_end(const EndNote& note, int wait_status) {
    EndDefinition end{};
    end.cause = note.cause;
    end.thread = note.thread != nullptr ? note.thread->number() : kNoThread;
    end.tick = note.tick;
    end.end_tick = tick_;
    end.address = note.address;
    end.signal = note.signal;
    end.signal_code = note.signal_code;
    end.sender = note.sender;
    end.status = note.status;
    end.wait_status = wait_status;
    (void)session_.recorder.definitions.add(end);
    if (note.cause == EndCause::kUnknown) return;
    std::span<const std::uint64_t> frames(note.frames.data(), note.frame_count);
    const bool is_interrupted = note.cause == EndCause::kSignal;
    if (is_interrupted) frames = std::span(walked_).first(unwinder_->walk(note.registers, {}, walked_).frames);
    define_stack(note.thread, StackOf::kEnd, frames, {.in_call = false, .is_interrupted = is_interrupted});
  }

  void define_thread(const ThreadRecorder& thread) {
    RecentCalls mpi, posix;
    thread.recent(mpi, posix);
    std::vector<RecentCall> calls(mpi.calls().begin(), mpi.calls().end());
    calls.insert(calls.end(), posix.calls().begin(), posix.calls().end());
    std::ranges::sort(calls, {}, &RecentCall::begin);
    if (calls.size() > RecentCalls::kMost) calls.erase(calls.begin(), calls.end() - RecentCalls::kMost);
    if (!add_open_mpi(thread, calls)) add_open_posix(thread, calls);
    if (calls.empty()) return;
    (void)session_.recorder.definitions.add(
        RecentCallsDefinition{thread.number(), static_cast<std::uint32_t>(calls.size()), tick_},
        std::span<const RecentCall>(calls));
  }

 private:
  bool add_open_mpi(const ThreadRecorder& thread, std::vector<RecentCall>& calls) {
    const ObservedFrame& frame = *thread.in_mpi.load(std::memory_order_relaxed);
    if (frame.function == 0 || frame.call == nullptr) return false;
    // Of a call that was left by longjmp nothing may be left.
    const vmpi::Call& call = *frame.call;
    if (static_cast<std::uint32_t>(call.function) + 1 != frame.function ||
        reinterpret_cast<std::uint64_t>(call.return_address) != frame.return_address || call.begin > tick_) {
      return false;
    }
    std::array<RecentCall, kMostCalls> open;
    const std::size_t count = session_.mpi.open_call(call, tick_, open);
    open[0].call_site = site_of(thread, frame.return_address, true);
    calls.insert(calls.end(), open.begin(), open.begin() + static_cast<std::ptrdiff_t>(count));
    const WalkResult walk = unwinder_->walk(frame.registers, {}, walked_);
    const auto frames = std::span(walked_).first(walk.frames);
    const auto caller = std::ranges::find(frames, frame.return_address);
    define_stack(&thread, StackOf::kOpenCall, frames.subspan(static_cast<std::size_t>(caller - frames.begin())),
                 {.in_call = true, .is_interrupted = false});
    return true;
  }

  void add_open_posix(const ThreadRecorder& thread, std::vector<RecentCall>& calls) {
    const ObservedPosix& observed = *thread.in_posix.load(std::memory_order_relaxed);
    if (observed.function == 0 || observed.call == nullptr) return;
    const PosixCall& call = *observed.call;
    if (call.called() != observed.function || call.return_address() != observed.return_address ||
        call.begin_tick() > tick_) {
      return;
    }
    calls.push_back({call.begin_tick(), tick_ - call.begin_tick(), 0,
                     make_word(kNoComm, static_cast<std::uint32_t>(call.function()), Shape::kLocal),
                     site_of(thread, observed.return_address, false), static_cast<std::int32_t>(call.file()), 0,
                     kPosixCallFlag | kOpenCall, 0});
    const auto* const frame = static_cast<const std::uint64_t*>(call.frame());
    if (frame[1] != observed.return_address) return;
    const FrameRegisters caller{
        observed.return_address, reinterpret_cast<std::uint64_t>(frame + 2), frame[0], 0, true, nullptr};
    const WalkResult walk = unwinder_->walk(caller, {}, walked_);
    define_stack(&thread, StackOf::kOpenCall, std::span(walked_).first(walk.frames),
                 {.in_call = false, .is_interrupted = false});
  }

  // Python finds its frames by the thread; the survivor has the main thread's memory.
  [[nodiscard]] static python::Interpreter* interpreter_of(const ThreadRecorder* thread) {
    const bool is_main = thread != nullptr && thread->in_mpi.load(std::memory_order_relaxed) == &observed_frame;
    return is_main ? python::interpreter.load(std::memory_order_acquire) : nullptr;
  }
  [[nodiscard]] std::uint32_t site_of(const ThreadRecorder& thread, std::uint64_t address, bool in_call) {
    if (python::Interpreter* const interpreter = interpreter_of(&thread))
      address = interpreter->place_of(address, in_call);
    return site_for_record(session_.recorder.call_sites.find(address));
  }

  struct Innermost {
    bool in_call;         // as Interpreter::merge()
    bool is_interrupted;  // is an instruction, not a return address
  };
  // thread: nullptr: one that records nothing.
  void define_stack(const ThreadRecorder* thread, StackOf of, std::span<const std::uint64_t> path,
                    Innermost innermost) {
    bool first_is_instruction = innermost.is_interrupted;
    if (python::Interpreter* const interpreter = interpreter_of(thread)) {
      const auto merged = interpreter->merge(path, *python_, innermost.in_call);
      path = merged.frames;
      first_is_instruction = first_is_instruction && merged.keeps_innermost;
    }
    std::vector<StackFrame> frames;
    for (const std::uint64_t address : path) {
      const CallSites::Place place = session_.recorder.call_sites.known_place_of(address);
      frames.push_back({place.module, first_is_instruction && frames.empty() ? 1u : 0u, place.offset});
    }
    if (frames.empty()) return;
    (void)session_.recorder.definitions.add(StackDefinition{thread != nullptr ? thread->number() : kNoThread, of,
                                                            static_cast<std::uint32_t>(frames.size()), 0},
                                            std::span<const StackFrame>(frames));
  }

  Session& session_;
  const std::uint64_t tick_;
  const std::unique_ptr<Unwinder> unwinder_ = std::make_unique<Unwinder>();
  const std::unique_ptr<python::Interpreter::Scratch> python_ = std::make_unique<python::Interpreter::Scratch>();
  std::array<std::uint64_t, CallingContexts::kMaxDepth> walked_{};
};

}  // namespace

void define_last_moment(Session& of, const EndNote& note, int wait_status, std::uint64_t tick) {
  const auto last = std::make_unique<LastMoment>(of, tick);
  last->define_end(note, wait_status);
  std::size_t threads = 0;
  of.recorder.threads.for_each_owned([&](const ThreadRecorder& thread) {
    if (++threads <= kMostThreads) last->define_thread(thread);
  });
}

}  // namespace ardoise::instrument
