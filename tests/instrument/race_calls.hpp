// A program for tests of instrument/races: its calls run against FakeMpi, and a RaceRecorder or RaceForcer controls
// them as in the second wrappers (vmpi/wrappers/call_control.hpp).
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "instrument/format/race_file.hpp"
#include "instrument/races/race_forcer.hpp"
#include "instrument/races/race_recorder.hpp"
#include "tests/instrument/fake_mpi.hpp"

namespace ardoise::instrument {

// Call sites. Their addresses are in this program, so they have the same names in both runs.
inline constexpr std::array<char, 8> kPlaces{};

class RacingProgram {
 public:
  explicit RacingProgram(RaceRecorder& recorder)
      : before_([](vmpi::Call&) {}), after_([&](vmpi::Call& call) { recorder.after(call, changes); }), again_([] {}) {}
  explicit RacingProgram(RaceForcer& forcer)
      : before_([&](vmpi::Call& call) { forcer.before(call, changes); }),
        after_([&](vmpi::Call& call) { forcer.after(call, changes); }),
        again_([&] { forcer.again(); }) {}
  RacingProgram(const RacingProgram&) = delete;
  RacingProgram& operator=(const RacingProgram&) = delete;

  // MPI_Recv; the message must have arrived when MPI is called.
  FakeMpi::Message receive(int source, int tag, std::size_t place = 0);
  // MPI_Recv that fails.
  void fail_to_receive();
  // MPI_Iprobe.
  bool probe(int source, int tag, FakeMpi::Message* found = nullptr);
  // MPI_Irecv.
  MPI_Request post(int source, int tag);
  // MPI_Recv_init; the returned request is never started itself by FakeMpi.
  MPI_Request prepare(int source, int tag);
  // MPI_Start of a receive with these arguments, which keeps its handle.
  void start(MPI_Request request, int source, int tag);
  void cancel(MPI_Request request);
  void free(MPI_Request request);
  bool test(MPI_Request& request, FakeMpi::Message* got = nullptr);
  FakeMpi::Message wait(MPI_Request& request);
  // The index; -1: none was complete, or none was active.
  int wait_any(std::vector<MPI_Request>& requests) { return any(vmpi::FunctionId::kWaitany, requests); }
  int test_any(std::vector<MPI_Request>& requests) { return any(vmpi::FunctionId::kTestany, requests); }
  std::vector<int> test_some(std::vector<MPI_Request>& requests);

  bool did_skip = false;       // the last call did not reach MPI
  vmpi::CallOverride changes;  // of the last call

 private:
  vmpi::Call begin(vmpi::FunctionId function, std::size_t place = 0);
  void enter(vmpi::Call& call) {
    before_(call);
    did_skip = changes.skips;
  }
  [[nodiscard]] std::vector<int> visible(const std::vector<MPI_Request>& requests) const;
  FakeMpi::Request* behind(MPI_Request request) const;
  int any(vmpi::FunctionId function, std::vector<MPI_Request>& requests);

  std::function<void(vmpi::Call&)> before_, after_;
  std::function<void()> again_;
  std::uintptr_t prepared_ = 0x900000;
};

// The sentences of the recorder and the forcer.
inline std::vector<std::string> said_of_races;

class RaceCalls : public testing::Test {
 protected:
  using Program = std::function<void(RacingProgram&)>;
  using Values = std::vector<std::vector<std::int32_t>>;

  void SetUp() override {
    std::string unique = (std::filesystem::path(testing::TempDir()) / "race_calls_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    folder_ = unique;
    fake_mpi = {};
    said_of_races.clear();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ + "/0-1.races"; }
  // The program's threads, one after the other; each is a new thread, since a recorder serves one process.
  void record(const std::vector<Program>& threads, const std::function<void(RaceRecorder&)>& at_the_end = {});
  void record(const Program& program) { record(std::vector{program}); }
  // The decisions of a stream, and their keys.
  [[nodiscard]] Values recorded(std::uint32_t stream);
  [[nodiscard]] std::vector<RaceKey> keys(std::uint32_t stream);
  [[nodiscard]] RaceEnd end();

  RaceForcer::Settings settings();
  // The recorded file is read anew.
  std::unique_ptr<RaceForcer> forcer(const RaceForcer::Settings& with);
  void force(const RaceForcer::Settings& with, const Program& program);
  void force(const Program& program) { force(settings(), program); }

  std::string folder_;

 private:
  void read();
  std::vector<char> bytes_;
  std::unique_ptr<RaceFile> file_;
};

}  // namespace ardoise::instrument
