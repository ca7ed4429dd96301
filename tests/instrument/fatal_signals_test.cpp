// Signals that end the program (process/ending/fatal_signals.hpp): the program's own actions have their effect, and its
// parent sees the same end as without the library's handler.
#include "instrument/process/ending/fatal_signals.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <vector>

#include "instrument/process/ending/end_note.hpp"
#include "tests/instrument/dying_process.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::array kWatched{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
using Handler = void (*)(int);

struct sigaction in_kernel(int number) {
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  return now;
}
void set_in_kernel(int number, Handler handler, int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(number, &action, nullptr);
}
// The tests' runtime may have its own actions.
void forget_actions() {
  for (const int number : kWatched) set_in_kernel(number, SIG_DFL);
}
// As the hook of sigaction() sets it.
int set_by_program(int number, Handler handler, int flags = 0, struct sigaction* before = nullptr) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return change_action(number, &action, before);
}

class FatalSignalsTest : public DyingProcess {
 protected:
  // The child does this with default actions, without and with the library's handler: the statuses.
  static std::array<int, 2> statuses(const std::function<void()>& dies) {
    const auto prepared = [&](bool watches) {
      return status_of([&] {
        forget_actions();
        begin_end_notes();
        if (watches) watch_fatal_signals();
        dies();
      });
    };
    return {prepared(false), prepared(true)};
  }
  static int status_when_watched(const std::function<void()>& dies) { return statuses(dies)[1]; }
};

TEST_F(FatalSignalsTest, TheDefaultActionEndsTheProcessAsNatively) {
  for (const int number : kWatched) {
    for (const auto& [native, watched] :
         {statuses([&] { ::raise(number); }), statuses([&] { ::kill(::getpid(), number); })}) {
      EXPECT_TRUE(WIFSIGNALED(watched)) << number;
      EXPECT_EQ(WTERMSIG(watched), number);
      EXPECT_EQ(watched, native);
    }
  }
}

TEST_F(FatalSignalsTest, AFaultEndsTheProcessAsNatively) {
  const auto [native, watched] = statuses([] {
    auto* const page =
        static_cast<volatile char*>(::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    *page = 1;
  });
  EXPECT_EQ(WTERMSIG(watched), SIGSEGV);
  EXPECT_EQ(watched, native);
  const auto [native_trap, watched_trap] = statuses([] { __builtin_trap(); });
  EXPECT_EQ(watched_trap, native_trap);
  EXPECT_TRUE(WIFSIGNALED(watched_trap));
}

TEST_F(FatalSignalsTest, ASignalOfAnotherProcessEndsItAsNatively) {
  const auto wait_for_signal = [] {
    shared_words->checks = own_id();
    for (;;) ::pause();
  };
  for (const bool watches : {false, true}) {
    shared_words->checks = 0;
    const int status = status_of(
        [&] {
          forget_actions();
          begin_end_notes();
          if (watches) watch_fatal_signals();
          wait_for_signal();
        },
        false,
        [&] {
          wait_until_set(shared_words->checks);
          ::kill(shared_words->checks, SIGTERM);
        });
    EXPECT_EQ(status, SIGTERM) << watches;
  }
}

volatile sig_atomic_t handled = 0;
siginfo_t kept_information{};
void count(int number) { handled = handled * 100 + number; }
void leave(int) { ::_exit(42); }
void keep(int, siginfo_t* information, void*) { kept_information = *information; }

TEST_F(FatalSignalsTest, TheProgramsHandlerRunsAndTheProgramGoesOn) {
  EXPECT_EQ(status_when_watched([] {
              if (set_by_program(SIGTERM, count) != 0 || set_by_program(SIGFPE, count) != 0) ::_exit(1);
              errno = 77;
              ::raise(SIGTERM);
              ::raise(SIGFPE);
              if (errno != 77) ::_exit(2);
              ::_exit(handled == SIGTERM * 100 + SIGFPE ? 5 : 3);
            }),
            5 << 8);
}

TEST_F(FatalSignalsTest, AHandlerFromBeforeRunsToo) {
  EXPECT_EQ(status_of([] {
              forget_actions();
              set_in_kernel(SIGSEGV, leave);
              watch_fatal_signals();
              ::raise(SIGSEGV);
              ::_exit(1);
            }),
            42 << 8);
}

TEST_F(FatalSignalsTest, AHandlerSeesTheSender) {
  EXPECT_EQ(status_when_watched([] {
              struct sigaction action {};
              action.sa_sigaction = keep;
              action.sa_flags = SA_SIGINFO;
              if (change_action(SIGTERM, &action, nullptr) != 0) ::_exit(1);
              ::kill(::getpid(), SIGTERM);
              ::_exit(kept_information.si_signo == SIGTERM && kept_information.si_code == SI_USER &&
                              kept_information.si_pid == ::getpid()
                          ? 0
                          : 2);
            }),
            0);
}

TEST_F(FatalSignalsTest, AnIgnoredSignalHasNoEffect) {
  EXPECT_EQ(status_when_watched([] {
              if (set_by_program(SIGTERM, SIG_IGN) != 0) ::_exit(1);
              // An interrupted call would return EINTR if the handler ran.
              if (in_kernel(SIGTERM).sa_handler != SIG_IGN) ::_exit(2);
              ::raise(SIGTERM);
              ::_exit(0);
            }),
            0);
}

TEST_F(FatalSignalsTest, AHandlerForOneTimeLeavesTheDefaultAction) {
  EXPECT_EQ(status_when_watched([] {
              (void)set_by_program(SIGTERM, count, static_cast<int>(SA_RESETHAND));
              ::raise(SIGTERM);
              if (handled != SIGTERM) ::_exit(1);
              struct sigaction before {};
              (void)change_action(SIGTERM, nullptr, &before);
              if (before.sa_handler != SIG_DFL) ::_exit(2);
              ::raise(SIGTERM);
              ::_exit(3);
            }),
            SIGTERM);
}

TEST_F(FatalSignalsTest, TheProgramReadsItsOwnActions) {
  EXPECT_EQ(status_when_watched([] {
              struct sigaction before {};
              for (const int number : kWatched) {
                if (!is_watched(number)) ::_exit(1);
                if (in_kernel(number).sa_handler == SIG_DFL) ::_exit(2);
                (void)change_action(number, nullptr, &before);
                if (before.sa_handler != SIG_DFL || (before.sa_flags & (SA_SIGINFO | SA_ONSTACK)) != 0) ::_exit(3);
                (void)set_by_program(number, count, SA_NODEFER, &before);
                if (before.sa_handler != SIG_DFL) ::_exit(4);
                (void)change_action(number, nullptr, &before);
                if (before.sa_handler != count || (before.sa_flags & SA_NODEFER) == 0) ::_exit(5);
                before = {};
                (void)set_by_program(number, SIG_DFL, 0, &before);
                if (before.sa_handler != count) ::_exit(7);
              }
              ::_exit(is_watched(SIGINT) || is_watched(SIGKILL) ? 6 : 0);
            }),
            0);
}

TEST_F(FatalSignalsTest, TheKernelHasTheProgramsActionsAgainAfterwards) {
  EXPECT_EQ(status_when_watched([] {
              struct sigaction masks {};
              masks.sa_handler = count;
              ::sigaddset(&masks.sa_mask, SIGUSR2);
              (void)change_action(SIGBUS, &masks, nullptr);
              (void)set_by_program(SIGTERM, SIG_IGN);
              restore_fatal_signals();
              for (const int number : {SIGSEGV, SIGFPE, SIGILL, SIGABRT}) {
                if (in_kernel(number).sa_handler != SIG_DFL || is_watched(number)) ::_exit(1);
              }
              const struct sigaction bus = in_kernel(SIGBUS);
              if (bus.sa_handler != count || ::sigismember(&bus.sa_mask, SIGUSR2) != 1) ::_exit(2);
              if (in_kernel(SIGTERM).sa_handler != SIG_IGN) ::_exit(3);
              ::raise(SIGABRT);
            }),
            statuses([] { ::raise(SIGABRT); })[0]);
}

TEST_F(FatalSignalsTest, AnActionThatTheProgramSetDirectlyIsKept) {
  EXPECT_EQ(status_when_watched([] {
              set_in_kernel(SIGTERM, leave);  // past the hooks
              restore_fatal_signals();
              ::raise(SIGTERM);
            }),
            42 << 8);
}

// ---- the note

EndNote note_in_handler;
void read_note(int) { note_in_handler = end_note; }

TEST_F(FatalSignalsTest, TheNoteNamesTheSignalUntilTheProgramHasHandledIt) {
  EXPECT_EQ(status_when_watched([] {
              (void)set_by_program(SIGTERM, read_note);
              ::raise(SIGTERM);
              const EndNote& noted = note_in_handler;
              if (noted.cause != EndCause::kSignal || noted.signal != SIGTERM || noted.sender != 0) ::_exit(1);
              if (noted.tick == 0 || noted.registers.pc == 0 || noted.address != 0) ::_exit(2);
              ::_exit(end_note.cause == EndCause::kUnknown ? 0 : 3);
            }),
            0);
}

volatile char* page_without_rights = nullptr;
void check_fault(int) {
  const bool is_right = end_note.signal == SIGSEGV && end_note.signal_code == SEGV_ACCERR &&
                        end_note.address == reinterpret_cast<std::uint64_t>(page_without_rights);
  ::_exit(is_right ? 0 : 1);
}

TEST_F(FatalSignalsTest, TheNoteOfAFaultHasItsAddress) {
  EXPECT_EQ(status_when_watched([] {
              (void)set_by_program(SIGSEGV, check_fault);
              page_without_rights =
                  static_cast<char*>(::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
              *page_without_rights = 1;
            }),
            0);
}

TEST_F(FatalSignalsTest, ASecondSignalOfTheProgramsHandlerIsNotTheCause) {
  EXPECT_EQ(status_when_watched([] {
              // As programs do that print their state and then end by the same signal.
              (void)set_by_program(SIGSEGV, [](int) {
                const std::uint64_t first = end_note.tick;
                (void)set_by_program(SIGSEGV, read_note, SA_NODEFER);
                sigset_t none;
                ::sigemptyset(&none);
                ::sigprocmask(SIG_SETMASK, &none, nullptr);
                ::raise(SIGSEGV);
                ::_exit(note_in_handler.tick == first ? 0 : 1);
              });
              ::raise(SIGSEGV);
            }),
            0);
}

TEST_F(FatalSignalsTest, NothingIsNotedWhenNotesAreOff) {
  EXPECT_EQ(status_of([] {
              forget_actions();
              watch_fatal_signals();
              (void)set_by_program(SIGTERM, read_note);
              ::raise(SIGTERM);
              if (note_in_handler.cause != EndCause::kUnknown) ::_exit(1);
              begin_end_notes();
              finish_end_notes();
              note_exit(EndCause::kExit, 3);
              ::_exit(end_note.cause == EndCause::kUnknown ? 0 : 2);
            }),
            0);
}

TEST_F(FatalSignalsTest, TheFirstCauseOfAnExitCounts) {
  EXPECT_EQ(status_of([] {
              begin_end_notes();
              note_exit(EndCause::kExit, 3);
              note_exit(EndCause::kImmediate, 4);  // exit() ends so
              const bool is_first = end_note.cause == EndCause::kExit && end_note.status == 3;
              ::_exit(is_first && end_note.frame_count > 0 ? 0 : 1);
            }),
            0);
}

TEST_F(FatalSignalsTest, AJumpOutOfTheHandlerForgetsTheSignal) {
  EXPECT_EQ(status_when_watched([] {
              (void)set_by_program(SIGTERM, [](int) {
                char here = 0;
                forget_left_signal(&here);  // stays in the handler
                if (end_note.cause != EndCause::kSignal) ::_exit(1);
                forget_left_signal(reinterpret_cast<const void*>(end_note.registers.sp + 64));
                ::_exit(end_note.cause == EndCause::kUnknown ? 0 : 2);
              });
              ::raise(SIGTERM);
            }),
            0);
}

}  // namespace
}  // namespace ardoise::instrument
