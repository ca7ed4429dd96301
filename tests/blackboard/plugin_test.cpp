// Loading plug-ins, good and bad. Each failure is one sentence that names the file and says what to do.
#include "blackboard/plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "blackboard/blackboard.hpp"

namespace ardoise::blackboard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string path_of(const std::string& name) { return TEST_PLUGINS + name + ".so"; }

std::string error_of(const std::string& path, int* registrations = nullptr) {
  int count = 0;
  const auto result = load_plugin(path, "test.interface", &count);
  if (registrations != nullptr) *registrations = count;
  const auto* const error = std::get_if<PluginError>(&result);
  return error != nullptr ? error->sentence : "loaded";
}

TEST(Plugin, LoadsAndRegistersOnce) {
  int registrations = 0;
  const auto result = load_plugin(path_of("good"), "test.interface", &registrations);
  const auto* const plugin = std::get_if<LoadedPlugin>(&result);
  ASSERT_NE(plugin, nullptr) << std::get<PluginError>(result).sentence;
  EXPECT_EQ(plugin->path, path_of("good"));
  EXPECT_EQ(plugin->name, "good_1");
  EXPECT_EQ(plugin->version, "1.2");
  EXPECT_EQ(registrations, 1);
}

TEST(Plugin, UsesTheBoardOfTheProgram) {
  std::atomic<int> sum{0};
  std::string failure;
  Blackboard board({.workers = 1, .on_failure = [&](std::string_view name, std::string_view message) {
                      failure = std::string(name) + ": " + std::string(message);
                    }});
  const auto result = load_plugin(path_of("uses_board"), "test.interface", &board);
  ASSERT_TRUE(std::holds_alternative<LoadedPlugin>(result)) << std::get<PluginError>(result).sentence;
  // The plug-in's value: an int, and the reference to the entry it was made of.
  board.add({"sum", {entry_type("", "out")}, [&](const Context&, std::span<EntryRef> entries) {
               sum += entries[0].as<int>();
             }});
  for (int i = 1; i <= 100; ++i) board.submit(make_entry_of(entry_type("", "in"), i));
  board.submit(make_entry_of(entry_type("", "in"), -1));
  board.drain();
  EXPECT_EQ(sum, 10100);
  EXPECT_EQ(failure, "plugin: negative");
  EXPECT_EQ(board.bytes(), 0u);
}

TEST(Plugin, OfAnotherAbiNamesBothVersions) {
  int registrations = 0;
  EXPECT_THAT(error_of(path_of("other_abi"), &registrations),
              AllOf(HasSubstr("other_abi.so"), HasSubstr("ABI " + std::to_string(kPluginAbi + 1)),
                    HasSubstr("ABI " + std::to_string(kPluginAbi) + ":"), HasSubstr("rebuild")));
  EXPECT_EQ(registrations, 0);
}

TEST(Plugin, WithAnotherDescriptorIsRefused) {
  EXPECT_THAT(error_of(path_of("other_size")), AllOf(HasSubstr("other_size.so"), HasSubstr("8 bytes")));
  EXPECT_THAT(error_of(path_of("null_field")), AllOf(HasSubstr("null_field.so"), HasSubstr("null")));
  EXPECT_THAT(error_of(path_of("bad_name")), AllOf(HasSubstr("bad_name.so"), HasSubstr("\"Bad Name\"")));
}

TEST(Plugin, OfAnotherInterfaceNamesBoth) {
  EXPECT_THAT(error_of(path_of("other_interface")),
              AllOf(HasSubstr("\"other.interface\""), HasSubstr("\"test.interface\"")));
}

TEST(Plugin, ThatThrowsFailsAlone) {
  EXPECT_THAT(error_of(path_of("throwing")),
              AllOf(HasSubstr("throwing.so"), HasSubstr("throwing 3"), HasSubstr("no licence for this moon phase")));
  EXPECT_EQ(error_of(path_of("good")), "loaded");
}

TEST(Plugin, WithoutSymbolIsNoPlugin) {
  EXPECT_THAT(error_of(path_of("no_symbol")), AllOf(HasSubstr("no_symbol.so"), HasSubstr("ardoise_plugin")));
}

TEST(Plugin, WithAnUnresolvedFunctionNamesIt) {
  EXPECT_THAT(
      error_of(path_of("unresolved")),
      AllOf(HasSubstr("unresolved.so"), HasSubstr("ardoise_test_function_that_is_nowhere"), HasSubstr("rebuild")));
}

TEST(Plugin, ThatIsNotThereOrNoFileSaysSo) {
  EXPECT_THAT(error_of(path_of("nowhere")), AllOf(HasSubstr("nowhere.so"), HasSubstr("No such file")));
  EXPECT_THAT(error_of(TEST_PLUGINS), HasSubstr("is not a file"));
}

TEST(Plugin, ThatIsNoLibrarySaysSo) {
  const auto path = std::filesystem::path(testing::TempDir()) / "not_a_library.so";
  std::ofstream(path) << "this is text\n";
  EXPECT_THAT(error_of(path.string()), AllOf(HasSubstr("not_a_library.so"), HasSubstr("cannot be loaded")));
  std::filesystem::remove(path);
}

// A bare name means the file in the current folder, not a library of the system.
TEST(Plugin, IsNotSearchedInTheLibraryPath) {
  EXPECT_THAT(error_of("libm.so.6"), AllOf(HasSubstr("libm.so.6"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace ardoise::blackboard
