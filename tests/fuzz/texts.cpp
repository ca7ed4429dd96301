// Feeds text to the parsers of lines that users and others write: rules, conditions, commands to a running launch,
// changes of settings, command lines. The first byte chooses the parser. Each line is accepted or refused with one
// sentence.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/rules/rule_file.hpp"
#include "instrument/format/command_secrets.hpp"
#include "instrument/settings/changes.hpp"
#include "instrument/settings/control_file.hpp"
#include "knowledge_sources/plugins/snapshots/condition.hpp"

using namespace ardoise;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

void read_condition(std::string_view text) {
  const knowledge_sources::Condition condition(text);
  (void)condition.holds(std::vector<double>(condition.variables().size()));
  demand(knowledge_sources::Condition(condition.text()).variables().size() == condition.variables().size());
}

void read_commands(std::string_view text) {
  instrument::for_each_command(text, [](const instrument::ControlCommand& command) {
    (void)instrument::is_for(command, "solver", 3);
    (void)instrument::fault_of_changes(command.settings);
  });
}

// Hidden text stays hidden, and a second pass changes nothing.
void hide(std::string_view text) {
  std::vector<std::string> words{""};
  for (const char each : text) {
    if (each == ' ') {
      words.emplace_back();
    } else {
      words.back() += each;
    }
  }
  const std::size_t count = words.size();
  instrument::hide_secrets(words);
  demand(words.size() == count);
  std::vector<std::string> again = words;
  instrument::hide_secrets(again);
  demand(again == words);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0]) {
      case 'r':
        for (const analyzer::Rule& rule : analyzer::parse_rules(text, "some.rules")) (void)rule.effect();
        break;
      case 'c':
        read_condition(text);
        break;
      case 'a':
        read_commands(text);
        break;
      case 's':
        (void)instrument::fault_of_changes(text);
        break;
      case 'l':
        hide(text);
        break;
      default:
        break;
    }
  } catch (const std::invalid_argument& refused) {
    demand(refused.what()[0] != '\0');
  }
  return 0;
}
