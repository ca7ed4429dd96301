#include "instrument/process/ending/last_moment.hpp"

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "instrument/process/watch/thread_state.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::size_t kMostThreads = 64;

class LastMoment {
 public:
  LastMoment(Session& of, std::uint64_t tick) : session_(of), tick_(tick), state_(of, unwinder_, tick) {}

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
    end.program = note.program;
    (void)session_.recorder.definitions.add(end);
    if (note.cause == EndCause::kUnknown) return;
    std::span<const std::uint64_t> frames(note.frames.data(), note.frame_count);
    std::array<std::uint64_t, CallingContexts::kMaxDepth> walked;
    const bool is_interrupted = note.cause == EndCause::kSignal;
    if (is_interrupted) frames = std::span(walked).first(unwinder_.walk(note.registers, {}, walked).frames);
    define_stack(note.thread, StackOf::kEnd, frames, {.in_call = false, .is_interrupted = is_interrupted});
  }

  void define_thread(const ThreadRecorder& thread) {
    state_.read(thread);
    std::vector<RecentCall> calls(state_.calls().begin(), state_.calls().end());
    if (calls.empty()) return;
    for (RecentCall& call : calls) {
      if ((call.flags & kOpenCall) != 0 && !state_.path().empty())
        call.call_site = site_of(thread, state_.path().front(), state_.is_in_mpi());
    }
    (void)session_.recorder.definitions.add(
        RecentCallsDefinition{thread.number(), static_cast<std::uint32_t>(calls.size()), tick_},
        std::span<const RecentCall>(calls));
    define_stack(&thread, StackOf::kOpenCall, state_.path(), {.in_call = state_.is_in_mpi(), .is_interrupted = false});
    define(thread.number(), StackOf::kSample, state_.sampled(), true);
  }

 private:
  // Python finds its frames through the current thread; the survivor has the main thread's memory.
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
    bool in_call;         // as in Interpreter::merge()
    bool is_interrupted;  // the place is an instruction, not a return address
  };
  // thread: nullptr for one that records nothing.
  void define_stack(const ThreadRecorder* thread, StackOf of, std::span<const std::uint64_t> path,
                    Innermost innermost) {
    if (path.empty()) return;
    bool first_is_instruction = innermost.is_interrupted;
    if (python::Interpreter* const interpreter = interpreter_of(thread)) {
      const auto merged = interpreter->merge(path, python_, innermost.in_call);
      path = merged.frames;
      first_is_instruction = first_is_instruction && merged.keeps_innermost;
    }
    define(thread != nullptr ? thread->number() : kNoThread, of, path, first_is_instruction);
  }
  void define(std::uint32_t thread, StackOf of, std::span<const std::uint64_t> path, bool first_is_instruction) {
    if (path.empty()) return;
    std::vector<StackFrame> frames;
    for (const std::uint64_t address : path) {
      session_.recorder.call_sites.learn_after_death(address);
      const CallSites::Place place = session_.recorder.call_sites.known_place_of(address);
      frames.push_back({place.module, first_is_instruction && frames.empty() ? 1u : 0u, place.offset});
    }
    (void)session_.recorder.definitions.add(StackDefinition{thread, of, static_cast<std::uint32_t>(frames.size()), 0},
                                            std::span<const StackFrame>(frames));
  }

  Session& session_;
  const std::uint64_t tick_;
  Unwinder unwinder_;
  ThreadState state_;
  python::Interpreter::Scratch python_{};
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
