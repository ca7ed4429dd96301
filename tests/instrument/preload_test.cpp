// libardoise.so in real MPI programs: captures are compared with counts and bytes known by hand. No analyzer.
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <set>

#include "instrument/format/posix_functions.hpp"
#include "tests/instrument/preload_fixture.hpp"
#include "tests/other_user.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::instrument {
namespace {

using PreloadTest = PreloadFixture;

// The name of the communicator of the first call of a function.
std::string recorded_on(const Capture& capture, std::string_view function) {
  for (const auto& event : capture.events) {
    if (event.function == function) return capture.comms.contains(event.comm) ? capture.comms.at(event.comm).name : "?";
  }
  return "never called";
}

TEST_F(PreloadTest, EveryCallIsCountedWithItsBytes) {
  const Outcome outcome = run_captured(2, "counted_calls");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "") << "nothing is printed";
  for (const int rank : {0, 1}) {
    SCOPED_TRACE(rank);
    const Capture capture = captured("counted_calls", rank);
    ASSERT_EQ(capture.fault(), "");
    EXPECT_EQ(capture.program, "counted_calls");
    EXPECT_EQ(capture.process.world_size, 2u);
    const auto total = [&](const char* function) {
      return capture.totals.contains(function) ? capture.totals.at(function) : TotalsRecord{};
    };
    const bool first = rank == 0;
    EXPECT_EQ(total("MPI_Send").calls, first ? 12u : 1u);
    EXPECT_EQ(total("MPI_Send").bytes_sent, first ? 4004u : 0u);
    EXPECT_EQ(total("MPI_Recv").calls, first ? 0u : 11u);
    EXPECT_EQ(total("MPI_Recv").bytes_received, first ? 0u : 4004u);
    EXPECT_EQ(total("MPI_Isend").bytes_sent, 500u);
    EXPECT_EQ(total("MPI_Irecv").calls, 6u);
    EXPECT_EQ(total("MPI_Irecv").bytes_received, 500u);
    EXPECT_EQ(total("MPI_Waitall").calls, 9u);
    EXPECT_EQ(total("MPI_Sendrecv").bytes_sent, first ? 24u : 36u);
    EXPECT_EQ(total("MPI_Sendrecv").bytes_received, first ? 36u : 24u);
    EXPECT_EQ(total("MPI_Startall").bytes_sent, 80u);
    EXPECT_EQ(total("MPI_Startall").bytes_received, 80u);
    EXPECT_EQ(capture.started.size(), 8u);
    EXPECT_EQ(total("MPI_Allreduce").calls, 7u);
    EXPECT_EQ(total("MPI_Allreduce").bytes_sent, 4'800'000'048u);
    EXPECT_EQ(total("MPI_Put").bytes_sent, first ? 4u : 0u);
    EXPECT_EQ(total("MPI_File_write_at").bytes_sent, 1000u);
    EXPECT_EQ(capture.posix.size(), 0u) << "MPI-IO is not POSIX I/O of the program";
    // 5 exchanges and 4 persistent ones of two operations each, one receive from MPI_PROC_NULL.
    EXPECT_EQ(capture.completions.size(), 19u);
    EXPECT_EQ(recorded_on(capture, "MPI_Barrier"), "halo");
  }
}

TEST_F(PreloadTest, PeersAreRanksOfTheirCommunicator) {
  ASSERT_EQ(run_captured(2, "counted_calls").status, 0);
  const Capture capture = captured("counted_calls", 0);
  bool seen = false;
  for (const auto& event : capture.events) {
    if (event.function != "MPI_Send" || event.tag != 11) continue;
    seen = true;
    const CapturedComm& comm = capture.comms.at(event.comm);
    ASSERT_EQ(comm.members.size(), 2u);
    EXPECT_EQ(event.peer, 0);
    EXPECT_EQ(comm.members[static_cast<std::size_t>(event.peer)], 1)
        << "the communicator has the world's ranks reversed";
  }
  EXPECT_TRUE(seen);
  const auto& neighbours = capture.neighbours;
  ASSERT_EQ(neighbours.size(), 2u) << "two of the four directions have nobody";
  EXPECT_EQ(neighbours[0].destination, 1);
  EXPECT_EQ(neighbours[0].bytes, 4u);
  EXPECT_EQ(capture.comms.at(neighbours[0].comm).dimensions.size(), 2u);
  const Capture other = captured("counted_calls", 1);
  for (const auto& [id, comm] : capture.comms) {
    if (comm.fixed.size != 2) continue;
    EXPECT_EQ(other.comms.at(id).fixed.group_hash, comm.fixed.group_hash);
    EXPECT_EQ(other.comms.at(id).fixed.instance, comm.fixed.instance);
  }
}

TEST_F(PreloadTest, CallSitesAreEqualInAllProcesses) {
  ASSERT_EQ(run_captured(2, "counted_calls").status, 0);
  const auto sites = [](const Capture& capture) {
    std::set<std::uint32_t> all;
    for (const auto& event : capture.events) {
      if (event.function == "MPI_Allreduce") all.insert(event.call_site);
    }
    return all;
  };
  const Capture first = captured("counted_calls", 0), second = captured("counted_calls", 1);
  EXPECT_EQ(sites(first).size(), 2u);
  EXPECT_EQ(sites(first), sites(second));
  for (const std::uint32_t site : sites(first)) {
    EXPECT_TRUE(first.modules.at(first.call_sites.at(site).module).ends_with("counted_calls"));
  }
}

// So little memory that bins are always short; samples take some of them.
void check_threads(const Capture& capture) {
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.totals.at("MPI_Isend").calls, 12000u);
  EXPECT_EQ(capture.totals.at("MPI_Irecv").calls, 12000u);
  EXPECT_EQ(capture.totals.at("MPI_Waitall").calls, 12000u);
  EXPECT_EQ(capture.totals.at("MPI_Irecv").bytes_received, 48000u);
  EXPECT_EQ(capture.totals.at("write").bytes, 48000u);
  EXPECT_EQ(capture.last.mpi.dropped + capture.last.posix.dropped, 0u);
  EXPECT_EQ(capture.threads.size(), 5u);
}

// The bytes of calls of write() in aggregates.
std::uint64_t bytes_written_in_sums(const Capture& capture) {
  std::uint64_t bytes = 0;
  for (const AggregateRecord& record : capture.aggregates) {
    if (record.part == AggregatePart::kPosix && record.function == static_cast<std::uint16_t>(PosixFunction::kWrite))
      bytes += record.bytes;
  }
  return bytes;
}

TEST_F(PreloadTest, ThreadsLoseNothing) {
  const Outcome outcome =
      run_captured(1, "threaded_calls", "ARDOISE_BIN=32k ARDOISE_BUDGET=512k ARDOISE_POLICY=block ARDOISE_SAMPLE=off");
  if (outcome.status == 77) GTEST_SKIP() << "MPI has no MPI_THREAD_MULTIPLE";
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("threaded_calls");
  check_threads(capture);
  EXPECT_EQ(capture.count("MPI_Isend"), 12000u);
  EXPECT_EQ(capture.count("MPI_Irecv"), 12000u);
  EXPECT_EQ(capture.count("MPI_Waitall"), 12000u);
  EXPECT_EQ(capture.completions.size(), 24000u);
  // I/O does not wait: it is in records if a bin was free, otherwise in sums.
  EXPECT_EQ(capture.posix_bytes("write", "/dev/null") + bytes_written_in_sums(capture), 48000u);
  EXPECT_EQ(capture.last.posix.dropped, 0u);
  std::map<std::uint32_t, int> by_thread;
  for (const auto& event : capture.events) by_thread[event.thread] += event.function == "MPI_Isend" ? 1 : 0;
  for (std::uint32_t thread = 1; thread <= 4; ++thread) EXPECT_EQ(by_thread[thread], 3000);
}

// Calls without records are in the aggregates, whose sums are exact as well.
TEST_F(PreloadTest, ThreadsThatAdaptLoseNoSum) {
  const Outcome outcome = run_captured(1, "threaded_calls", "ARDOISE_BIN=32k ARDOISE_BUDGET=256k");
  if (outcome.status == 77) GTEST_SKIP() << "MPI has no MPI_THREAD_MULTIPLE";
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("threaded_calls");
  check_threads(capture);
  EXPECT_GT(capture.last.mpi.aggregated, 0u);
  std::map<AggregatePart, std::uint64_t> calls;
  std::uint64_t isends = capture.count("MPI_Isend");
  for (const AggregateRecord& record : capture.aggregates) {
    calls[record.part] += record.calls;
    if (record.part == AggregatePart::kCall && record.function == static_cast<std::uint16_t>(vmpi::FunctionId::kIsend))
      isends += record.calls;
  }
  EXPECT_EQ(isends, 12000u);
  EXPECT_EQ(capture.completions.size() + calls[AggregatePart::kCompletion], 24000u);
  EXPECT_EQ(capture.posix_bytes("write", "/dev/null") + bytes_written_in_sums(capture), 48000u);
}

TEST_F(PreloadTest, ThreadThatMayNotCallMpiAggregatesAndSaysSo) {
  const Outcome outcome = run_captured(1, "funneled_io", "ARDOISE_BIN=32k ARDOISE_BUDGET=256k");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("funneled_io");
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.totals.at("write").calls, 100000u);
  EXPECT_EQ(capture.last.posix.recorded, 100002u);
  EXPECT_GT(capture.last.posix.aggregated, 90000u);
}

TEST_F(PreloadTest, ALibraryOfTheProgramIsNotTakenForMpiByItsName) {
  const Outcome outcome = run_captured(1, "library_io");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("library_io");
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.posix_bytes("write", "/own"), 7000u);
  for (const auto& event : capture.posix) EXPECT_FALSE(event.path.ends_with("/by_mpi")) << "MPI's own I/O";
}

TEST_F(PreloadTest, PosixCallsAreCountedWithFileAndBytes) {
  const Outcome outcome = run_captured(1, "counted_io");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("counted_io");
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.posix_bytes("write", "/early"), 1111u);
  EXPECT_EQ(capture.posix_bytes("write", "/raw"), 10020u);
  EXPECT_EQ(capture.posix_bytes("pwrite", "/raw"), 500u);
  EXPECT_EQ(capture.posix_bytes("writev", "/raw"), 500u);
  EXPECT_EQ(capture.posix_bytes("read", "/raw"), 11001u);
  EXPECT_EQ(capture.posix_bytes("pread", "/raw"), 700u);
  EXPECT_EQ(capture.posix_count("readv", "/raw"), 1u);
  EXPECT_EQ(capture.posix_count("lseek", "/raw"), 2u);
  EXPECT_EQ(capture.posix_count("fsync", "/raw"), 1u);
  // UCX, which MPICH may use, replaces the hook of mmap by its own.
  EXPECT_EQ(capture.posix_bytes("mmap", "/raw"), MPI_IS_MPICH ? 0u : 4096u);
  EXPECT_EQ(capture.posix_bytes("write", "/other"), 10u);
  EXPECT_EQ(capture.posix_bytes("sendfile", "/raw"), 3000u);
  EXPECT_EQ(capture.posix_bytes("sendfile_to", "/sent"), 3000u);
  EXPECT_EQ(capture.posix_bytes("copy_file_range", "/sent"), 2500u);
  EXPECT_EQ(capture.posix_bytes("copy_file_range_to", "/copied"), 2500u);
  EXPECT_EQ(capture.posix_count("sendfile_to", "/sent"), 1u) << "a copy that failed";
  EXPECT_EQ(std::filesystem::file_size(directory_ / "raw"), 11020u);
  EXPECT_EQ(capture.posix_bytes("fwrite", "/stream") + capture.posix_bytes("fprintf", "/stream") +
                capture.posix_bytes("fputs", "/stream"),
            std::filesystem::file_size(directory_ / "stream"));
  EXPECT_EQ(capture.posix_bytes("fread", "/stream"), 8000u);
  EXPECT_EQ(capture.posix_bytes("fgets", "/stream"), 9u);
  EXPECT_EQ(capture.posix_count("fclose", "/stream"), 1u);
  EXPECT_EQ(capture.posix_count("write", "/stream"), 0u) << "stdio's own write is not counted again";
  const std::map<std::string, std::size_t> names{{"stat", 9},   {"access", 4},  {"mkdir", 1},
                                                 {"rename", 2}, {"opendir", 1}, {"unlink", 3}};
  for (const auto& [function, calls] : names) {
    EXPECT_EQ(std::ranges::count(capture.posix, function, &CapturedPosix::function), calls) << function;
  }
  for (const char* file : {"/child", "/shell", "/after"}) {
    for (const auto& event : capture.posix) EXPECT_FALSE(event.path.ends_with(file)) << event.path;
  }
  EXPECT_EQ(std::filesystem::file_size(directory_ / "child"), 5000u);
  std::vector<int> errors;
  for (const auto& event : capture.posix) {
    if (event.failed) errors.push_back(event.error);
  }
  EXPECT_EQ(errors, (std::vector{EBADF, ENOENT, ENOENT, EBADF}));
}

TEST_F(PreloadTest, AllocatorThatDoesIoIsSafe) {
  const Outcome outcome = run_captured(1, "allocator_io");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("allocator_io");
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.posix_count("read", "/dev/zero"), 10u);
  EXPECT_GE(capture.posix_count("write", "/dev/null"), 100u);
}

TEST_F(PreloadTest, WithoutAnalyzerOneLineIsSaid) {
  const Outcome outcome = run(2, "counted_calls");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "ardoise: no analyzer in this launch; counted_calls runs unobserved.\n");
}

TEST_F(PreloadTest, DisabledMeansSilent) {
  const Outcome outcome = run_captured(2, "counted_calls", "ARDOISE_DISABLE=1");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "counted_calls.0.packs"));
}

TEST_F(PreloadTest, CaptureThatCannotBeWrittenLeavesTheProgramAlone) {
  const Outcome outcome = run(1, "counted_io", "ARDOISE_CAPTURE=/nowhere/at/all");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "ardoise: cannot write /nowhere/at/all/counted_io.0.packs: No such file or directory.\n");
}

TEST_F(PreloadTest, AnotherUsersLinkInTheFolderOfTheCaptureIsReplaced) {
  SKIP_UNLESS_ROOT();
  const std::filesystem::path victim = directory_ / "victim", link = directory_ / "threaded_calls.0.packs";
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, link);
  ASSERT_EQ(::lchown(link.c_str(), kAttacker, kAttacker), 0);
  const Outcome outcome = run_captured(1, "threaded_calls");
  EXPECT_TRUE(outcome.status == 0 || outcome.status == 77) << outcome.output;
  EXPECT_EQ(std::filesystem::file_size(victim), 8u);
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(link)));
}

TEST_F(PreloadTest, FullDiskEndsTheCaptureAndLeavesTheProgramAlone) {
  std::filesystem::create_symlink("/dev/full", directory_ / "threaded_calls.0.packs");
  const Outcome outcome = run_captured(1, "threaded_calls", "ARDOISE_FLUSH_EVERY=0.001");
  EXPECT_TRUE(outcome.status == 0 || outcome.status == 77) << outcome.output;
  if (outcome.status == 77) GTEST_SKIP() << "MPI has no MPI_THREAD_MULTIPLE";
  EXPECT_EQ(outcome.output, "ardoise: packs can no longer be sent or written; recording ends here.\n");
}

TEST_F(PreloadTest, ProgramsWithoutMpiAreUntouched) {
  const Outcome outcome =
      shell(fmt::format("LD_PRELOAD='{}' LD_BIND_NOW=1 sh -c 'echo fine | cat'", ARDOISE_PRELOAD_LIBRARY));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "fine\n");
}

}  // namespace
}  // namespace ardoise::instrument
