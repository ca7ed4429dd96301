// Programs are found as mpirun finds them; programs that cannot be measured are reported.
#include "tools/ardoise/launch/program_check.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tools/ardoise/common/elf_file.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

AppContext program(const std::string& name, std::vector<LauncherOption> options = {}) {
  return {std::move(options), name, {}};
}

class ProgramCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path script(const std::string& name, mode_t mode) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n";
    ::chmod((folder_ / name).c_str(), mode);
    return folder_ / name;
  }
  fs::path folder_;
};

TEST_F(ProgramCheckTest, SearchesPath) { EXPECT_FALSE(check_program(program("sh"), "libmpi.so.40").not_measurable); }

TEST_F(ProgramCheckTest, TellsAMissingProgram) {
  EXPECT_THROW((void)check_program(program("no-such-program"), ""), UsageError);
  EXPECT_THROW((void)check_program(program("./no-such-program"), ""), UsageError);
}

TEST_F(ProgramCheckTest, TellsWhatMayNotBeExecuted) {
  EXPECT_THROW((void)check_program(program(script("data", 0644).string()), ""), UsageError);
  EXPECT_THROW((void)check_program(program(folder_.string()), ""), UsageError);
}

TEST_F(ProgramCheckTest, LooksInTheWorkingDirectoryOfTheContext) {
  script("tool", 0755);
  const LauncherOption directory{"-wdir", {folder_.string()}};
  EXPECT_EQ(fs::canonical(check_program(program("./tool", {directory}), "").path), fs::canonical(folder_ / "tool"));
  EXPECT_EQ(fs::canonical(check_program(program("tool", {directory}), "").path), fs::canonical(folder_ / "tool"));
  const LauncherOption path{"--path", {folder_.string()}};
  EXPECT_EQ(fs::canonical(check_program(program("tool", {path}), "").path), fs::canonical(folder_ / "tool"));
}

TEST_F(ProgramCheckTest, ScriptsAreMeasurable) {
  EXPECT_FALSE(check_program(program(script("wrapper", 0755).string()), "libmpi.so.40").not_measurable);
}

TEST_F(ProgramCheckTest, AnotherMpiIsTold) {
  // CMake builds one program against a library named libmpi.so.12, and one that defines PMPI_Init.
  const auto check = check_program(program(FOREIGN_MPI_PROGRAM), "libmpi.so.40");
  ASSERT_TRUE(check.not_measurable);
  EXPECT_NE(check.not_measurable->find("libmpi.so.12"), std::string::npos);
  EXPECT_FALSE(check_program(program(FOREIGN_MPI_PROGRAM), "libmpi.so.12").not_measurable);
}

TEST_F(ProgramCheckTest, AnotherMpiBehindALibraryIsTold) {
  EXPECT_TRUE(check_program(program(INDIRECT_MPI_PROGRAM), "libmpi.so.40").not_measurable);
}

TEST_F(ProgramCheckTest, BuiltInMpiIsTold) {
  const auto check = check_program(program(STATIC_MPI_PROGRAM), "libmpi.so.40");
  ASSERT_TRUE(check.not_measurable);
  EXPECT_NE(check.not_measurable->find("statically"), std::string::npos);
}

TEST(ElfFile, NamesOfMpiLibraries) {
  EXPECT_EQ(mpi_library_among({{"libmpi_mpifh.so.40", ""}, {"libmpi.so.40", ""}}), "libmpi.so.40");
  EXPECT_EQ(mpi_library_among({{"libmpich.so.12", ""}}), "libmpich.so.12");
  EXPECT_EQ(mpi_library_among({{"libmpi_mpifh.so.40", ""}, {"libmpifort.so.12", ""}}), "");
}

TEST(ElfFile, LibrariesAreListedByTheLoader) {
  const std::string self = fs::read_symlink("/proc/self/exe");
  const auto file = read_elf(self);
  ASSERT_TRUE(file);
  const auto libraries = libraries_of(self, file->loader);
  const auto c_library = std::ranges::find(libraries, "libc.so.6", &Library::name);
  ASSERT_NE(c_library, libraries.end());
  EXPECT_TRUE(fs::exists(c_library->path));
  EXPECT_TRUE(libraries_of("/etc/passwd", file->loader).empty());
  EXPECT_TRUE(libraries_of(self, "/no/such/loader").empty());
}

TEST(ElfFile, TruncatedFileIsNone) {
  const auto path = fs::path(::testing::TempDir()) / "truncated_elf";
  std::ofstream(path) << "\x7f"
                         "ELF\x02\x01\x01";
  EXPECT_FALSE(read_elf(path.string()));
  fs::remove(path);
}

}  // namespace
}  // namespace ardoise::launcher
