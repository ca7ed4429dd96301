// The survivor (process/ending/survivor.hpp) of a child that dies in each way, and the file that it writes.
#include "instrument/process/ending/survivor.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <variant>

#include "instrument/format/unsent_files.hpp"
#include "instrument/process/ending/end_note.hpp"
#include "tests/instrument/capture.hpp"
#include "tests/instrument/dying_process.hpp"
#include "tests/instrument/made_session.hpp"

namespace ardoise::instrument {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__) && defined(__LP64__)

constexpr int kDismissed = 7;

void note_death(int wait_status) noexcept {
  shared_words->wait_status = wait_status;
  ++shared_words->deaths;
  shared_words->survivor = own_id();
}
void note_check() noexcept {
  ++shared_words->checks;
  shared_words->survivor = own_id();
}
void note_end_of_checks() noexcept { ++shared_words->ends_of_checks; }

constexpr SurvivorTasks kChecks{note_death, note_check, note_end_of_checks, 1};

bool has_ended(long process) {
  pollfd end{static_cast<int>(process), POLLIN, 0};
  return ::poll(&end, 1, 0) == 1;
}

class SurvivorTest : public DyingProcess {
 protected:
  // The child dies when its survivor has checked once.
  static int status_with_checks(const std::function<void()>& dies, const std::function<void()>& meanwhile = {}) {
    return status_of(
        [&] {
          start_survivor(kChecks);
          wait_until_set(shared_words->checks);
          dies();
        },
        true, meanwhile);
  }
};

TEST_F(SurvivorTest, SeesHowTheProcessEnded) {
  struct Way {
    std::function<void()> dies;
    int status;
  };
  for (const Way& way : {Way{[] { ::_exit(4); }, 4 << 8}, Way{[] { std::exit(3); }, 3 << 8}, Way{[] { ::_exit(0); }, 0},
                         Way{[] { ::raise(SIGKILL); }, SIGKILL}, Way{[] { ::raise(SIGTERM); }, SIGTERM}}) {
    shared_words = new (shared_words) SharedWords{};
    const int status = status_of(
        [&] {
          start_survivor({.after_death = note_death});
          way.dies();
        },
        true);
    EXPECT_EQ(status, way.status);
    EXPECT_EQ(shared_words->wait_status, way.status);
    EXPECT_EQ(shared_words->deaths, 1);
    EXPECT_EQ(shared_words->checks, 0);
  }
}

TEST_F(SurvivorTest, ChecksWhileTheProcessLivesAndEndsTheChecksOnce) {
  EXPECT_EQ(status_with_checks([] {
              const int seen = shared_words->checks;
              while (shared_words->checks == seen) ::usleep(1000);
              if (shared_words->ends_of_checks != 0 || shared_words->deaths != 0) ::_exit(1);
              ::raise(SIGKILL);
            }),
            SIGKILL);
  EXPECT_GE(shared_words->checks, 2);
  EXPECT_EQ(shared_words->ends_of_checks, 1);
  EXPECT_EQ(shared_words->deaths, 1);
}

TEST_F(SurvivorTest, AfterItWasDismissedItOnlyEndsTheChecks) {
  EXPECT_EQ(status_with_checks([] {
              dismiss_survivor();
              ::_exit(kDismissed);
            }),
            kDismissed << 8);
  EXPECT_EQ(shared_words->deaths, 0);
  EXPECT_EQ(shared_words->ends_of_checks, 1);
}

TEST_F(SurvivorTest, IsGoneWhenItsEndReturns) {
  EXPECT_EQ(status_with_checks([] {
              const long survivor = call_kernel(SYS_pidfd_open, shared_words->survivor);
              if (survivor < 0 || has_ended(survivor)) ::_exit(1);
              end_survivor();
              ::_exit(has_ended(survivor) ? 0 : 2);
            }),
            0);
  EXPECT_EQ(shared_words->deaths, 0);
  EXPECT_EQ(shared_words->ends_of_checks, 0);
}

TEST_F(SurvivorTest, AChildOfTheProcessDoesNotEndIt) {
  EXPECT_EQ(status_with_checks([] {
              const pid_t child = ::fork();
              if (child == 0) {
                end_survivor();
                ::_exit(0);
              }
              ::waitpid(child, nullptr, 0);
              const int seen = shared_words->checks;
              while (shared_words->checks == seen) ::usleep(1000);
              ::_exit(0);
            }),
            0);
  EXPECT_EQ(shared_words->deaths, 1);
  EXPECT_EQ(shared_words->wait_status, 0);
}

TEST_F(SurvivorTest, SharesNeitherDescriptorsNorTheGroup) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int status = status_of(
      [&] {
        ::setpgid(0, 0);
        start_survivor(kChecks);
        wait_until_set(shared_words->checks);
        ::close(ends[1]);
        pollfd other{ends[0], POLLIN, 0};
        if (::poll(&other, 1, 0) != 0) ::_exit(1);  // the test process has it open
        shared_words->deaths = 100;
        wait_until_set(shared_words->wait_status);
        // The survivor has closed it.
        if (::poll(&other, 1, 0) != 1 || (other.revents & POLLHUP) == 0) ::_exit(2);
        ::kill(0, SIGKILL);
      },
      true,
      [&] {
        wait_until_set(shared_words->deaths);
        ::close(ends[1]);
        shared_words->wait_status = 1;
      });
  EXPECT_EQ(status, SIGKILL);
  ::close(ends[0]);
  EXPECT_EQ(shared_words->deaths, 101);
}

TEST_F(SurvivorTest, TheProcessHasNoChildToWaitFor) {
  EXPECT_EQ(
      status_with_checks([] { ::_exit(::waitpid(-1, nullptr, WNOHANG | __WALL) == -1 && errno == ECHILD ? 0 : 1); }),
      0);
}

TEST_F(SurvivorTest, AFaultInItEndsOnlyItself) {
  static volatile char* unreadable = nullptr;
  const int status = status_of(
      [] {
        unreadable = static_cast<char*>(::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        start_survivor({.after_death = [](int) noexcept {
          shared_words->survivor = own_id();
          *unreadable = 1;
          ++shared_words->deaths;
        }});
        ::_exit(6);
      },
      true);
  EXPECT_EQ(status, 6 << 8);
  EXPECT_EQ(shared_words->deaths, 0);
}

// ---- the file

class SurvivorFileTest : public DyingProcessWithFolder {
 protected:
  // The child records two calls of MPI_Barrier and dies; its survivor writes what was not sent.
  void die(const std::function<void(MadeSession&)>& dies, int status) {
    static MadeSession* made = nullptr;
    static std::string folder;
    folder = folder_;
    EXPECT_EQ(status_of(
                  [&] {
                    made = new MadeSession(2, 3);
                    made->record_barrier();
                    made->record_barrier();
                    session.store(&made->session);
                    begin_end_notes();
                    start_survivor({.after_death = [](int wait_status) noexcept {
                      allocate_without_locks();
                      made->session.write_unsent(folder, unsent_file_name(2, 3), wait_status);
                      shared_words->survivor = own_id();
                    }});
                    dies(*made);
                  },
                  true),
              status);
  }
  [[nodiscard]] fs::path path() const { return fs::path(folder_) / ".unsent-2-3"; }
  [[nodiscard]] EndDefinition end() const {
    const PackFile file = read_pack_file(path());
    PackSequence packs(file.bytes());
    EndDefinition found{};
    int ends = 0;
    while (const auto pack = packs.next()) {
      if (pack->pack_class() != PackClass::kDefinitions) continue;
      DefinitionReader definitions(pack->payload());
      while (const auto definition = definitions.next()) {
        if (const auto* const decoded = std::get_if<DecodedEnd>(&*definition)) {
          found = decoded->fixed;
          ++ends;
        }
      }
    }
    EXPECT_EQ(packs.error(), "");
    EXPECT_EQ(ends, 1);
    return found;
  }
};

TEST_F(SurvivorFileTest, HasTheRecordsOfAKilledProcess) {
  die([](MadeSession&) { ::raise(SIGKILL); }, SIGKILL);
  ASSERT_TRUE(fs::exists(path()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);  // no .part
  EXPECT_EQ(fs::status(path()).permissions(), fs::perms{0600});
  const Capture capture = read_capture(path());
  EXPECT_EQ(capture.error, "");
  EXPECT_EQ(capture.count("MPI_Barrier"), 2u);
  EXPECT_EQ(capture.last.partition, 2u);
  EXPECT_EQ(capture.last.rank, 3u);
  const EndDefinition found = end();
  EXPECT_EQ(found.cause, EndCause::kUnknown);
  EXPECT_EQ(found.wait_status, SIGKILL);
}

TEST_F(SurvivorFileTest, NamesTheStatusAndPlaceOfAnExit) {
  die(
      [](MadeSession&) {
        note_exit(EndCause::kImmediate, 4);
        ::_exit(4);
      },
      4 << 8);
  const EndDefinition found = end();
  EXPECT_EQ(found.cause, EndCause::kImmediate);
  EXPECT_EQ(found.status, 4);
  EXPECT_EQ(found.wait_status, 4 << 8);
  EXPECT_NE(found.tick, 0u);
  EXPECT_GE(found.end_tick, found.tick);
}

TEST_F(SurvivorFileTest, LacksOnlyTheRecordThatAThreadWasWriting) {
  die(
      [](MadeSession& made) {
        made.thread->activity.store(Activity::kRecording);  // died inside
        ::raise(SIGKILL);
      },
      SIGKILL);
  const Capture capture = read_capture(path());
  EXPECT_EQ(capture.error, "");
  EXPECT_EQ(capture.count("MPI_Barrier"), 1u);
}

TEST_F(SurvivorFileTest, OfAnEarlierLaunchIsReplaced) {
  std::ofstream(path()) << "old";
  die([](MadeSession&) { ::raise(SIGKILL); }, SIGKILL);
  EXPECT_EQ(read_capture(path()).count("MPI_Barrier"), 2u);
}

TEST_F(SurvivorFileTest, IsNotWrittenIntoAFolderOfOthers) {
  fs::permissions(folder_, fs::perms{0777});
  die([](MadeSession&) { ::raise(SIGKILL); }, SIGKILL);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST(UnsentFiles, LieInTheOutputFolderOfTheAnalyzersCommand) {
  EXPECT_EQ(unsent_file_name(0, 12), ".unsent-0-12");
  EXPECT_EQ(output_folder_of("ardoise-analyzer --output /data/my run --frequency 5"), "/data/my run");
  EXPECT_EQ(output_folder_of("ardoise-analyzer --output /data"), "/data");
  EXPECT_EQ(output_folder_of("ardoise-analyzer --output data"), "");
  EXPECT_EQ(output_folder_of("ardoise-analyzer --outputs /data"), "");
}

// ---- memory

// Allocates, frees, and returns the address.
std::uintptr_t used_address(std::size_t bytes, std::align_val_t alignment) {
  void* const memory = ::operator new(bytes, alignment);
  const volatile auto address = reinterpret_cast<std::uintptr_t>(memory);
  ::operator delete(memory, alignment);
  return address;
}

TEST_F(SurvivorTest, MemoryWithoutLocksIsNeverUsedTwice) {
  constexpr std::align_val_t kWord{8}, kWide{256};
  EXPECT_EQ(status_of([] {
              void* const before = ::operator new(64);
              allocate_without_locks();
              ::operator delete(before);  // not given to the allocator
              const std::uintptr_t first = used_address(24, kWord), second = used_address(24, kWord),
                                   wide = used_address(1, kWide);
              if (second != first + 24) ::_exit(1);
              if (wide % 256 != 0 || wide <= second) ::_exit(2);
              if (::operator new (std::size_t{2} << 30, std::nothrow) != nullptr) ::_exit(3);
              ::_exit(0);
            }),
            0);
}

#endif

}  // namespace
}  // namespace ardoise::instrument
