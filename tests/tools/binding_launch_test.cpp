// Compares Open MPI's choice of hosts and processors natively and under Ardoise: it must be the same for every rank of
// the programs.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "tests/tools/launch_fixture.hpp"
#include "tools/ardoise/launch/binding.hpp"
#include "tools/ardoise/launch/mpi_launcher.hpp"

namespace ardoise::launcher {
namespace {

class BindingLaunchTest : public LaunchFixture {
 protected:
  // Lines "rank host processors" of all ranks.
  static Words lines_of(const std::string& output) {
    Words found;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("rank ")) found.push_back(line);
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  static Words with_programs(Words options) {
    const Words program{
        "sh", "-c",
        "echo rank $OMPI_COMM_WORLD_RANK $(hostname) $(grep Cpus_allowed_list: /proc/self/status); exec '" RING "' 1"};
    const auto add = [&](Words::iterator at) { return options.insert(at, program.begin(), program.end()); };
    for (auto at = options.begin(); at != options.end(); ++at) {
      if (*at == ":") at = add(at) + static_cast<std::ptrdiff_t>(program.size());
    }
    add(options.end());
    return options;
  }
  void expect_same(const Words& options) const {
    Words words{launcher_words().front()};
    const Words launch = with_programs(options);
    words.insert(words.end(), launch.begin(), launch.end());
    const auto native = run_and_read(words);
    words.insert(words.begin(), {ARDOISE, "--quiet", "--no-report", "--output", output_});
    const auto observed = run_and_read(words);
    std::string line;
    for (const auto& option : options) line += option + ' ';
    EXPECT_FALSE(lines_of(native.output).empty()) << line << native.output;
    EXPECT_EQ(lines_of(observed.output), lines_of(native.output)) << line << observed.output;
  }
};

TEST_F(BindingLaunchTest, RanksAreWhereTheyAreNatively) {
  const auto mpirun = identify_launcher(launcher_words().front());
  if (mpirun.major != 4 || mpirun.minor != 1) GTEST_SKIP() << "its choices are those of another Open MPI";
  const std::string all = std::to_string(usable_cores(false)), more = std::to_string(usable_cores(false) + 1);
  for (const Words& options : {Words{"-n", "1"},
                               {"-n", "2"},
                               {"-n", all},
                               {"-n", "1", ":", "-n", "1"},
                               {"-n", "2", "--bind-to", "core"},
                               {"-n", all, "--bind-to", "socket"},
                               {"--map-by", "node", "-n", "2"},
                               {"--map-by", "core", "-n", all},
                               {"--oversubscribe", "-n", more},
                               {"--bind-to", "none", "-n", "2"},
                               {"--mca", "hwloc_base_binding_policy", "core", "-n", "2"}})
    expect_same(options);
  const auto places = (folder_ / "places").string();
  std::ofstream(places) << "rank 0=localhost slot=" << (usable_cores(false) - 1) << "\nrank 1=localhost slot=0\n";
  expect_same({"--rankfile", places, "-n", "2"});
  ::setenv("OMPI_MCA_hwloc_base_binding_policy", "core", 1);
  expect_same({"-n", all});
  ::setenv("OMPI_MCA_rmaps_base_mapping_policy", "core", 1);
  ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  expect_same({"-n", "2"});
  ::unsetenv("OMPI_MCA_hwloc_base_binding_policy");
  expect_same({"-n", "2"});
  ::unsetenv("OMPI_MCA_rmaps_base_mapping_policy");
}

}  // namespace
}  // namespace ardoise::launcher
