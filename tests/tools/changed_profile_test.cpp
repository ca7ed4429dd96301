// profile.json may come from anywhere. If one of its lists has a wrong length, `report`, `show` and `export` print one
// error message or use the remaining data. The test finds the lists in the file itself.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/latex/latex_document.hpp"
#include "reports/model_json.hpp"
#include "tests/reports/synthetic_run.hpp"
#include "tests/rounds.hpp"
#include "tests/tools/shown_everywhere.hpp"

namespace ardoise::launcher {
namespace {

using Json = nlohmann::json;
using Pointer = Json::json_pointer;

// Lists of the file by their place in the schema: for each place the first list that is not empty.
std::map<std::string, Pointer> lists_of(const Json& json, const std::string& place, const Pointer& at) {
  std::map<std::string, Pointer> lists;
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) lists.merge(lists_of(value, place + "." + key, at / key));
  } else if (json.is_array()) {
    if (!json.empty()) lists.emplace(place, at);
    for (std::size_t i = 0; i < json.size(); ++i) lists.merge(lists_of(json[i], place + "[]", at / i));
  }
  return lists;
}

const Json& whole_profile() {
  static const Json json = Json::parse(reports::profile_to_json(reports::testing::full_run()));
  return json;
}

// Reads the profile and makes all outputs of the commands.
void use(const Json& profile, const std::string& what) {
  SCOPED_TRACE(what);
  const auto run = reports::profile_from_json(profile.dump());
  if (run) return show_everywhere(*run.value);
  EXPECT_THAT(run.error,
              ::testing::AllOf(::testing::Not(::testing::IsEmpty()), ::testing::Not(::testing::HasSubstr("\n"))));
}

TEST(ChangedProfile, NoListOfTheSchemaIsEmptyInTheFileThatIsChanged) {
  std::vector<std::string> empty;
  const auto lists = lists_of(whole_profile(), "", Pointer());
  const std::function<void(const Json&, const std::string&)> look = [&](const Json& json, const std::string& place) {
    if (json.is_object()) {
      for (const auto& [key, value] : json.items()) look(value, place + "." + key);
    } else if (json.is_array()) {
      if (!lists.contains(place)) empty.push_back(place);
      for (const Json& each : json) look(each, place + "[]");
    }
  };
  look(whole_profile(), "");
  EXPECT_THAT(empty, ::testing::IsEmpty());
  EXPECT_GT(lists.size(), 100u);
  const auto run = reports::profile_from_json(whole_profile().dump());
  ASSERT_TRUE(run) << run.error;
  show_everywhere(*run.value);
}

// Under sanitizers, which are twenty times slower, only some lists are tested.
TEST(ChangedProfile, EveryListMayHaveAnyLength) {
  unsigned number = 0;
  for (const auto& [place, at] : lists_of(whole_profile(), "", Pointer())) {
    if (number++ % (100 / rounds(100)) != 0) continue;
    Json changed = whole_profile();
    Json& list = changed[at];
    const Json before = list;
    list.erase(list.size() - 1);
    use(changed, place + " without its last");
    list = before;
    list.push_back(before.back());
    use(changed, place + " with its last twice");
    list = Json::array();
    use(changed, place + " emptied");
    Json& parent = changed[at.parent_pointer()];
    if (!parent.is_object()) continue;
    parent.erase(at.back());
    use(changed, place + " left out");
  }
}

}  // namespace
}  // namespace ardoise::launcher
