// Whatever names a program, a trace or a file contains: no command moves the cursor, changes colours or the direction
// of writing, or prints a forged line.
#include "tests/hostile_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/document/sections.hpp"
#include "reports/model_json.hpp"
#include "reports/stack_export.hpp"
#include "reports/text/text_document.hpp"
#include "reports/text/utf8.hpp"
#include "tests/reports/synthetic_run.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/shown_text.hpp"
#include "tools/ardoise/show/show.hpp"
#include "tools/ardoise/show/show_rows.hpp"

namespace ardoise::launcher {
namespace {

using reports::printable_lines;

// Appends `name` to every text of a profile, except words with a fixed meaning.
void append_to_texts(nlohmann::json& json, const std::string& name, const std::string& key) {
  if (json.is_string() && key != "trigger" && key != "kind" && key != "unit" && key != "clock" && key != "pattern")
    json = json.get<std::string>() + name;
  if (json.is_object()) {
    for (auto& [each, value] : json.items()) append_to_texts(value, name, each);
  } else if (json.is_array()) {
    for (auto& value : json) append_to_texts(value, name, key);
  }
}

TEST(HostileNames, NoTableSummaryOrExportOfAProfileShowsThem) {
  for (const std::string& name : kHostile) {
    auto json = nlohmann::json::parse(reports::profile_to_json(reports::testing::full_run()));
    append_to_texts(json, reports::valid_utf8(name), "");
    const auto run = reports::profile_from_json(json.dump());
    ASSERT_TRUE(run) << run.error;
    expect_clean(reports::summary_text(reports::document_of(*run.value)), "summary");
    for (const auto format : {reports::StackFormat::folded, reports::StackFormat::speedscope})
      expect_clean(reports::export_stacks(*run.value, "", format).value.value_or(""), "export");
    for (const ShownTable& table : shown_tables()) {
      for (const bool csv : {false, true}) {
        const std::string text = shown_table(*run.value, {.table = table.name, .csv = csv});
        expect_clean(text, table.name);
        const auto rows = table.rows(*run.value, run.value->applications[0], {});
        EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), rows.size() + 1) << table.name;
      }
    }
  }
}

TEST(HostileNames, CsvHasNoneOfTheirControlCharacters) {
  for (const std::string& name : kHostile) EXPECT_EQ(csv_field(name), reports::without_controls(name));
  EXPECT_EQ(csv_field("a\x1b[31m\nb"), "a[31mb");
}

TEST(HostileNames, SentencesAreOneLineAndWhatIsPrintedIsClean) {
  for (const std::string& name : kHostile) {
    ::testing::internal::CaptureStderr();
    say("'{}' cannot be read.", name);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(said, printable_lines(said));
    EXPECT_EQ(said.find('\n'), said.size() - 1);
    ::testing::internal::CaptureStdout();
    EXPECT_TRUE(print(name + "\nnext\n"));
    const std::string printed = ::testing::internal::GetCapturedStdout();
    EXPECT_EQ(printed, printable_lines(printed));
    EXPECT_TRUE(printed.ends_with("\nnext\n"));
  }
}

}  // namespace
}  // namespace ardoise::launcher
