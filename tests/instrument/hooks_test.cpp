// The hooks of I/O and of exits (instrument/hooks), compiled into this program: what they record, and that the program
// gets the same results. Each test runs in a child, whose calls are hooked from here on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "instrument/process/ending/end_note.hpp"
#include "instrument/process/ending/survivor.hpp"
#include "tests/instrument/capture.hpp"
#include "tests/instrument/dying_process.hpp"
#include "tests/instrument/made_session.hpp"
#include "vmpi/wrappers/observed_call.hpp"

namespace ardoise::instrument {
namespace {

namespace fs = std::filesystem;

class HooksTest : public DyingProcessWithFolder {
 protected:
  void SetUp() override {
    DyingProcessWithFolder::SetUp();
    path_ = folder_ + "/data";
  }

  // The records of the calls that `calls` makes.
  Capture recorded(const std::function<void(MadeSession&)>& calls) {
    MadeSession made(2, 3);
    made.record_barrier();
    session.store(&made.session);
    calls(made);
    session.store(nullptr);
    made.session.write_unsent(folder_, "packs", -1);
    Capture capture = read_capture(folder_ + "/packs");
    EXPECT_EQ(capture.error, "");
    return capture;
  }
  // "function path-end bytes", "…!errno" for a failed call, in the order of the calls.
  static std::vector<std::string> texts(const Capture& capture) {
    std::vector<std::string> all;
    for (const CapturedPosix& call : capture.posix)
      all.push_back(call.function + " " + fs::path(call.path).filename().string() + " " + std::to_string(call.bytes) +
                    (call.failed ? "!" + std::to_string(call.error) : ""));
    return all;
  }
  [[nodiscard]] std::string content() const {
    std::string text(100, '\0');
    const int file = ::open(path_.c_str(), O_RDONLY);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(file, text.data(), text.size()), 0)));
    ::close(file);
    return text;
  }

  std::string path_;
};

using Texts = std::vector<std::string>;

TEST_F(HooksTest, CallsOnADescriptorAreRecordedWithFileAndBytes) {
  in_child([this] {
    std::array<char, 8> bytes{};
    const Capture capture = recorded([&](MadeSession&) {
      const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
      EXPECT_EQ(::write(file, "hello", 5), 5);
      EXPECT_EQ(::pwrite(file, "abc", 3, 1), 3);
      EXPECT_EQ(::lseek(file, 0, SEEK_SET), 0);
      EXPECT_EQ(::read(file, bytes.data(), 2), 2);
      EXPECT_EQ(::pread(file, bytes.data(), bytes.size(), 1), 4);
      EXPECT_EQ(::ftruncate(file, 4), 0);
      EXPECT_EQ(::fsync(file), 0);
      EXPECT_EQ(::close(file), 0);
    });
    EXPECT_EQ(content(), "habc");
    EXPECT_EQ(std::string(bytes.data(), 4), "abco");
    EXPECT_EQ(texts(capture), (Texts{"open data 0", "write data 5", "pwrite data 3", "lseek data 0", "read data 2",
                                     "pread data 4", "ftruncate data 0", "fsync data 0", "close data 0"}));
    EXPECT_EQ(capture.totals.at("write").bytes_sent, 5u);
    EXPECT_EQ(capture.totals.at("read").bytes_received, 2u);
    EXPECT_EQ(capture.last.posix.recorded, 9u);
    EXPECT_EQ(capture.last.posix.dropped, 0u);
  });
}

TEST_F(HooksTest, VectorsAndCopiesAreRecorded) {
  in_child([this] {
    const Capture capture = recorded([&](MadeSession&) {
      const int from = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
      const int to = ::open((folder_ + "/copy").c_str(), O_RDWR | O_CREAT, 0600);
      std::string a = "ab", b = "cde";
      const std::array<iovec, 2> parts{iovec{a.data(), 2}, iovec{b.data(), 3}};
      EXPECT_EQ(::writev(from, parts.data(), 2), 5);
      off_t at = 0;
      EXPECT_EQ(::sendfile(to, from, &at, 4), 4);
      EXPECT_EQ(::preadv(to, parts.data(), 1, 2), 2);
    });
    Texts seen = texts(capture);
    ASSERT_EQ(seen.size(), 6u);
    seen.erase(seen.begin(), seen.begin() + 2);
    EXPECT_EQ(seen[0], "writev data 5");
    // A copy in the kernel is recorded for both files.
    EXPECT_EQ(capture.posix_bytes("sendfile", "/data") + capture.posix_bytes("sendfile", "/copy"), 4u) << seen[1];
    EXPECT_EQ(capture.posix[4].path, folder_ + "/copy");
    EXPECT_EQ(capture.posix[4].bytes, 4u);
    EXPECT_EQ(seen[3], "preadv copy 2");
  });
}

TEST_F(HooksTest, AFailedCallIsRecordedWithItsErrorAndErrnoIsKept) {
  in_child([this] {
    char byte = 0;
    const Capture capture = recorded([&](MadeSession&) {
      EXPECT_EQ(::open((folder_ + "/none").c_str(), O_RDONLY), -1);
      EXPECT_EQ(errno, ENOENT);
      EXPECT_EQ(::read(-1, &byte, 1), -1);
      EXPECT_EQ(errno, EBADF);
      const int file = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
      errno = 77;
      EXPECT_EQ(::write(file, "a", 1), 1);
      EXPECT_EQ(errno, 77);
    });
    ASSERT_EQ(capture.posix.size(), 4u);
    EXPECT_TRUE(capture.posix[0].failed);
    EXPECT_EQ(capture.posix[0].error, ENOENT);
    EXPECT_TRUE(capture.posix[1].failed);
    EXPECT_EQ(capture.posix[1].error, EBADF);
    EXPECT_EQ(capture.posix[1].bytes, 0u);
    EXPECT_FALSE(capture.posix[3].failed);
  });
}

TEST_F(HooksTest, ADescriptorThatIsReusedIsAnotherFile) {
  in_child([this] {
    const Capture capture = recorded([&](MadeSession&) {
      const int first = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
      EXPECT_EQ(::write(first, "a", 1), 1);
      ::close(first);
      const int second = ::open((folder_ + "/second").c_str(), O_RDWR | O_CREAT, 0600);
      EXPECT_EQ(second, first);
      EXPECT_EQ(::write(second, "bc", 2), 2);
      const int third = ::open((folder_ + "/third").c_str(), O_RDWR | O_CREAT, 0600);
      EXPECT_EQ(::dup2(third, second), second);
      EXPECT_EQ(::write(second, "def", 3), 3);
    });
    EXPECT_EQ(capture.posix_bytes("write", "/data"), 1u);
    EXPECT_EQ(capture.posix_bytes("write", "/second"), 2u);
    EXPECT_EQ(capture.posix_bytes("write", "/third"), 3u);
  });
}

TEST_F(HooksTest, StreamsAreRecordedUnderTheirFile) {
  in_child([this] {
    const Capture capture = recorded([&](MadeSession&) {
      std::FILE* const stream = std::fopen(path_.c_str(), "w");
      EXPECT_EQ(std::fwrite("abcd", 2, 2, stream), 2u);
      EXPECT_GE(std::fputs("ef", stream), 0);
      EXPECT_EQ(std::fclose(stream), 0);
    });
    EXPECT_EQ(content(), "abcdef");
    EXPECT_EQ(capture.posix_bytes("fwrite", "/data"), 4u);
    EXPECT_EQ(capture.posix_bytes("fputs", "/data"), 2u);
    EXPECT_EQ(capture.posix_count("fopen", "/data"), 1u);
    EXPECT_EQ(capture.posix_count("fclose", "/data"), 1u);
    EXPECT_EQ(capture.posix_count("write"), 0u);  // of the C library itself
  });
}

TEST_F(HooksTest, MappedFilesAreRecordedAndOtherMemoryIsNot) {
  in_child([this] {
    const Capture capture = recorded([&](MadeSession&) {
      const int file = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
      EXPECT_EQ(::ftruncate(file, 4096), 0);
      EXPECT_NE(::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0), MAP_FAILED);
      EXPECT_NE(::mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED);
    });
    EXPECT_EQ(capture.posix_count("mmap"), 1u);
    EXPECT_EQ(capture.posix_bytes("mmap", "/data"), 4096u);
  });
}

// ---- when the calls are not recorded, the program gets the same results

TEST_F(HooksTest, WithoutASessionNothingIsRecorded) {
  in_child([this] {
    const Capture capture = recorded([&](MadeSession& made) {
      session.store(nullptr);
      const int file = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
      EXPECT_EQ(::write(file, "abc", 3), 3);
      EXPECT_EQ(::write(-1, "abc", 3), -1);
      EXPECT_EQ(errno, EBADF);
      session.store(&made.session);
    });
    EXPECT_EQ(content(), "abc");
    EXPECT_TRUE(capture.posix.empty());
    EXPECT_FALSE(capture.totals.contains("write"));
  });
}

TEST_F(HooksTest, AfterRecordingStoppedNothingIsRecorded) {
  in_child([this] {
    const Capture capture = recorded([&](MadeSession& made) {
      made.session.recorder.active = false;
      const int file = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
      EXPECT_EQ(::write(file, "abc", 3), 3);
    });
    EXPECT_EQ(content(), "abc");
    EXPECT_TRUE(capture.posix.empty());
    EXPECT_FALSE(capture.totals.contains("write"));
  });
}

TEST_F(HooksTest, CallsOfMpiItselfAreNotRecorded) {
  in_child([this] {
    const Capture capture = recorded([&](MadeSession&) {
      const int file = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
      {
        const vmpi::Unobserved in_mpi;
        EXPECT_EQ(::write(file, "abc", 3), 3);
      }
      EXPECT_EQ(::write(file, "d", 1), 1);
    });
    EXPECT_EQ(content(), "abcd");
    EXPECT_EQ(capture.posix_count("write"), 1u);
    EXPECT_EQ(capture.posix_bytes("write", "/data"), 1u);
  });
}

// A signal handler that interrupted this library.
TEST_F(HooksTest, InsideTheLibraryACallIsOnlyCounted) {
  in_child([this] {
    const Capture capture = recorded([&](MadeSession& made) {
      const int file = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
      made.thread->activity = Activity::kRecording;
      EXPECT_EQ(::write(file, "abc", 3), 3);
      made.thread->activity = Activity::kProgram;
    });
    EXPECT_EQ(capture.posix_count("write"), 0u);
    EXPECT_EQ(capture.totals.at("write").calls, 1u);
    EXPECT_EQ(capture.totals.at("write").bytes_sent, 3u);
    EXPECT_EQ(capture.last.posix.dropped, 1u);
  });
}

TEST_F(HooksTest, ACallOfAThreadWithoutARecorderIsOnlyCounted) {
  in_child([this] {
    const Capture capture = recorded([&](MadeSession&) {
      std::thread([&] {
        const int file = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
        EXPECT_EQ(::write(file, "abc", 3), 3);
      }).join();
    });
    EXPECT_TRUE(capture.posix.empty());
    EXPECT_EQ(capture.totals.at("write").calls, 1u);
    EXPECT_EQ(capture.last.posix.dropped, 2u);
  });
}

// ---- the open call, and exits

TEST_F(HooksTest, TheThreadIsInTheCallWhileItRuns) {
  in_child([this] {
    (void)recorded([&](MadeSession& made) {
      std::array<int, 2> ends{};
      ASSERT_EQ(::pipe(ends.data()), 0);
      std::thread writer([&] {
        // The main thread reads from the pipe.
        while (made.thread->in_posix.load()->function == 0) std::this_thread::yield();
        EXPECT_EQ(::write(ends[1], "a", 1), 1);
      });
      char byte = 0;
      EXPECT_EQ(::read(ends[0], &byte, 1), 1);
      writer.join();
      EXPECT_EQ(made.thread->in_posix.load()->function, 0u);
    });
  });
}

#if defined(__x86_64__) && defined(__LP64__)
// The survivor reads the note.
TEST_F(HooksTest, DirectExitsAreNoted) {
  for (void (*const exit_directly)(int) : std::array<void (*)(int), 2>{&::_exit, &::_Exit}) {
    shared_words = new (shared_words) SharedWords{};
    const int status = status_of(
        [&] {
          begin_end_notes();
          start_survivor({.after_death = [](int) noexcept {
            shared_words->checks = static_cast<std::int32_t>(end_note.cause);
            shared_words->wait_status = end_note.status;
            shared_words->survivor = own_id();
          }});
          exit_directly(4);
        },
        true);
    EXPECT_EQ(status, 4 << 8);
    EXPECT_EQ(shared_words->checks, static_cast<std::int32_t>(EndCause::kImmediate));
    EXPECT_EQ(shared_words->wait_status, 4);
  }
}
#endif

}  // namespace
}  // namespace ardoise::instrument
