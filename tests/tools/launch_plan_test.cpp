// Tests the additions to the user's launch line, and that other words are unchanged.
#include "tools/ardoise/launch/launch_plan.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/tools/parsed_line.hpp"
#include "tools/ardoise/commands.hpp"
#include "tools/ardoise/common/similar_name.hpp"
#include "tools/ardoise/launch/mpi_launcher.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::HasSubstr;

std::string plan(const std::string& line, const std::optional<std::string>& preload = {},
                 PreloadBy by = PreloadBy::kExportOption, bool oversubscribe = false) {
  Measurement measurement;
  measurement.preload_library = "/lib/libardoise.so";
  measurement.analyzer = {"/bin/ardoise-analyzer", "--output", "/out"};
  measurement.analyzers = 2;
  measurement.preload_by = by;
  measurement.oversubscribe = oversubscribe;
  std::string text;
  for (const auto& word : to_words(plan_launch(parsed_line(line), measurement, preload)))
    text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(LaunchPlan, EveryProgramIsPreloadedAndTheAnalyzersComeLast) {
  EXPECT_EQ(
      plan("mpirun -n 4 ./solver in.cfg : -n 2 ./post"),
      "mpirun -n 4 -x LD_PRELOAD=/lib/libardoise.so ./solver in.cfg : -n 2 -x LD_PRELOAD=/lib/libardoise.so ./post"
      " : -n 2 /bin/ardoise-analyzer --output /out");
}

TEST(LaunchPlan, ThePreloadOfTheEnvironmentStaysBehindOursAndAwayFromTheAnalyzers) {
  EXPECT_EQ(plan("mpirun ./a", "/lib/other.so"),
            "mpirun -x LD_PRELOAD=/lib/libardoise.so:/lib/other.so ./a : -n 2 env -u LD_PRELOAD /bin/ardoise-analyzer "
            "--output /out");
}

TEST(LaunchPlan, ThePreloadOfTheLaunchLineWins) {
  EXPECT_THAT(plan("mpirun -x LD_PRELOAD=mine.so -x OTHER ./a", "env.so"),
              HasSubstr("mpirun -x OTHER -x LD_PRELOAD=/lib/libardoise.so:mine.so ./a : "));
  EXPECT_THAT(plan("mpirun -x LD_PRELOAD ./a", "env.so"),
              HasSubstr("mpirun -x LD_PRELOAD=/lib/libardoise.so:env.so ./a : "));
  EXPECT_THAT(plan("mpirun -x LD_PRELOADED=1 ./a"), HasSubstr("-x LD_PRELOADED=1 "));
}

TEST(LaunchPlan, EnvStartsTheProgramWhereExportsReachAllContexts) {
  EXPECT_EQ(plan("mpirun -n 1 ./a x", {}, PreloadBy::kEnvProgram),
            "mpirun -n 1 env LD_PRELOAD=/lib/libardoise.so ./a x : -n 2 /bin/ardoise-analyzer --output /out");
}

TEST(LaunchPlan, HydraSetsTheEnvironmentOfEachContext) {
  Measurement measurement;
  measurement.preload_library = "/lib/libardoise.so";
  measurement.environment = {{"ARDOISE_BUDGET", "8M"}};
  measurement.analyzer = {"/bin/ardoise-analyzer"};
  measurement.preload_by = PreloadBy::kHydraEnvOption;
  const auto line = parse_launch_line({"mpirun", "-genv", "LD_PRELOAD=theirs.so", "-n", "2", "./a", ":", "-env",
                                       "LD_PRELOAD", "other.so", "-n", "1", "./b", "x"},
                                      LauncherKind::kHydra);
  std::string text;
  for (const auto& word : to_words(plan_launch(line, measurement, std::nullopt))) text += word + ' ';
  EXPECT_EQ(text,
            "mpirun -n 2 -env LD_PRELOAD /lib/libardoise.so:theirs.so -env ARDOISE_BUDGET 8M "
            "-env VMPI_OWN_RANKS 0,2,4,0000000000000000 ./a : "
            "-n 1 -env LD_PRELOAD /lib/libardoise.so:other.so -env ARDOISE_BUDGET 8M "
            "-env VMPI_OWN_RANKS 2,1,4,0000000000000000 ./b x : "
            "-n 1 -env ARDOISE_BUDGET 8M /bin/ardoise-analyzer ");
}

std::string plan_with_settings(const LaunchLine& line, PreloadBy by) {
  Measurement measurement;
  measurement.preload_library = "ours.so";
  measurement.environment = {{"ARDOISE_RATE", "50"}, {"ARDOISE_BIN", "32k"}};
  measurement.analyzer = {"/bin/ardoise-analyzer"};
  measurement.preload_by = by;
  std::string text;
  for (const auto& word : to_words(plan_launch(line, measurement, "theirs.so")))
    text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(LaunchPlan, SettingsReachEveryContextAndTheAnalyzers) {
  EXPECT_EQ(plan_with_settings(parsed_line("mpirun ./a : -n 2 ./b"), PreloadBy::kExportOption),
            "mpirun -x LD_PRELOAD=ours.so:theirs.so -x ARDOISE_RATE=50 -x ARDOISE_BIN=32k ./a : "
            "-n 2 -x LD_PRELOAD=ours.so:theirs.so -x ARDOISE_RATE=50 -x ARDOISE_BIN=32k ./b : "
            "-n 1 -x ARDOISE_RATE=50 -x ARDOISE_BIN=32k env -u LD_PRELOAD /bin/ardoise-analyzer");
  EXPECT_EQ(plan_with_settings(parsed_line("mpirun ./a"), PreloadBy::kEnvProgram),
            "mpirun env LD_PRELOAD=ours.so:theirs.so ARDOISE_RATE=50 ARDOISE_BIN=32k ./a : "
            "-n 1 env ARDOISE_RATE=50 ARDOISE_BIN=32k env -u LD_PRELOAD /bin/ardoise-analyzer");
}

TEST(LaunchPlan, SettingsThatTheLineGivesStayAsTheyAre) {
  EXPECT_EQ(plan_with_settings(parsed_line("mpirun -x ARDOISE_RATE=9 ./a : ./b"), PreloadBy::kExportOption),
            "mpirun -x ARDOISE_RATE=9 -x LD_PRELOAD=ours.so:theirs.so -x ARDOISE_BIN=32k ./a : "
            "-x LD_PRELOAD=ours.so:theirs.so -x ARDOISE_RATE=50 -x ARDOISE_BIN=32k ./b : "
            "-n 1 -x ARDOISE_RATE=50 -x ARDOISE_BIN=32k env -u LD_PRELOAD /bin/ardoise-analyzer");
  EXPECT_EQ(plan_with_settings(parsed_line("mpirun ./a : -x ARDOISE_RATE=9 ./b"), PreloadBy::kEnvProgram),
            "mpirun env LD_PRELOAD=ours.so:theirs.so ARDOISE_BIN=32k ./a : "
            "-x ARDOISE_RATE=9 env LD_PRELOAD=ours.so:theirs.so ARDOISE_BIN=32k ./b : "
            "-n 1 env ARDOISE_BIN=32k env -u LD_PRELOAD /bin/ardoise-analyzer");
  const auto hydra = parse_launch_line(
      {"mpirun", "-genv", "ARDOISE_BIN", "64k", "./a", ":", "-env", "ARDOISE_RATE=9", "./b"}, LauncherKind::kHydra);
  EXPECT_EQ(plan_with_settings(hydra, PreloadBy::kHydraEnvOption),
            "mpirun -genv ARDOISE_BIN 64k -env LD_PRELOAD ours.so:theirs.so -env ARDOISE_RATE 50 ./a : "
            "-env ARDOISE_RATE=9 -env LD_PRELOAD ours.so:theirs.so ./b : "
            "-n 1 -env ARDOISE_RATE 50 env -u LD_PRELOAD /bin/ardoise-analyzer");
}

TEST(LaunchPlan, OversubscriptionIsAskedForInTheFirstContext) {
  EXPECT_THAT(plan("mpirun -n 4 ./a : -n 1 ./b", {}, PreloadBy::kExportOption, true),
              HasSubstr("mpirun --oversubscribe -n 4 "));
}

TEST(LaunchPlan, ProgramsWithSlotsOfTheirOwnKnowIt) {
  Measurement measurement;
  measurement.analyzer = {"/bin/ardoise-analyzer"};
  measurement.slots_suffice = true;
  const auto planned = to_words(plan_launch(parsed_line("mpirun ./a"), measurement, {}));
  EXPECT_EQ(std::ranges::count(planned, "VMPI_SLOTS_SUFFICE=1"), 1) << "the analyzers yield";
}

TEST(LaunchPlan, OpenMpiIsToldTheProcessesOfTheOnlyProgram) {
  Measurement measurement;
  measurement.analyzer = {"/bin/ardoise-analyzer"};
  measurement.processes = 8;
  const auto planned = plan_launch(parsed_line("mpirun ./a"), measurement, {});
  EXPECT_EQ(planned.contexts.front().processes(), 8U);
}

TEST(LaunchPlan, RanksAreCountedWhereTheLineSaysThem) {
  EXPECT_EQ(count_ranks(parsed_line("mpirun -n 4 a : -np 2 b"), std::nullopt), 6U);
  EXPECT_EQ(count_ranks(parsed_line("mpirun a"), 8), 8U);
  EXPECT_EQ(count_ranks(parsed_line("mpirun a"), std::nullopt), std::nullopt);
  EXPECT_EQ(count_ranks(parsed_line("mpirun -N 2 a"), 8), std::nullopt);
  EXPECT_EQ(count_ranks(parsed_line("mpirun --map-by ppr:2:node a"), 8), std::nullopt);
}

TEST(LaunchPlan, OneAnalyzerForEvery32Ranks) {
  EXPECT_EQ(default_analyzers(std::nullopt), 1U);
  EXPECT_EQ(default_analyzers(1), 1U);
  EXPECT_EQ(default_analyzers(32), 1U);
  EXPECT_EQ(default_analyzers(33), 2U);
  EXPECT_EQ(default_analyzers(1024), 32U);
}

TEST(LaunchPlan, OversubscriptionInAllItsSpellings) {
  ::unsetenv("OMPI_MCA_rmaps_base_oversubscribe");
  EXPECT_FALSE(allows_oversubscription(parsed_line("mpirun -n 2 a")));
  EXPECT_TRUE(allows_oversubscription(parsed_line("mpirun --oversubscribe -n 2 a")));
  EXPECT_TRUE(allows_oversubscription(parsed_line("mpirun --map-by node:OVERSUBSCRIBE a")));
  EXPECT_TRUE(allows_oversubscription(parsed_line("mpirun --mca rmaps_base_oversubscribe 1 a")));
  EXPECT_FALSE(allows_oversubscription(parsed_line("mpirun --nooversubscribe a")));
  EXPECT_TRUE(forbids_oversubscription(parsed_line("mpirun --map-by node:NOOVERSUBSCRIBE a")));
}

TEST(LaunchPlan, SlotsAreAskedForOnTheSameHosts) {
  std::string text;
  for (const auto& word : slot_question(parsed_line("mpirun -H a:2 -x Q -n 2 ./a 1 : -n 7 --hostfile h ./b")))
    text += word + ' ';
  EXPECT_EQ(text,
            "mpirun -H a:2 -n 1 printenv OMPI_UNIVERSE_SIZE OMPI_MCA_orte_num_nodes : --hostfile h -n 1 printenv "
            "OMPI_UNIVERSE_SIZE OMPI_MCA_orte_num_nodes ");
  const auto slots = read_slot_answer("some warning\n16\n2\n16\n2\n");
  ASSERT_TRUE(slots);
  EXPECT_EQ(slots->all, 16U);
  EXPECT_EQ(slots->machines, 2U);
  EXPECT_FALSE(read_slot_answer("mpirun: 3 errors\n"));
}

TEST(MpiLauncher, IsToldByItsVersion) {
  const auto four = read_version("mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n");
  EXPECT_TRUE(four.open_mpi);
  EXPECT_EQ(four.major, 4U);
  EXPECT_FALSE(four.hydra);
  const auto hydra = read_version("HYDRA build details:\n    Version: 4.0.2\n");
  EXPECT_FALSE(hydra.open_mpi);
  EXPECT_TRUE(hydra.hydra);
  EXPECT_EQ(family_of("libmpich.so.12"), "MPICH");
  EXPECT_EQ(family_of("libmpi.so.40"), "Open MPI");
}

TEST(MpiLauncher, RefusesWhatIsNone) {
  EXPECT_NO_THROW(check_launcher_name("/opt/bin/mpiexec.openmpi"));
  EXPECT_THROW(check_launcher_name("srun"), UsageError);
  EXPECT_THROW(check_launcher_name("./solver"), UsageError);
  EXPECT_THROW(check_launcher_name("--analyser"), UsageError);
}

std::string why_not_begin_with(const std::string& word) {
  try {
    check_first_word(word);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(FirstWord, ACommandThatWasMeantIsNamed) {
  EXPECT_EQ(typing_errors("status", "status"), 0u);
  EXPECT_EQ(typing_errors("staus", "status"), 1u);
  EXPECT_EQ(typing_errors("repotr", "report"), 1u) << "swapped";
  EXPECT_EQ(typing_errors("", "show"), 4u);
  EXPECT_EQ(why_not_begin_with("staus"), "there is no command 'staus'; did you mean status?");
  EXPECT_EQ(why_not_begin_with("snapshot"), "there is no command 'snapshot'; did you mean snapshots?");
  EXPECT_EQ(why_not_begin_with("mpiru"), "there is no launcher 'mpiru'; did you mean mpirun?");
  EXPECT_EQ(
      why_not_begin_with("frobnicate"),
      "there is no command and no program 'frobnicate': the commands are status, control, report, show, "
      "export, snapshots, trace, explain, help, and a launch begins with its launcher, ardoise mpirun -n 4 ./program.");
  for (const char* other : {"./staus", "/opt/bin/mpiexec.openmpi", "sh", "--analyser"})
    EXPECT_EQ(why_not_begin_with(other), "") << other;
}

TEST(FirstWord, HelpIsOfACommandOnly) {
  EXPECT_NO_THROW(check_command("trace"));
  EXPECT_THROW(check_command("mpirun"), UsageError);
}

}  // namespace
}  // namespace ardoise::launcher
