#include "analyzer/rules/rule_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "instrument/settings/changes.hpp"
#include "instrument/settings/option.hpp"
#include "knowledge_sources/plugins/snapshots/condition.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{64} << 10, kMostRules = 64;
// Processes check for commands every 50 to 500 ms.
constexpr double kLeastSeconds = 0.1, kMostSeconds = 36e6;

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array<TimeUnit, 4> kTimeUnits{{{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};

class RuleParser {
 public:
  explicit RuleParser(std::string_view line) : rest_(line) {}

  Rule parse() {
    if (next() != "when") fail("\"when\"");
    take();
    const std::size_t colon = rest_.find(':');
    if (colon == std::string_view::npos) {
      rest_ = {};
      fail("\":\" and what to set, after the condition");
    }
    Rule rule;
    rule.condition = trimmed(rest_.substr(0, colon));
    const bool is_of_program = knowledge_sources::Condition(rule.condition).is_of_program();
    rest_.remove_prefix(colon + 1);
    while (next().find('=') != std::string_view::npos) {
      rule.settings += fmt::format("{}{}", rule.settings.empty() ? "" : " ", take());
    }
    if (rule.settings.empty()) fail("NAME=VALUE, a setting that can change while a launch runs");
    if (std::string fault = instrument::fault_of_changes(rule.settings); !fault.empty()) {
      fault.pop_back();
      throw std::invalid_argument(fault);
    }
    bool is_on = false;
    while (!next().empty()) {
      if (next() == "for" && rule.seconds == 0) {
        duration(rule);
      } else if (next() == "on" && !is_on) {
        target(rule, is_of_program);
        is_on = true;
      } else {
        fail(rule.seconds != 0 || is_on ? "\"for\" or \"on\", once each, or the end"
                                        : "NAME=VALUE, \"for\", \"on\" or the end");
      }
    }
    if (is_of_program && !is_on) rule.target = RuleTarget::kAll;
    return rule;
  }

  static std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  }

 private:
  static constexpr std::string_view kBlanks = " \t\r";

  [[noreturn]] void fail(std::string_view expected) const {
    const std::string_view at = trimmed(rest_).substr(0, 20);
    throw std::invalid_argument(
        fmt::format("at {}: expected {}", at.empty() ? std::string("its end") : fmt::format("\"{}\"", at), expected));
  }
  // The next word; "" at the end.
  [[nodiscard]] std::string_view next() const {
    const std::string_view text = trimmed(rest_);
    return text.substr(0, text.find_first_of(kBlanks));
  }
  std::string_view take() {
    const std::string_view word = next();
    rest_ = trimmed(rest_).substr(word.size());
    return word;
  }
  void target(Rule& rule, bool is_of_program) {
    take();
    if (next() == "all") {
      take();
      rule.target = RuleTarget::kAll;
      return;
    }
    if (next() != "ranks") fail("\"all\" or \"ranks that differ\"");
    if (!is_of_program) fail("\"all\": ranks differ where the condition has balance()");
    for (const std::string_view word : {"ranks", "that", "differ"}) {
      if (next() != word) fail("\"ranks that differ\"");
      take();
    }
    rule.target = RuleTarget::kDiffering;
  }
  // "10 s", or "10s".
  void duration(Rule& rule) {
    take();
    const std::string_view before = rest_, word = take();
    const std::size_t digits = std::min(word.find_first_not_of("0123456789."), word.size());
    const auto number = instrument::parse_number(word.substr(0, digits));
    const std::string_view unit = digits < word.size() ? word.substr(digits) : take();
    for (const TimeUnit& each : kTimeUnits) {
      if (each.name != unit || !number) continue;
      rule.seconds = *number * each.seconds;
      rule.duration = fmt::format("{} {}", word.substr(0, digits), unit);
    }
    if (rule.seconds >= kLeastSeconds && rule.seconds <= kMostSeconds) return;
    rest_ = before;
    fail("a time of 100 ms or more, in ms, s, min or h");
  }

  std::string_view rest_;
};

}  // namespace

std::string Rule::effect() const {
  constexpr std::array<std::string_view, 3> kOn{"", " on all ranks", " on ranks that differ"};
  return fmt::format("set {}{}{}", settings, kOn[static_cast<std::size_t>(target)],
                     duration.empty() ? std::string() : " for " + duration);
}

std::vector<Rule> parse_rules(std::string_view text, std::string_view name) {
  if (text.size() > kMostBytes)
    throw std::invalid_argument(fmt::format("the rules '{}' are longer than {} KiB", name, kMostBytes >> 10));
  std::vector<Rule> rules;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view one = RuleParser::trimmed(instrument::take_word(text, '\n'));
    if (one.empty() || one.starts_with('#')) continue;
    try {
      rules.push_back(RuleParser(one).parse());
    } catch (const std::invalid_argument& wrong) {
      throw std::invalid_argument(fmt::format("the rules '{}', line {}: {}", name, line, wrong.what()));
    }
    if (rules.size() > kMostRules)
      throw std::invalid_argument(
          fmt::format("the rules '{}', line {}: there are more than {} rules", name, line, kMostRules));
  }
  return rules;
}

std::vector<Rule> read_rules(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw std::invalid_argument(fmt::format("the rules '{}' are not a regular file", file.string()));
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad())
    throw std::invalid_argument(
        fmt::format("the rules '{}' cannot be read: {}", file.string(), std::strerror(errno != 0 ? errno : EIO)));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return parse_rules(text, file.string());
}

}  // namespace ardoise::analyzer
