// The reader of preprocessed mpi.h headers, and the check of a header against the table.
#include <gtest/gtest.h>

#include "vmpi/generator/emit.hpp"
#include "vmpi/generator/prototypes.hpp"

namespace ardoise::generator {
namespace {

TEST(Prototypes, ReadsNamesTypesAndArrays) {
  const auto found = parse_prototypes(
      "extern \"C\" {\n typedef int (MPI_User)(void *);\n"
      "__attribute__((visibility(\"default\"))) int MPI_Alltoallv(const void *sendbuf, const int sendcounts[],\n"
      "   int ranges[][3], MPI_Comm comm) __attribute__((__deprecated__(\"a; b\")));\n"
      "extern double MPI_Wtime(void);\n int PMPI_Send(void);\n}");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "MPI_Alltoallv");
  EXPECT_EQ(found[0].return_type, "int");
  ASSERT_EQ(found[0].parameters.size(), 4u);
  EXPECT_EQ(found[0].parameters[1].declaration, "const int sendcounts[]");
  EXPECT_EQ(found[0].parameters[1].name, "sendcounts");
  EXPECT_EQ(found[0].parameters[2].name, "ranges");
  EXPECT_EQ(found[1].return_type, "double");
  EXPECT_TRUE(found[1].parameters.empty());
}

TEST(Prototypes, UnnamedParametersGetNames) {
  const auto found =
      parse_prototypes("int MPI_Reduce_local(const void *, int count, MPI_Op);int MPI_Pcontrol(const int level, ...);");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].parameters[0].name, "arg0");
  EXPECT_EQ(found[0].parameters[0].declaration, "const void * arg0");
  EXPECT_EQ(found[0].parameters[2].declaration, "MPI_Op arg2");
  EXPECT_EQ(found[1].parameters[1].name, "...");
}

TEST(Prototypes, LineMarkersAndRepeatedDeclarationsAreIgnored) {
  EXPECT_EQ(parse_prototypes("# 1 \"mpi.h\"\nint MPI_Barrier(MPI_Comm comm);\nint MPI_Barrier(MPI_Comm comm);").size(),
            1u);
}

Table two_functions() { return parse_table("[c]\nMPI_Barrier barrier comm\n[skip]\nMPI_Odd for a reason\n", "table"); }

TEST(Match, FunctionThatTheTableLacksIsAnError) {
  const auto table = two_functions();
  EXPECT_EQ(match(table, parse_prototypes("int MPI_Barrier(MPI_Comm comm); int MPI_Odd(int a);")).size(), 1u);
  try {
    (void)match(table, parse_prototypes("int MPI_Barrier(MPI_Comm comm); int MPI_New_thing(int a);"));
    FAIL();
  } catch (const TableError& error) {
    EXPECT_NE(std::string(error.what()).find("MPI_New_thing"), std::string::npos);
  }
}

TEST(Match, OtherNumberOfParametersIsAnError) {
  EXPECT_THROW((void)match(two_functions(), parse_prototypes("int MPI_Barrier(MPI_Comm comm, int flags);")),
               TableError);
}

}  // namespace
}  // namespace ardoise::generator
