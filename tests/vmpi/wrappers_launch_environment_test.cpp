// The environment of a launch of several programs, changed to that of one program alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "vmpi/loader/launch_environment.hpp"

namespace ardoise::vmpi {
namespace {

std::map<std::string, std::string> variables;

const char* variable(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}

class LaunchEnvironment : public testing::Test {
 protected:
  // Rank 3 of a launch -n 2 first : -n 3 second : -n 1 third, on one node: rank 1 of the second program.
  void SetUp() override {
    variables = {{"OMPI_NUM_APP_CTX", "3"},
                 {"OMPI_APP_CTX_NUM_PROCS", "2 3 1"},
                 {"OMPI_MCA_orte_app_num", "1"},
                 {"OMPI_MCA_orte_num_nodes", "1"},
                 {"OMPI_MCA_orte_ess_num_procs", "6"},
                 {"OMPI_MCA_ess_base_vpid", "3"},
                 {"OMPI_MCA_ess_base_jobid", "451608577"}};
  }
  OwnLaunch launch;
};

TEST_F(LaunchEnvironment, ProgramIsFoundInTheLaunch) {
  ASSERT_TRUE(read_own_launch(variable, launch));
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.size, 3);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.local_size, 3);
  EXPECT_EQ(launch.contexts, std::vector<int>{3});
}

TEST_F(LaunchEnvironment, JoinedContextsAreOneLaunch) {
  variables["VMPI_PARTITION_NAME"] = "coupled";
  variables["VMPI_PARTITION_CONTEXTS"] = "0,1";
  ASSERT_TRUE(read_own_launch(variable, launch));
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.size, 5);
  EXPECT_EQ(launch.contexts, (std::vector<int>{2, 3}));
  variables["VMPI_PARTITION_CONTEXTS"] = "1,2";
  ASSERT_TRUE(read_own_launch(variable, launch));
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(launch.contexts, (std::vector<int>{3, 1}));
  for (const char* bad : {"0,2", "1,5", "x", ""}) {
    variables["VMPI_PARTITION_CONTEXTS"] = bad;
    EXPECT_FALSE(read_own_launch(variable, launch)) << bad;
  }
}

TEST_F(LaunchEnvironment, UncertainVariablesAreUnchanged) {
  const auto unchanged_with = [&](const char* name, const char* value) {
    SetUp();
    variables[name] = value;
    return !read_own_launch(variable, launch);
  };
  EXPECT_TRUE(unchanged_with("OMPI_NUM_APP_CTX", "1"));
  EXPECT_TRUE(unchanged_with("OMPI_NUM_APP_CTX", "4"));
  EXPECT_TRUE(unchanged_with("OMPI_APP_CTX_NUM_PROCS", "2 3"));
  EXPECT_TRUE(unchanged_with("OMPI_APP_CTX_NUM_PROCS", "2 x 1"));
  EXPECT_TRUE(unchanged_with("OMPI_APP_CTX_NUM_PROCS", "2 3 2"));
  EXPECT_TRUE(unchanged_with("OMPI_MCA_orte_app_num", "3"));
  EXPECT_TRUE(unchanged_with("OMPI_MCA_ess_base_vpid", "1"));           // ranks are not dealt program by program
  EXPECT_TRUE(unchanged_with("OMPI_MCA_ess_base_jobid", "451608578"));  // spawned: one world
  EXPECT_TRUE(unchanged_with("VMPI_PARTITION_NAME", "coupled"));        // may be one world
  SetUp();
  variables.erase("OMPI_APP_CTX_NUM_PROCS");
  EXPECT_FALSE(read_own_launch(variable, launch));
}

TEST_F(LaunchEnvironment, OnSeveralNodesLocalRanksStayAsTheyAre) {
  variables["OMPI_MCA_orte_num_nodes"] = "2";
  ASSERT_TRUE(read_own_launch(variable, launch));
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.size, 3);
  const auto described = describe(launch);
  const std::map<std::string, std::string> values(described.begin(), described.end());
  EXPECT_EQ(values.at("OMPI_COMM_WORLD_RANK"), "1");
  EXPECT_FALSE(values.contains("OMPI_COMM_WORLD_LOCAL_RANK"));
  EXPECT_FALSE(values.contains("OMPI_COMM_WORLD_LOCAL_SIZE"));
  EXPECT_FALSE(values.contains("OMPI_COMM_WORLD_NODE_RANK"));
}

TEST_F(LaunchEnvironment, DescriptionHasEveryVariable) {
  const auto described = describe({4, 7, 1, 3, {5, 2}});
  const std::map<std::string, std::string> values(described.begin(), described.end());
  EXPECT_EQ(values.at("OMPI_COMM_WORLD_RANK"), "4");
  EXPECT_EQ(values.at("OMPI_COMM_WORLD_SIZE"), "7");
  EXPECT_EQ(values.at("OMPI_COMM_WORLD_LOCAL_RANK"), "1");
  EXPECT_EQ(values.at("OMPI_COMM_WORLD_LOCAL_SIZE"), "3");
  EXPECT_EQ(values.at("OMPI_NUM_APP_CTX"), "2");
  EXPECT_EQ(values.at("OMPI_APP_CTX_NUM_PROCS"), "5 2");
  EXPECT_EQ(values.at("OMPI_FIRST_RANKS"), "0 5");
}

// Rank 3 of a launch -n 2 first : -n 3 second : -n 1 analyzer of Hydra.
class HydraEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    variables = {{"PMI_FD", "8"},          {"PMI_RANK", "3"},        {"PMI_SIZE", "6"},
                 {"MPI_LOCALRANKID", "3"}, {"MPI_LOCALNRANKS", "6"}, {"VMPI_OWN_RANKS", "2,3,6,0000000000000000"}};
  }
  // As the process with the connection of this name leaves them to those that it starts.
  void describe_by(const char* connection) {
    ASSERT_TRUE(read_own_launch(variable, launch));
    for (const auto& [name, value] : describe_for_hydra(launch)) variables[name] = value;
    variables["VMPI_OWN_RANKS"] = std::string("2,3,6,") + connection;
  }
  OwnLaunch launch;
};

TEST_F(HydraEnvironment, ProgramIsFoundAndTheTruthRestored) {
  describe_by("00000000000000ab");
  EXPECT_EQ(variables["PMI_RANK"], "1");
  EXPECT_EQ(variables["PMI_SIZE"], "3");
  EXPECT_EQ(variables["MPI_LOCALRANKID"], "1");
  EXPECT_EQ(variables["MPI_LOCALNRANKS"], "3");
  EXPECT_FALSE(read_own_launch(variable, launch)) << "once is enough";
  for (const auto& [name, value] : truth_of_hydra(variable, "00000000000000ab")) variables[name] = value;
  EXPECT_EQ(variables["PMI_RANK"], "3");
  EXPECT_EQ(variables["PMI_SIZE"], "6");
  EXPECT_EQ(variables["MPI_LOCALRANKID"], "3");
  EXPECT_EQ(variables["MPI_LOCALNRANKS"], "6");
}

TEST_F(HydraEnvironment, ALaunchWithinTheLaunchIsLeftAlone) {
  describe_by("00000000000000ab");
  variables["PMI_RANK"] = "2";
  variables["PMI_SIZE"] = variables["MPI_LOCALNRANKS"] = "6";
  EXPECT_FALSE(read_own_launch(variable, launch));
  EXPECT_TRUE(truth_of_hydra(variable, "00000000000000cd").empty());
}

TEST_F(HydraEnvironment, UncertainVariablesAreUnchanged) {
  const auto unchanged_with = [&](const char* name, const char* value) {
    SetUp();
    variables[name] = value;
    return !read_own_launch(variable, launch);
  };
  EXPECT_TRUE(unchanged_with("PMI_RANK", "1")) << "ranks are not dealt program by program";
  EXPECT_TRUE(unchanged_with("PMI_SIZE", "7"));
  EXPECT_TRUE(unchanged_with("MPI_LOCALNRANKS", "3")) << "several nodes";
  EXPECT_TRUE(unchanged_with("VMPI_PARTITION_NAME", "coupled"));
  for (const auto* ranks : {"", "2,3,6", "2,3", "x,3,6,0000000000000000", "2,9,6,0000000000000000"})
    EXPECT_TRUE(unchanged_with("VMPI_OWN_RANKS", ranks)) << ranks;
  SetUp();
  EXPECT_TRUE(truth_of_hydra(variable, "0000000000000000").empty()) << "nobody has changed anything";
}

}  // namespace
}  // namespace ardoise::vmpi
