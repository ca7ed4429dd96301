// Knowledge sources are loaded one by one; a failure costs one sentence, not the others.
#include "analyzer/run/plugins.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace ardoise::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Plugins, AllOfTheFolderAreLoaded) {
  const auto plugins = load_plugins(ARDOISE_PLUGIN_DIR, {});
  EXPECT_THAT(plugins.complaints, IsEmpty());
  for (const auto* name :
       {"mpi_profile", "posix_profile", "topology", "density", "temporal", "run_summary", "samples", "snapshots"}) {
    EXPECT_TRUE(std::ranges::any_of(plugins.analyses, [&](const auto& factory) { return factory.name == name; }))
        << name;
  }
}

TEST(Plugins, OneThatDoesNotLoadIsNamedAndTheOthersStay) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "not_a_plugin.so";
  std::ofstream(path) << "no library";
  const auto all = load_plugins(ARDOISE_PLUGIN_DIR, {});
  const auto plugins = load_plugins(ARDOISE_PLUGIN_DIR, {path.string(), "/no/such/plugin.so"});
  ASSERT_THAT(plugins.complaints, SizeIs(2));
  EXPECT_THAT(plugins.complaints[0], HasSubstr("not_a_plugin.so"));
  EXPECT_THAT(plugins.complaints[1], HasSubstr("/no/such/plugin.so"));
  EXPECT_THAT(plugins.analyses, SizeIs(all.analyses.size()));
  std::filesystem::remove(path);
}

// A plug-in that the loader would find elsewhere is not loaded.
TEST(Plugins, ANameIsThatOfAFileHere) {
  const auto plugins = load_plugins(ARDOISE_PLUGIN_DIR, {"libm.so.6"});
  ASSERT_THAT(plugins.complaints, SizeIs(1));
  EXPECT_THAT(plugins.complaints[0], HasSubstr((std::filesystem::current_path() / "libm.so.6").string()));
  EXPECT_THAT(plugins.complaints[0], HasSubstr("No such file"));
}

TEST(Plugins, TheSameOneTwiceIsRefused) {
  const auto plugins = load_plugins(ARDOISE_PLUGIN_DIR, {ARDOISE_PLUGIN_DIR "/topology.so"});
  ASSERT_THAT(plugins.complaints, SizeIs(1));
  EXPECT_THAT(plugins.complaints[0], HasSubstr("topology"));
}

// As with plug-ins of another version.
TEST(Plugins, OneCauseOfManyFailuresIsToldOnce) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "foreign_plugins";
  std::filesystem::create_directories(folder);
  for (const char* const name : {"density.so", "topology.so", "waits.so"}) std::ofstream(folder / name) << "no library";
  const auto plugins = load_plugins(folder.string(), {"/no/such/plugin.so"});
  std::filesystem::remove_all(folder);
  ASSERT_THAT(plugins.complaints, SizeIs(2));
  EXPECT_THAT(plugins.complaints[0], HasSubstr("3 of the 3 knowledge sources in '" + folder.string() +
                                               "' cannot be loaded; install Ardoise again."));
  EXPECT_THAT(plugins.complaints[0], HasSubstr("density.so"));
  EXPECT_THAT(plugins.complaints[1], HasSubstr("/no/such/plugin.so"));
}

TEST(Plugins, AnEmptyFolderIsTold) { EXPECT_THAT(load_plugins("/no/such/folder", {}).complaints, SizeIs(1)); }

}  // namespace
}  // namespace ardoise::analyzer
