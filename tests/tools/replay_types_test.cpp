// Datatypes made from their texts equal the originals. With MPI, in one process.
#include "tools/replay/replay_types.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instrument/record/type_text.hpp"
#include "vmpi/wrappers/call_arguments.hpp"
#include "vmpi/wrappers/type_runs.hpp"

namespace ardoise::replay {
namespace {

std::string text_of(MPI_Datatype type) { return instrument::describe_type(vmpi::handle_word(type)).text; }

void expect_same(const std::string& text) {
  bool is_predefined = true;
  MPI_Datatype type = make_datatype(text, is_predefined);
  ASSERT_NE(type, MPI_DATATYPE_NULL) << text;
  EXPECT_FALSE(is_predefined) << text;
  EXPECT_EQ(text_of(type), text);
  MPI_Type_free(&type);
}

TEST(ReplayTypes, TextsMakeTheTypeThatTheyAreOf) {
  const std::string order = std::to_string(MPI_ORDER_C);
  const std::string block = std::to_string(MPI_DISTRIBUTE_BLOCK), usual = std::to_string(MPI_DISTRIBUTE_DFLT_DARG);
  for (const std::string& text : std::vector<std::string>{
           "contiguous(7;;MPI_INT)", "vector(10,2,5;;MPI_DOUBLE)", "hvector(3,2;100;MPI_FLOAT)",
           "indexed(3,1,2,3,0,10,20;;MPI_CHAR)", "hindexed(2,1,2;8,64;MPI_LONG)", "indexed_block(2,3,4,40;;MPI_SHORT)",
           "hindexed_block(2,3;0,96;MPI_DOUBLE)", "struct(2,1,3;0,8;MPI_INT,MPI_CHAR)",
           "subarray(2,10,20,3,4,1,2," + order + ";;MPI_INT)",
           "darray(4,1,2,10,20," + block + "," + block + "," + usual + "," + usual + ",2,2," + order + ";;MPI_INT)",
           "resized(;-8,64;vector(2,1,3;;MPI_INT))", "resized(;0,16;struct(2,1,3;0,8;MPI_INT,contiguous(2;;MPI_CHAR)))",
           "dup(;;contiguous(3;;MPI_2INT))"})
    expect_same(text);
}

TEST(ReplayTypes, PredefinedOnesAreThemselves) {
  for (const MPI_Datatype type : {MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_2INT, MPI_DOUBLE_PRECISION, MPI_C_BOOL}) {
    bool is_predefined = false;
    EXPECT_EQ(make_datatype(text_of(type), is_predefined), type) << text_of(type);
    EXPECT_TRUE(is_predefined);
  }
}

TEST(ReplayTypes, AnOpaqueOneHasItsSizeAndExtent) {
  std::vector<std::string> not_made;
  const ReplayTypes types({"", "opaque(24;-8,100;)"}, not_made);
  EXPECT_TRUE(not_made.empty());
  EXPECT_EQ(types[1].size, 24);
  EXPECT_EQ(types[1].extent, 100);
  EXPECT_EQ(types[0].handle, MPI_BYTE);
}

TEST(ReplayTypes, OtherTextsMakeNone) {
  bool is_predefined = true;
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "dup(;;";
  for (const std::string& text :
       {std::string(), std::string("MPI_NOTHING"), std::string("vector(1,2;;MPI_INT)"),
        std::string("vector(1,2,3;;MPI_INT"), std::string("contiguous(-1;;MPI_INT)"),
        std::string("indexed(1000000000,1;;MPI_INT)"), std::string("struct(2,1,3;0,8;MPI_INT)"),
        std::string("darray(1,2,3;;MPI_INT)"), std::string("MPI_INT)"),
        std::string("contiguous(99999999999999999999;;MPI_INT)"), deep})
    EXPECT_EQ(make_datatype(text, is_predefined), MPI_DATATYPE_NULL) << text;
}

TEST(ReplayTypes, RunsOfMemoryAreKnown) {
  constexpr std::int64_t kContiguous = std::numeric_limits<std::int64_t>::max();
  const std::string in_c = std::to_string(MPI_ORDER_C), in_fortran = std::to_string(MPI_ORDER_FORTRAN);
  const std::pair<std::string, std::int64_t> types[] = {
      {"contiguous(7;;MPI_INT)", kContiguous},
      {"vector(10,2,5;;MPI_DOUBLE)", 16},
      {"vector(10,5,5;;MPI_DOUBLE)", kContiguous},
      {"vector(1,5,9;;MPI_DOUBLE)", kContiguous},
      {"hvector(3,2;100;MPI_FLOAT)", 8},
      {"hvector(4,1;8;vector(9,1,20;;MPI_DOUBLE))", 8},
      {"vector(9,1,20;;contiguous(6;;MPI_DOUBLE))", 48},
      {"contiguous(3;;vector(10,2,5;;MPI_DOUBLE))", 16},
      {"dup(;;vector(10,2,5;;MPI_DOUBLE))", 16},
      {"resized(;0,8;vector(10,2,5;;MPI_DOUBLE))", 16},
      {"contiguous(100;;resized(;0,16;contiguous(12;;MPI_CHAR)))", 12},
      {"indexed(3,1,2,3,0,10,20;;MPI_CHAR)", 2},
      {"indexed_block(2,3,4,40;;MPI_SHORT)", 6},
      {"hindexed_block(2,3;0,96;MPI_DOUBLE)", 24},
      {"struct(2,1,3;0,8;MPI_INT,MPI_CHAR)", 3},
      {"struct(2,2,4;0,8;MPI_INT,MPI_INT)", kContiguous},
      {"subarray(2,10,20,3,4,1,2," + in_c + ";;MPI_INT)", 16},
      {"subarray(2,10,20,3,20,1,0," + in_c + ";;MPI_INT)", 240},
      {"subarray(2,10,20,10,4,0,2," + in_fortran + ";;MPI_INT)", 160},
      {"subarray(3,8,8,8,8,8,1,0,0,0," + in_c + ";;MPI_DOUBLE)", 8}};
  for (const auto& [text, run] : types) {
    bool is_predefined = true;
    MPI_Datatype type = make_datatype(text, is_predefined);
    ASSERT_NE(type, MPI_DATATYPE_NULL) << text;
    EXPECT_EQ(vmpi::type_runs::mean_run(type), run) << text;
    MPI_Type_free(&type);
  }
  EXPECT_EQ(vmpi::type_runs::mean_run(MPI_2INT), kContiguous);
}

TEST(ReplayTypes, AFreedHandleIsLookedAtAgain) {
  MPI_Datatype types[2];
  MPI_Type_vector(10, 1, 5, MPI_DOUBLE, &types[0]);
  MPI_Type_contiguous(10, MPI_DOUBLE, &types[1]);
  for (MPI_Datatype& type : types) MPI_Type_commit(&type);
  vmpi::type_runs::shortest = 0;
  vmpi::type_runs::use(types[1]);
  EXPECT_EQ(vmpi::type_runs::shortest, 0U);
  vmpi::type_runs::use(types[0]);
  EXPECT_EQ(vmpi::type_runs::shortest, 8U);
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
  vmpi::type_runs::forget();
  for (int i = 0; i < 10; ++i) {  // handles are used again
    MPI_Type_contiguous(10, MPI_DOUBLE, &types[0]);
    vmpi::type_runs::shortest = 0;
    vmpi::type_runs::use(types[0]);
    EXPECT_EQ(vmpi::type_runs::shortest, 0U);
    MPI_Type_free(&types[0]);
    vmpi::type_runs::forget();
  }
}

TEST(ReplayTypes, ChangedTextsMakeATypeOrNone) {
  const std::string text = "resized(;0,16;struct(2,1,3;0,8;MPI_INT,subarray(2,10,20,3,4,1,2,56;;MPI_CHAR)))";
  std::minstd_rand random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string changed = text;
    for (int i = 0; i < 2; ++i) changed[random() % changed.size()] = "0123456789(),;-M"[random() % 16];
    bool is_predefined = true;
    MPI_Datatype type = make_datatype(changed, is_predefined);
    if (type != MPI_DATATYPE_NULL && !is_predefined) MPI_Type_free(&type);
  }
}

}  // namespace
}  // namespace ardoise::replay

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  MPI_Init(&argc, &argv);
  const int status = RUN_ALL_TESTS();
  MPI_Finalize();
  return status;
}
