#include "knowledge_sources/plugins/snapshots/condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/calls/functions.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::size_t kMostSteps = 256, kMostDepth = 32;

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array<Unit, 11> kUnits{{{"s", 1},
                                       {"ms", 1e-3},
                                       {"us", 1e-6},
                                       {"min", 60},
                                       {"h", 3600},
                                       {"kB", 1e3},
                                       {"MB", 1e6},
                                       {"GB", 1e9},
                                       {"KiB", 1024},
                                       {"MiB", 1048576},
                                       {"GiB", 1073741824}}};

std::optional<std::uint32_t> number_of(instrument::PackClass record_class, std::string_view name) {
  for (std::uint32_t function = 0; function < 1u << instrument::kFunctionBits; ++function) {
    if (function_info(record_class, function).name == name) return function;
  }
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Condition::Variable>& variables, std::vector<Condition::Step>& steps)
      : text_(text), variables_(variables), steps_(steps) {}

  // True: the condition ends in "since last".
  bool parse() {
    any();
    while (take("or")) {
      any();
      push(Condition::Code::kOr);
    }
    const bool is_since_last = take("since");
    if (is_since_last && !take("last")) fail("\"last\" after \"since\"");
    skip();
    if (at_ != text_.size()) fail("the end, \"and\", \"or\" or \"since last\"");
    return is_since_last;
  }

 private:
  using Code = Condition::Code;

  [[noreturn]] void fail(std::string_view expected) {
    skip();
    const std::string_view rest = text_.substr(at_, 20);
    throw std::invalid_argument(fmt::format("the condition \"{}\" cannot be read at {}: expected {}", text_,
                                            rest.empty() ? std::string("its end") : fmt::format("\"{}\"", rest),
                                            expected));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  // A sign, or a whole word.
  bool take(std::string_view word) {
    skip();
    if (text_.substr(at_, word.size()) != word) return false;
    const std::size_t end = at_ + word.size();
    if (is_letter(word[0]) && end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) return false;
    at_ = end;
    return true;
  }
  std::string_view name() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '-')) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void push(Code code, std::uint32_t variable = 0, double number = 0) {
    if (steps_.size() == kMostSteps) fail("a shorter condition");
    steps_.push_back({code, variable, number});
  }

  void any() {
    comparison();
    while (take("and")) {
      comparison();
      push(Code::kAnd);
    }
  }
  void comparison() {
    sum();
    // The longer ones first.
    constexpr std::array<std::pair<std::string_view, Code>, 6> kSigns{{{"==", Code::kEqual},
                                                                       {"!=", Code::kUnequal},
                                                                       {"<=", Code::kAtMost},
                                                                       {">=", Code::kAtLeast},
                                                                       {"<", Code::kLess},
                                                                       {">", Code::kGreater}}};
    for (const auto& [sign, code] : kSigns) {
      if (!take(sign)) continue;
      sum();
      return push(code);
    }
    fail("one of == != < <= > >=");
  }
  void sum() {
    product();
    for (;;) {
      const bool adds = take("+");
      if (!adds && !take("-")) return;
      product();
      push(adds ? Code::kAdd : Code::kSubtract);
    }
  }
  void product() {
    factor();
    for (;;) {
      const Code code = take("*") ? Code::kMultiply : take("/") ? Code::kDivide : take("%") ? Code::kRest : Code::kOr;
      if (code == Code::kOr) return;
      factor();
      push(code);
    }
  }
  void factor() {
    skip();
    if (take("(")) {
      if (++depth_ == kMostDepth) fail("fewer brackets");
      sum();
      --depth_;
      if (!take(")")) fail("\")\"");
      return;
    }
    if (at_ < text_.size() && is_digit(text_[at_])) return number();
    using Measure = Condition::Measure;
    for (const auto& [word, measure] : {std::pair{std::string_view("calls"), Measure::kCalls},
                                        {"time", Measure::kTime},
                                        {"bytes", Measure::kBytes},
                                        {"value", Measure::kValue},
                                        {"balance", Measure::kBalance},
                                        {"counter", Measure::kCounter}}) {
      if (take(word)) return variable(measure);
    }
    fail("a number, or one of calls(), time(), bytes(), value(), counter(), balance()");
  }
  void number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    for (const Unit& unit : kUnits) {
      if (!take(unit.name)) continue;
      value *= unit.factor;
      break;
    }
    push(Code::kNumber, 0, value);
  }
  void variable(Condition::Measure measure) {
    using Measure = Condition::Measure;
    if (!take("(")) fail("\"(\"");
    const std::size_t place = at_;
    const std::string_view of = name();
    Condition::Variable variable{measure, false, false, false, -1, ""};
    if (measure == Measure::kBalance) {
      variable.name = of;
    } else if (measure == Measure::kValue) {
      if (of.empty()) fail("the name of a value that the program passes to ardoise_value()");
      variable.name = of;
    } else if (measure == Measure::kCounter) {
      if (of.empty()) fail("an event that --counters names");
      variable.name = of;
    } else if (of.empty()) {
      if (measure != Measure::kTime) fail("the name of a function, \"mpi\", \"io\" or \"world\"");
      variable.measure = Measure::kElapsed;
    } else if (of == "mpi" || of == "io") {
      (of == "mpi" ? variable.is_mpi : variable.is_posix) = true;
    } else if (of == "world") {
      variable.is_mpi = variable.is_world = true;
    } else if (const auto mpi = number_of(instrument::PackClass::kMpi, of)) {
      variable.is_mpi = true;
      variable.function = static_cast<std::int32_t>(*mpi);
    } else if (const auto posix = number_of(instrument::PackClass::kPosix, of)) {
      variable.is_posix = true;
      variable.function = static_cast<std::int32_t>(*posix);
    } else {
      at_ = place;
      fail("a measured MPI or I/O function, \"mpi\", \"io\" or \"world\"");
    }
    if (!take(")")) fail("\")\"");
    variables_.push_back(std::move(variable));
    push(Code::kVariable, static_cast<std::uint32_t>(variables_.size() - 1));
  }

  std::string_view text_;
  std::size_t at_ = 0, depth_ = 0;
  std::vector<Condition::Variable>& variables_;
  std::vector<Condition::Step>& steps_;
};

double calculate(Condition::Code code, double a, double b) {
  using Code = Condition::Code;
  switch (code) {
    case Code::kAdd:
      return a + b;
    case Code::kSubtract:
      return a - b;
    case Code::kMultiply:
      return a * b;
    case Code::kDivide:
      return a / b;
    case Code::kRest:
      return std::fmod(a, b);
    case Code::kEqual:
      return a == b ? 1 : 0;
    case Code::kUnequal:
      return a != b ? 1 : 0;
    case Code::kLess:
      return a < b ? 1 : 0;
    case Code::kAtMost:
      return a <= b ? 1 : 0;
    case Code::kGreater:
      return a > b ? 1 : 0;
    case Code::kAtLeast:
      return a >= b ? 1 : 0;
    case Code::kAnd:
      return a != 0 && b != 0 ? 1 : 0;
    case Code::kOr:
      return a != 0 || b != 0 ? 1 : 0;
    case Code::kNumber:
    case Code::kVariable:
      break;
  }
  return 0;
}

}  // namespace

Condition::Condition(std::string_view text) : text_(text) {
  is_since_last_ = Parser(text_, variables_, steps_).parse();
  if (variables_.empty())
    throw std::invalid_argument(fmt::format("the condition \"{}\" refers to nothing that is measured", text));
  const auto is_of_rank = [](const Variable& each) {
    return each.measure != Measure::kBalance && each.measure != Measure::kElapsed;
  };
  if (!is_of_program()) return;
  if (std::ranges::any_of(variables_, is_of_rank))
    throw std::invalid_argument(
        fmt::format("the condition \"{}\" combines balance(), of all ranks, with measures of one rank", text));
  if (is_since_last_)
    throw std::invalid_argument(
        fmt::format("the condition \"{}\" has \"since last\", which balance() does not support", text));
}

bool Condition::is_of_program() const {
  return std::ranges::any_of(variables_, [](const Variable& each) { return each.measure == Measure::kBalance; });
}

bool Condition::holds(const std::vector<double>& values) const {
  std::array<double, kMostSteps> stack;
  std::size_t depth = 0;
  for (const Step& step : steps_) {
    if (step.code == Code::kNumber || step.code == Code::kVariable) {
      stack[depth++] = step.code == Code::kNumber ? step.number : values[step.variable];
      continue;
    }
    --depth;
    stack[depth - 1] = calculate(step.code, stack[depth - 1], stack[depth]);
  }
  return stack[0] != 0;  // false for a division by zero
}

}  // namespace ardoise::knowledge_sources
