// Writes seeds for fuzz_left: two processes that wait for each other, and an analyzer's state.
// Run: build/bin/fuzz_left_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/output_folder/own_files.hpp"
#include "analyzer/states/safe_state.hpp"
#include "replay/pack_maker.hpp"

using namespace ardoise;
using instrument::RankRange;
using instrument::RecentCall;
using vmpi::FunctionId;

namespace {

std::string process_state(std::uint32_t rank) {
  replay::PackMaker maker({.rank = rank});
  instrument::ProcessStateDefinition fixed{};
  fixed.tick = 2000;
  fixed.wall_ns = 1000;
  maker.define(fixed);
  const RankRange world{0, 2, 1}, other{1 - static_cast<std::int32_t>(rank), 1, 0};
  maker.define(
      instrument::CommunicatorDefinition{2, instrument::CommunicatorKind::kIntra, 1, 0, 2, rank, 0, 1, 0, 0, 1},
      std::span(&world, 1), std::string_view("pair"));
  const RankRange sides[] = {{static_cast<std::int32_t>(rank), 1, 0}, other};
  maker.define(instrument::CommunicatorDefinition{3, instrument::CommunicatorKind::kInter, 2, 0, 1, 0, 1, 1, 1, 0, 2},
               std::span<const RankRange>(sides), std::string_view("between"));
  maker.define(instrument::CollectivesDefinition{2, 1, {instrument::collective_word(7, 0), 0, 0, 0, 0, 0, 0, 0}});
  maker.define(instrument::ModuleDefinition{1, 0, 0, 4096}, std::string_view("/a/solver"), std::string_view(""));
  RecentCall calls[2]{};
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    const auto function = thread == 0 ? FunctionId::kRecv : thread == 1 ? FunctionId::kBarrier : FunctionId::kWaitall;
    const auto shape = thread == 0   ? instrument::Shape::kReceive
                       : thread == 1 ? instrument::Shape::kCollective
                                     : instrument::Shape::kLocal;
    calls[0].word = instrument::make_word(thread == 0 ? 2 : 3, static_cast<std::uint32_t>(function), shape);
    calls[0].ticks = 1000;
    calls[0].peer = static_cast<std::int32_t>(1 - rank);
    calls[0].tag = 7;
    calls[0].collective = thread == 1 ? 2 : 0;
    calls[0].flags = instrument::kOpenCall;
    calls[1] = calls[0];
    calls[1].word =
        instrument::make_word(2, static_cast<std::uint32_t>(FunctionId::kIrecv), instrument::Shape::kPostReceive);
    calls[1].flags = 0;
    const std::uint32_t count = thread == 2 ? 2 : 1;
    maker.define(instrument::RecentCallsDefinition{thread, count, 2000}, std::span<const RecentCall>(calls, count));
    const instrument::StackFrame frame{1, 1, 0x100};
    maker.define(instrument::StackDefinition{thread, instrument::StackOf::kEnd, 1, 0},
                 std::span<const instrument::StackFrame>(&frame, 1));
  }
  maker.flush();
  std::string bytes;
  for (auto& pack : maker.take()) bytes.append(reinterpret_cast<const char*>(pack.bytes().data()), pack.bytes().size());
  return bytes;
}

std::string state(const std::filesystem::path& folder) {
  const std::vector<knowledge_sources::Program> programs{{.partition = 0, .name = "solver", .ranks = 2}};
  analyzer::AnalyzerRun run({.workers = 1, .analyses = {}});
  run.add_program(programs[0]);
  analyzer::Options options;
  options.output = folder.string();
  options.command = "mpirun -n 2 solver";
  options.settings.push_back({"rate", "1000", "the user"});
  const std::vector<std::string> gone{"rank 1 of solver"};
  write_safe_state(run, {programs, {}, gone, {{{0, 0}, 1}}, 0, analyzer::kSafeStatePrefix, 0, 0}, 0, options);
  const auto file = analyzer::safe_state_file(folder, analyzer::kSafeStatePrefix, 0);
  (void)analyzer::read_safe_state(file);  // throws, where it is no good seed
  std::string bytes = analyzer::read_own_file(file).value_or("");
  std::filesystem::remove(file);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("fuzz_left_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::ofstream processes(folder / "process", std::ios::binary), one(folder / "state", std::ios::binary);
  const bool is_written =
      (processes << std::string("process\0", 8) << process_state(0) << process_state(1) << std::flush) &&
      (one << std::string("state\0\0\0", 8) << state(folder) << std::flush);
  if (!is_written) std::fprintf(stderr, "The seeds cannot be written to %s.\n", argv[1]);
  return is_written ? 0 : 1;
}
