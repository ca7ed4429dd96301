#include "tools/ardoise/launch/launch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "reports/text/joined.hpp"
#include "tools/ardoise/launch/partition_option.hpp"
#include "vmpi/loader/launch_environment.hpp"

namespace ardoise::launcher {
namespace {

constexpr std::string_view kPreload = "LD_PRELOAD";

// Removes the user's LD_PRELOAD from a context, since two settings would not be combined.
std::optional<std::string> take_preload(AppContext& context, const std::optional<std::string>& from_environment) {
  std::optional<std::string> preload = from_environment;
  std::erase_if(context.options, [&](const LauncherOption& option) {
    for (const char* name : {"env", "x"}) {
      if (auto value = option.value_for(name, kPreload)) return preload = std::move(value), true;
    }
    return option.bare_name() == "x" && option.value() == kPreload;  // exports the value from the environment
  });
  return preload;
}

// "NAME=VALUE" as two words: Hydra would cut a value that contains '='.
LauncherOption hydra_option(const std::string& setting) {
  const auto equals = setting.find('=');
  return {"-env", {setting.substr(0, equals), setting.substr(equals + 1)}};
}

// The measurement's variables for one context, without those that the user sets on the line. The user's settings reach
// the context by its own options, by -genv, or with Open MPI 5 by -x of any context.
std::vector<std::string> variables_for(const AppContext& context, const LaunchLine& line,
                                       const Measurement& measurement) {
  std::vector<std::string> settings;
  for (const auto& [name, value] : measurement.environment) {
    bool given = false;
    for (const auto& any : line.contexts) {
      for (const auto& option : any.options) {
        const bool reaches =
            &any == &context || option.name.ends_with("genv") || measurement.preload_by == PreloadBy::kEnvProgram;
        for (const char* giver : {"x", "env", "genv"}) given = given || (reaches && option.value_for(giver, name));
      }
    }
    if (!given) settings.push_back(name + '=' + value);
  }
  return settings;
}

// Sets variables, each as NAME=VALUE, for the program of a context.
void set_variables(AppContext& context, std::vector<std::string> settings, PreloadBy by) {
  if (by == PreloadBy::kExportOption) {
    for (auto& setting : settings) context.options.push_back({"-x", {std::move(setting)}});
    return;
  }
  if (by == PreloadBy::kHydraEnvOption) {
    for (const auto& setting : settings) context.options.push_back(hydra_option(setting));
    return;
  }
  if (settings.empty()) return;
  context.arguments.insert(context.arguments.begin(), context.program);
  context.arguments.insert(context.arguments.begin(), settings.begin(), settings.end());
  context.program = "env";
}

// The contexts in the same world as this one, including itself.
std::vector<std::size_t> joined_with(std::size_t place, const Measurement& measurement) {
  if (place >= measurement.partitions.size() || !measurement.partitions[place]) return {place};
  std::vector<std::size_t> joined;
  for (std::size_t i = 0; i < measurement.partitions.size(); ++i) {
    if (measurement.partitions[i] == measurement.partitions[place]) joined.push_back(i);
  }
  return joined;
}

// Sets the first and last rank of each world in a launch of Hydra. Does nothing if the line does not give the numbers
// of processes, or the contexts of a world are not adjacent.
void add_own_ranks(LaunchLine& plan, const Measurement& measurement) {
  std::vector<unsigned> begins{0};  // of each context, and the end of the last
  for (const auto& context : plan.contexts) {
    const auto processes = context.processes();
    if (!processes) return;
    begins.push_back(begins.back() + *processes);
  }
  for (std::size_t i = 0; i < plan.contexts.size(); ++i) {
    const auto joined = joined_with(i, measurement);
    if (joined.back() - joined.front() + 1 != joined.size()) continue;
    const unsigned first = begins[joined.front()], size = begins[joined.back() + 1] - first;
    plan.contexts[i].options.push_back(
        {"-env",
         {vmpi::kOwnRanksVariable,
          fmt::format("{},{},{},{}", first, size, begins.back() + measurement.analyzers, vmpi::kNoConnection)}});
  }
}

void add_preload(LaunchLine& line, std::size_t place, const Measurement& measurement,
                 const std::optional<std::string>& user_preload) {
  auto& context = line.contexts[place];
  const auto theirs = take_preload(context, user_preload);
  auto settings = variables_for(context, line, measurement);
  std::string preload = measurement.preload_library;
  if (place < measurement.sanitizers.size() && !measurement.sanitizers[place].empty())
    preload = measurement.sanitizers[place] + ':' + preload;
  if (theirs && !theirs->empty()) preload += ':' + *theirs;
  settings.insert(settings.begin(), fmt::format("{}={}", kPreload, preload));
  if (measurement.partitions.size() > place && measurement.partitions[place]) {
    settings.push_back(fmt::format("{}={}", kPartitionVariable, *measurement.partitions[place]));
    settings.push_back(
        fmt::format("{}={}", vmpi::kPartitionContextsVariable, reports::joined(joined_with(place, measurement), ",")));
  }
  if (measurement.slots_suffice) settings.push_back(fmt::format("{}=1", vmpi::kSlotsSufficeVariable));
  set_variables(context, std::move(settings), measurement.preload_by);
}

AppContext analyzer_context(const LaunchLine& line, const Measurement& measurement, bool preloads_something) {
  AppContext context;
  context.options.push_back({"-n", {std::to_string(measurement.analyzers)}});
  auto words = measurement.analyzer;
  // The user's preloaded libraries are for programs, not for analyzers.
  if (preloads_something) words.insert(words.begin(), {"env", "-u", std::string(kPreload)});
  context.program = words.front();
  context.arguments.assign(words.begin() + 1, words.end());
  set_variables(context, variables_for(context, line, measurement), measurement.preload_by);
  return context;
}

bool mentions(const LaunchLine& line, std::string_view word) {
  for (const auto& context : line.contexts) {
    for (const auto& option : context.options) {
      for (const auto& value : option.values) {
        std::string lower = value;
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (lower.find(word) != std::string::npos) return true;
      }
    }
  }
  return false;
}

}  // namespace

LaunchLine plan_launch(const LaunchLine& user, const Measurement& measurement,
                       const std::optional<std::string>& user_preload) {
  LaunchLine plan = user;
  auto preload_of_all = user_preload;
  for (auto& context : plan.contexts) {
    std::erase_if(context.options, [&](const LauncherOption& option) {
      const auto value = option.value_for("genv", kPreload);
      if (value) preload_of_all = value;
      return value.has_value();
    });
  }
  for (std::size_t i = 0; i < plan.contexts.size(); ++i) add_preload(plan, i, measurement, preload_of_all);
  if (measurement.processes) plan.contexts.front().options.push_back({"-n", {std::to_string(*measurement.processes)}});
  if (measurement.preload_by == PreloadBy::kHydraEnvOption) add_own_ranks(plan, measurement);
  plan.contexts.push_back(analyzer_context(plan, measurement, user_preload.has_value()));
  if (measurement.oversubscribe) {
    auto& first = plan.contexts.front().options;
    first.insert(first.begin(), {"--oversubscribe", {}});
  }
  return plan;
}

std::optional<unsigned> count_ranks(const LaunchLine& line, std::optional<unsigned> slots) {
  if (line.has({"N", "npernode", "npersocket", "pernode", "ppr"}) || mentions(line, "ppr:")) return std::nullopt;
  unsigned ranks = 0;
  for (const auto& context : line.contexts) {
    const auto processes = context.processes();
    if (!processes && !slots) return std::nullopt;
    ranks += processes ? *processes : *slots;
  }
  return ranks;
}

unsigned default_analyzers(std::optional<unsigned> ranks) {
  constexpr unsigned kRanksPerAnalyzer = 32;
  return std::max(1U, (ranks.value_or(1) + kRanksPerAnalyzer - 1) / kRanksPerAnalyzer);
}

bool allows_oversubscription(const LaunchLine& line) {
  if (forbids_oversubscription(line)) return false;
  const char* variable = std::getenv("OMPI_MCA_rmaps_base_oversubscribe");
  return line.has({"oversubscribe"}) || mentions(line, "oversubscribe") ||
         (variable != nullptr && std::string_view(variable) != "0" && std::string_view(variable) != "false");
}

bool forbids_oversubscription(const LaunchLine& line) {
  return line.has({"nooversubscribe"}) || mentions(line, "nooversubscribe");
}

std::vector<std::string> slot_question(const LaunchLine& line) {
  static constexpr auto kKept = std::to_array<std::string_view>(
      {"H", "host", "hostfile", "machinefile", "default-hostfile", "use-hwthread-cpus", "mca", "gmca", "prefix",
       "noprefix", "allow-run-as-root", "launch-agent", "nolocal", "personality", "tune", "am", "cpu-set", "cpu-list"});
  LaunchLine question{line.launcher, {}};
  for (const auto& context : line.contexts) {
    AppContext asking;
    for (const auto& option : context.options) {
      if (std::find(kKept.begin(), kKept.end(), option.bare_name()) != kKept.end()) asking.options.push_back(option);
    }
    asking.options.push_back({"-n", {"1"}});
    asking.program = "printenv";
    asking.arguments = {"OMPI_UNIVERSE_SIZE", "OMPI_MCA_orte_num_nodes"};
    question.contexts.push_back(std::move(asking));
  }
  return to_words(question);
}

// Reads numbers that stand alone on their lines; all processes print the same two.
std::optional<Slots> read_slot_answer(const std::string& output) {
  std::istringstream lines(output);
  std::vector<unsigned> numbers;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.size() < 9 &&
        std::all_of(line.begin(), line.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
      numbers.push_back(static_cast<unsigned>(std::stoul(line)));
    }
  }
  if (numbers.empty()) return std::nullopt;
  return Slots{numbers.front(), numbers.size() > 1 ? numbers[1] : 0};
}

}  // namespace ardoise::launcher
