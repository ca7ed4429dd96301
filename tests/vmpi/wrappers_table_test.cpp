// The table of MPI functions: its format, its errors, and the header that is made of it.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "vmpi/generator/kinds.hpp"
#include "vmpi/generator/table.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::generator {
namespace {

Table real_table() {
  std::ifstream file(MPI_TABLE);
  std::ostringstream text;
  text << file.rdbuf();
  return parse_table(text.str(), MPI_TABLE);
}

std::string error_of(std::string_view text) {
  try {
    (void)parse_table(text, "t");
  } catch (const TableError& error) {
    return error.what();
  }
  return "";
}

TEST(Table, ReadsAFunction) {
  const auto table = parse_table("[p] # a category\nMPI_Send send buf count type dest tag comm !no-f08\n", "t");
  ASSERT_EQ(table.functions.size(), 1u);
  const auto& send = table.functions[0];
  EXPECT_EQ(send.category, "p");
  EXPECT_EQ(send.position("dest"), 3);
  EXPECT_EQ(send.position("root"), -1);
  EXPECT_TRUE(send.no_f08);
  EXPECT_EQ(send.enumerator(), "kSend");
  EXPECT_EQ(send.lower_name(), "mpi_send");
}

TEST(Table, FlagsOfASectionAreThoseOfItsFunctions) {
  const auto table = parse_table("[p] !any-thread\nMPI_A - -\n[q]\nMPI_B - -\nMPI_C - - !query\n", "t");
  ASSERT_EQ(table.functions.size(), 3u);
  EXPECT_EQ(table.functions[0].category, "p");
  EXPECT_TRUE(table.functions[0].any_thread);
  EXPECT_FALSE(table.functions[1].any_thread);
  EXPECT_TRUE(table.functions[2].any_thread) << "a query";
  EXPECT_NE(error_of("[p] !fast\nMPI_A - -\n").find("unknown flag"), std::string::npos);
  EXPECT_NE(error_of("[p] !large\nMPI_A - -\n").find("t:1"), std::string::npos);
}

TEST(Table, LargeTwinsAreNumberedBehindAllLines) {
  const auto table = parse_table("[p]\nMPI_Send send buf count type dest tag comm !large\n[q]\nMPI_A - -\n", "t");
  ASSERT_EQ(table.functions.size(), 3u);
  EXPECT_EQ(table.functions[1].name, "MPI_A");
  const auto& twin = table.functions[2];
  EXPECT_EQ(twin.name, "MPI_Send_c");
  EXPECT_EQ(twin.category, "p");
  EXPECT_EQ(twin.lower_name(), "mpi_send") << "in Fortran a specific of MPI_Send";
  EXPECT_TRUE(twin.large);
  EXPECT_FALSE(table.functions[0].large);
  EXPECT_NE(error_of("[p]\nMPI_A - - !large\nMPI_A_c - -\n").find("MPI_A_c is there twice"), std::string::npos);
}

TEST(Table, ErrorsNameTheLine) {
  EXPECT_NE(error_of("[p]\n\nMPI_Send nonsense comm\n").find("t:3"), std::string::npos);
  EXPECT_NE(error_of("[p]\nMPI_Send - coomm\n").find("unknown kind coomm"), std::string::npos);
  EXPECT_NE(error_of("[p]\nMPI_Send send buf count type dest tag\n").find("needs one parameter of kind comm"),
            std::string::npos);
  EXPECT_NE(error_of("[p]\nMPI_A - -\nMPI_A - -\n").find("twice"), std::string::npos);
  EXPECT_NE(error_of("MPI_A - -\n").find("before the first"), std::string::npos);
  EXPECT_NE(error_of("[p]\nMPI_A - - !fast\n").find("unknown flag"), std::string::npos);
  EXPECT_NE(error_of("[skip]\nMPI_A\n").find("without a reason"), std::string::npos);
}

TEST(Table, HashIsThatOfTheNamesInOrder) {
  const auto hash = [](std::string_view text) { return parse_table(text, "t").hash(); };
  EXPECT_EQ(hash("[p]\nMPI_A - -\nMPI_B - -\n"), hash("[q]\nMPI_A - comm\nMPI_B - -\n"));
  EXPECT_NE(hash("[p]\nMPI_A - -\nMPI_B - -\n"), hash("[p]\nMPI_B - -\nMPI_A - -\n"));
}

TEST(Table, TheHeaderIsMadeFromThisTable) {
  const auto table = real_table();
  ASSERT_EQ(table.functions.size(), vmpi::kFunctionCount);
  EXPECT_EQ(table.hash(), vmpi::kTableHash);
  for (unsigned i = 0; i < vmpi::kFunctionCount; ++i) {
    EXPECT_EQ(table.functions[i].name, vmpi::kFunctionTraits[i].name);
    EXPECT_EQ(table.functions[i].category, vmpi::kFunctionTraits[i].category);
  }
  EXPECT_STREQ(vmpi::function_name(vmpi::FunctionId::kAllreduce), "MPI_Allreduce");
  EXPECT_EQ(vmpi::function_traits(vmpi::FunctionId::kIsend).role, vmpi::Role::kSend);
  EXPECT_TRUE(vmpi::function_traits(vmpi::FunctionId::kIsend).starts_request);
  EXPECT_TRUE(vmpi::function_traits(vmpi::FunctionId::kSend_init).persistent);
  EXPECT_STREQ(vmpi::function_category(vmpi::FunctionId::kWaitall), "wait");
}

TEST(Table, EveryFunctionThatMovesDataHasARule) {
  const std::set<std::string> data = {"collective", "neighbourhood", "wait"};
  for (const auto& function : real_table().functions) {
    if (!data.contains(function.category)) continue;
    EXPECT_NE(function.rule, "-") << function.name;
  }
}

TEST(Table, PersistentFunctionsStartRequests) {
  for (const auto& function : real_table().functions) {
    const bool prepares = function.name.ends_with("_init") || function.name.ends_with("_init_c");
    EXPECT_EQ(function.persistent, prepares && function.has("request_out")) << function.name;
  }
}

}  // namespace
}  // namespace ardoise::generator
