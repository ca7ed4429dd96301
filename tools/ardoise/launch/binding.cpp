#include "tools/ardoise/launch/binding.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace ardoise::launcher {
namespace {

constexpr unsigned kBoundToCores = 2;  // at most so many processes
constexpr std::string_view kOverload = "overload-allowed";
constexpr std::string_view kBinding = "hwloc_base_binding_policy", kMapping = "rmaps_base_mapping_policy",
                           kRanking = "rmaps_base_ranking_policy";

// The last option with one of these names in any context.
LauncherOption* find_last(LaunchLine& line, std::initializer_list<std::string_view> names) {
  LauncherOption* found = nullptr;
  for (auto& context : line.contexts) {
    for (auto& option : context.options) {
      if (std::find(names.begin(), names.end(), option.bare_name()) != names.end()) found = &option;
    }
  }
  return found;
}

// -mca NAME VALUE
LauncherOption* find_parameter(LaunchLine& line, std::string_view name) {
  LauncherOption* found = nullptr;
  for (auto& context : line.contexts) {
    for (auto& option : context.options) {
      const bool is_mca = option.bare_name() == "mca" || option.bare_name() == "gmca";
      if (is_mca && option.values.size() == 2 && option.values.front() == name) found = &option;
    }
  }
  return found;
}

std::optional<std::string> given_parameter(LaunchLine& line, std::string_view name, const McaParameter& parameter) {
  if (const auto* const option = find_parameter(line, name)) return option->values.back();
  return parameter(name);
}

// Splits "numa:span" into "numa" and ":span".
std::pair<std::string, std::string> cut_policy(const std::string& policy) {
  const auto colon = std::min(policy.find(':'), policy.size());
  return {policy.substr(0, colon), policy.substr(colon)};
}

std::string with_directive(const std::string& policy, std::string_view directive) {
  if (policy.find(directive) != std::string::npos) return policy;
  return fmt::format("{}{}{}", policy, policy.find(':') == std::string::npos ? ':' : ',', directive);
}

// One of the two policies. is_given is false if it has at most directives.
struct Policy {
  std::string value;
  LauncherOption* option = nullptr;  // source of the value; nullptr: a parameter from outside the line, or none
  bool is_given = false;
};

Policy given_policy(LaunchLine& line, std::string_view name, std::string_view parameter_name,
                    const McaParameter& parameter) {
  Policy policy;
  if ((policy.option = find_last(line, {name})) == nullptr) policy.option = find_parameter(line, parameter_name);
  if (policy.option != nullptr) {
    policy.value = policy.option->value();
  } else if (const auto value = parameter(parameter_name)) {
    policy.value = *value;
  }
  policy.is_given = !cut_policy(policy.value).first.empty();
  return policy;
}

// Changes the policy in its option, or adds an option, which has precedence over parameters from outside the line.
void set_policy(LaunchLine& line, Policy& policy, const char* option, std::string value) {
  if (policy.option != nullptr) {
    policy.option->values.back() = std::move(value);
  } else {
    auto& first = line.contexts.front().options;
    first.insert(first.begin(), {option, {std::move(value)}});
  }
}

bool is_object(std::string_view mapping) {
  static constexpr auto kObjects =
      std::to_array<std::string_view>({"hwthread", "core", "l1cache", "l2cache", "l3cache", "socket", "numa"});
  return std::find(kObjects.begin(), kObjects.end(), mapping) != kObjects.end();
}

// Whether a rank gets several processors: ":PE=2", or one of the old options.
bool asks_for_processors(const LaunchLine& line, const Policy& mapping) {
  std::string lower = mapping.value;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower.find("pe=") != std::string::npos || line.has({"cpus-per-proc", "cpus-per-rank"});
}

// The user places the ranks: with a list of places, or with options whose precedence is not known here.
bool is_placed_otherwise(const LaunchLine& line, const Policy& mapping, const Policy& binding,
                         const McaParameter& parameter) {
  if (line.has({"rankfile", "rf", "bind-to-core", "bind-to-socket", "cpu-set", "cpu-list"})) return true;
  if (parameter("rmaps_rank_file_path") || parameter("orte_rankfile") || parameter("hwloc_base_cpu_list")) return true;
  const auto [object, directives] = cut_policy(binding.value);
  return object == "none" || object == "board" || object.starts_with("cpu") ||
         cut_policy(mapping.value).first == "rankfile";
}

}  // namespace

std::optional<std::string> mca_parameter(std::string_view name) {
  if (const char* const value = std::getenv(fmt::format("OMPI_MCA_{}", name).c_str())) return value;
  const char* const home = std::getenv("HOME");
  for (const auto& path : {fmt::format("{}/.openmpi/mca-params.conf", home == nullptr ? "" : home),
                           std::string("/etc/openmpi/openmpi-mca-params.conf")}) {
    std::ifstream file(path);
    for (std::string text; std::getline(file, text);) {
      text.erase(std::min(text.find('#'), text.size()));
      const auto equals = text.find('=');
      if (equals == std::string::npos) continue;
      std::string key, value;
      std::istringstream(text.substr(0, equals)) >> key;
      std::istringstream(text.substr(equals + 1)) >> value;
      if (key == name && !value.empty()) return value;
    }
  }
  return std::nullopt;
}

unsigned usable_cores(bool hardware_threads) {
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return 0;
  std::set<std::string> cores;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &usable)) continue;
    std::string siblings = std::to_string(cpu);
    if (!hardware_threads)
      std::ifstream(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu)) >> siblings;
    cores.insert(siblings);
  }
  return static_cast<unsigned>(cores.size());
}

bool uses_hardware_threads(const LaunchLine& line, const McaParameter& parameter) {
  LaunchLine copy = line;
  const auto value = given_parameter(copy, "hwloc_base_use_hwthreads_as_cpus", parameter);
  return line.has({"use-hwthread-cpus"}) || (value && *value != "0" && *value != "false");
}

bool may_bind(const LaunchLine& line, const McaParameter& parameter) {
  LaunchLine copy = line;
  const auto binding = given_policy(copy, "bind-to", kBinding, parameter);
  const auto mapping = given_policy(copy, "map-by", kMapping, parameter);
  return !is_placed_otherwise(line, mapping, binding, parameter);
}

void keep_binding(LaunchLine& line, const BindingFacts& facts) {
  auto binding = given_policy(line, "bind-to", kBinding, facts.parameter);
  auto mapping = given_policy(line, "map-by", kMapping, facts.parameter);
  if (is_placed_otherwise(line, mapping, binding, facts.parameter)) return;
  // Without analyzers Open MPI binds nothing either, or fails.
  if (facts.ranks && facts.processors && *facts.ranks > *facts.processors) return;

  const bool is_few = facts.ranks && *facts.ranks <= kBoundToCores;
  const std::string core = uses_hardware_threads(line, facts.parameter) ? "hwthread" : "core";
  const auto [object, directives] = cut_policy(mapping.value);
  const bool chooses_mapping =
      object.empty() && !asks_for_processors(line, mapping) &&
      !line.has({"bycore", "byslot", "bynode", "N", "npernode", "npersocket", "pernode", "ppr"});
  const std::string mapped = chooses_mapping && facts.ranks ? (is_few ? core : "numa") : object;
  const bool spans = facts.lacks_slots && facts.one_machine && is_object(mapped);
  const std::string target = spans ? with_directive(mapped + directives, "span") : mapped + directives;

  std::string bound = binding.value;
  const bool follows_mapping = is_object(mapped) && !facts.lacks_slots;
  if (!binding.is_given && facts.ranks && !follows_mapping && !asks_for_processors(line, mapping))
    bound = (is_object(mapped) ? mapped : is_few ? core : "numa") + with_directive(bound, "if-supported");
  set_policy(line, binding, "--bind-to", with_directive(bound, kOverload));
  if (spans || (chooses_mapping && is_few)) {
    mapping = given_policy(line, "map-by", kMapping, facts.parameter);  // the line has grown: search again
    set_policy(line, mapping, "--map-by", target);
    auto ranking = given_policy(line, "rank-by", kRanking, facts.parameter);
    if (chooses_mapping && !ranking.is_given) set_policy(line, ranking, "--rank-by", "slot");
  }
}

}  // namespace ardoise::launcher
