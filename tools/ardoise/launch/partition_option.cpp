#include "tools/ardoise/launch/partition_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>

#include "instrument/format/analyzer_partition.hpp"
#include "vmpi/world/partition_name.hpp"

namespace ardoise::launcher {
namespace {

// `where`: the place of the name as the user wrote it.
void check_name(const std::string& name, std::string_view where) {
  if (const char* why = vmpi::invalid_partition_name(name)) {
    throw UsageError(fmt::format("{} names the partition '{}', which is refused because {}.", where,
                                 vmpi::truncated(name, 40), why));
  }
  if (name == instrument::kAnalyzerPartition) {
    throw UsageError(
        fmt::format("{} names a partition '{}', which is the name of the analyzers; choose another.", where, name));
  }
}

std::string listed(const LaunchLine& line) {
  std::string text;
  for (std::size_t i = 0; i < line.contexts.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", i, line.contexts[i].program);
  return text;
}

std::vector<std::size_t> contexts_of(const std::string& word, const LaunchLine& line) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size() && number < line.contexts.size()) return {number};
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < line.contexts.size(); ++i) {
    const auto& program = line.contexts[i].program;
    if (word == program || word == std::filesystem::path(program).filename()) found.push_back(i);
  }
  return found;
}

// The name from "-x VARIABLE=value" of a context, or Hydra's "-env VARIABLE value"; the last one counts.
std::optional<std::string> exported_name(const AppContext& context) {
  std::optional<std::string> name;
  for (const auto& option : context.options) {
    for (const char* giver : {"x", "env", "genv"}) {
      if (auto value = option.value_for(giver, kPartitionVariable)) name = std::move(value);
    }
  }
  return name;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

std::vector<std::optional<std::string>> assign_partitions(const std::vector<std::string>& options,
                                                          const LaunchLine& line) {
  std::vector<std::optional<std::string>> names(line.contexts.size());
  std::set<std::string> given;
  for (const auto& option : options) {
    const auto where = fmt::format("the option --partition {}", vmpi::truncated(option, 160));
    const auto equals = option.find('=');
    if (equals == std::string::npos || equals + 1 == option.size()) {
      throw UsageError(fmt::format(
          "{} names no programs; it is --partition NAME=CONTEXT[,CONTEXT...], a context being its number on the launch "
          "line, from 0, or its program.",
          where));
    }
    const auto name = option.substr(0, equals);
    check_name(name, where);
    if (!given.insert(name).second) {
      throw UsageError(fmt::format(
          "the partition '{0}' is given twice; name all its contexts in one option: --partition {0}=0,1.", name));
    }
    for (const auto& word : split_at_commas(option.substr(equals + 1))) {
      const auto contexts = contexts_of(word, line);
      if (contexts.empty()) {
        throw UsageError(fmt::format("{} asks for the context '{}', which is not on the launch line; there is {}.",
                                     where, word, listed(line)));
      }
      for (const auto i : contexts) {
        const auto& program = line.contexts[i].program;
        if (names[i]) {
          throw UsageError(
              fmt::format("context {} ({}) is put into a partition twice, '{}' and '{}'; a program has one "
                          "MPI_COMM_WORLD.",
                          i, program, *names[i], name));
        }
        if (exported_name(line.contexts[i])) {
          throw UsageError(fmt::format("context {} ({}) has a partition by --partition and by -x {}; leave out one.", i,
                                       program, kPartitionVariable));
        }
        names[i] = name;
      }
    }
  }
  return names;
}

std::vector<std::optional<std::string>> join_all(const LaunchLine& line, const char* environment) {
  const bool is_named =
      environment != nullptr || std::any_of(line.contexts.begin(), line.contexts.end(), exported_name);
  std::vector<std::optional<std::string>> names(line.contexts.size());
  if (line.contexts.size() > 1 && !is_named) std::fill(names.begin(), names.end(), "launch");
  return names;
}

void check_partition_variable(const LaunchLine& line, const char* environment) {
  if (environment != nullptr) check_name(environment, fmt::format("the environment variable {}", kPartitionVariable));
  for (const auto& context : line.contexts) {
    if (const auto name = exported_name(context)) check_name(*name, fmt::format("-x {}", kPartitionVariable));
  }
}

}  // namespace ardoise::launcher
