// Tests findings on small programs with one fault each. The first finding names cause, rank, function, line and remedy;
// the correct version of each program has none. The machine may have fewer processors than the programs have ranks:
// only names, lines and certain facts are compared.
//
// For late senders, late roots and slow workers before MPI_Waitall, the finding names the late rank, its function, and
// the call with most of the waiting. The wait of this call for this rank is not measured; it follows because there is
// only one such rank. A memory leak is found by its growth.
#include <gmock/gmock.h>

#include <fstream>
#include <regex>

#include "reports/findings/findings.hpp"
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::HasSubstr;

struct Fault {
  friend void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }
  std::string name;                    // argument of the program
  std::vector<std::string> ids;        // of the first finding: one of them
  std::vector<std::string> words;      // in its text
  std::vector<std::string> functions;  // named in its text, each with one of its lines
  std::string advice;
};

// Ranks that share processors may be late in another way each time: several codes are right.
const Fault kFaults[] = {
    {"late_sender",
     {"serial.rank", "late.static"},
     {"Only rank 0 runs", "the others wait for it in MPI_Recv"},
     {"prepare_message", "receive_message"},
     "work"},
    {"imbalance",
     {"late.static", "serial.rank"},
     {"Only rank 2 runs", "most of it in inner_cells", "the others wait for it in MPI_Allreduce"},
     {"expensive_boundary", "sum_up"},
     "work"},
    {"late_root",
     {"serial.rank"},
     {"Only rank 0 runs", "the others wait for it in MPI_Bcast"},
     {"compute_parameters", "share_parameters"},
     "Spread this work"},
    {"serial_ring", {"chain.token", "chain.serial"}, {"ranks work at a time", "MPI_Recv"}, {"wait_for_turn"}, "rank"},
    {"tiny_messages",
     {"ovh.tiny"},
     {"100,000 calls of a rank to MPI_Send", "8 B each"},
     {"send_each_cell"},
     "into one"},
    {"tiny_writes", {"io.small"}, {"400,000 reads and writes", "8 B", "result"}, {"write_each_value"}, "Buffer"},
    {"same_file", {"io.reread"}, {"All 4 ranks read input.0, 200 MiB each"}, {"read_input"}, "MPI_Bcast"},
    {"slow_worker",
     {"late.static", "serial.rank"},
     {"Only rank 3 runs", "the others wait for it in MPI_Waitall"},
     {"solve_large_block", "exchange"},
     "work"},
    {"no_overlap", {"prog.false_overlap"}, {"MPI_Iallreduce", "at once"}, {"sum_without_overlap"}, "Move the wait"},
    {"one_caller", {"late.static", "serial.rank"}, {"Only rank 1 runs"}, {"collect_statistics"}, "work"},
#if HAS_OPENMP
    {"idle_threads", {"thr.serial"}, {"One of 4 threads"}, {"serial_part"}, "parallel over threads"},
    {"uneven_region", {"thr.uneven"}, {"The busiest of 4"}, {"threaded_triangle"}, "schedule"},
#endif
    {"leak", {"leaked_communicators", "ovh.create"}, {"MPI_Comm_dup"}, {"duplicate_in_each_step"}, ""},
    {"strided_writes",
     {"io.random"},
     {"of the 79,996 accesses to matrix.0, ≤ 100 B each, have a constant stride"},
     {"write_columns"},
     "MPI_File_set_view"},
    {"many_opens", {"io.meta"}, {" 80,000 times"}, {"opened"}, "keep it open"},
    {"columns", {"ovh.types"}, {"MPI_Sendrecv", "pieces of 8 B"}, {"swap_border"}, "contiguously"},
    {"memory_leak",
     {"memory_growth"},
     {"Memory of rank 1 grows steadily, memory of the others does not"},
     {},
     "never freed"},
};

// Lines of a function of the program, from its name to the closing brace.
std::pair<int, int> lines_of(const std::string& function) {
  std::ifstream source(FAULTS_SOURCE);
  std::string line;
  std::pair<int, int> lines{0, 0};
  for (int number = 1; std::getline(source, line); ++number) {
    if (lines.first == 0) {
      if (!line.starts_with("static") || line.find(" " + function + "(") == std::string::npos) continue;
      lines.first = number;
    }
    if (line.starts_with("}") || line.ends_with("}")) return {lines.first, number};
  }
  return lines;
}

void expect_named(const std::string& text, const std::string& function) {
  std::smatch found;
  ASSERT_TRUE(
      std::regex_search(text, found, std::regex(function + R"((?: \[OpenMP region \d+\])? \(faults\.c:(\d+)\))")))
      << text;
  const auto [first, last] = lines_of(function);
  const int line = std::stoi(found[1]);
  EXPECT_GE(line, first) << function;
  EXPECT_LE(line, last) << function;
}

// Findings on the measurement and on the load of the machine.
bool is_of_the_measurement(const reports::Finding& finding) {
  const std::vector<std::string> ids{"node.oversub",        "node.foreign", "records_dropped",
                                     "measurement_blocked", "overhead",     "sampling_cost"};
  return std::ranges::find(ids, finding.id) != ids.end();
}

class FaultsTest : public LaunchFixture, public ::testing::WithParamInterface<Fault> {
 protected:
  [[nodiscard]] std::vector<reports::Finding> findings(const Words& arguments) {
    Words launch{"-n", "4", FAULTS_PROGRAM};
    launch.insert(launch.end(), arguments.begin(), arguments.end());
    launch.push_back(folder_.string());
    const auto result = ardoise({}, launch);
    EXPECT_EQ(result.status, 0) << result.output;
    const auto run = profile();
    EXPECT_EQ(run.applications.size(), 1U);
    auto all = run.applications.empty() ? std::vector<reports::Finding>{} : reports::findings_of(run.applications[0]);
    crowded_ = std::ranges::any_of(all, [](const reports::Finding& f) { return f.id.starts_with("node."); });
    std::erase_if(all, is_of_the_measurement);
    return all;
  }
  bool crowded_ = false;  // ranks of the latest launch shared processors: durations are unreliable
};

TEST_P(FaultsTest, TheFirstFindingNamesTheCause) {
  const Fault& fault = GetParam();
  const auto all = findings({fault.name});
  ASSERT_FALSE(all.empty());
  const reports::Finding& first = all.front();
  EXPECT_THAT(fault.ids, ::testing::Contains(first.id)) << first.text;
  EXPECT_TRUE(crowded_ || first.severity != reports::Severity::note) << first.text;
  for (const std::string& word : fault.words) EXPECT_THAT(first.text, HasSubstr(word));
  for (const std::string& function : fault.functions) expect_named(first.text, function);
  EXPECT_THAT(first.advice, HasSubstr(fault.advice));
}

// On a crowded host calls may take long in a right program too, but not for the fault's reason.
TEST_P(FaultsTest, TheRightTwinHasNoFindingOfWeight) {
  for (const reports::Finding& finding : findings({GetParam().name, "right"})) {
    if (finding.severity == reports::Severity::note) continue;
    // Rank 0 reads for all there; the share of its time depends on the disk.
    if (GetParam().name == "same_file" && finding.id == "io.rank0") continue;
    const bool is_the_fault = std::ranges::find(GetParam().ids, finding.id) != GetParam().ids.end();
    EXPECT_TRUE(crowded_ && !is_the_fault) << finding.id << ": " << finding.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultsTest, ::testing::ValuesIn(kFaults),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace ardoise::launcher
