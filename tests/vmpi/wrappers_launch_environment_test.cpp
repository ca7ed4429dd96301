// The environment of a launch of several programs, told as that of one program alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "vmpi/launch_environment.hpp"

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

TEST_F(LaunchEnvironment, WhatIsNotCertainIsLeftAlone) {
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
  EXPECT_TRUE(unchanged_with("OMPI_MCA_orte_num_nodes", "2"));        // local ranks are not known
  EXPECT_TRUE(unchanged_with("OMPI_MCA_ess_base_vpid", "1"));         // ranks are not dealt program by program
  EXPECT_TRUE(unchanged_with("OMPI_MCA_ess_base_jobid", "451608578"));  // spawned: one world
  EXPECT_TRUE(unchanged_with("VMPI_PARTITION_NAME", "coupled"));      // may be one world
  SetUp();
  variables.erase("OMPI_APP_CTX_NUM_PROCS");
  EXPECT_FALSE(read_own_launch(variable, launch));
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

}  // namespace
}  // namespace ardoise::vmpi
