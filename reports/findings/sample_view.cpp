#include "reports/findings/sample_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "reports/call_tree.hpp"
#include "reports/findings/findings.hpp"
#include "reports/text/python_files.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

std::vector<bool> outermost(const SampleProfile& s) {
  return outermost_nodes(s.tree.parent, s.tree.function, s.functions.size());
}

std::vector<CallShare> sorted(const std::map<std::uint32_t, double>& sums) {
  std::vector<CallShare> list;
  for (const auto& [function, total] : sums) {
    if (total > 0) list.push_back({function, total});
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.total > b.total; });
  return list;
}

}  // namespace

bool is_code(const SampledFunction& f) { return f.kind == "code"; }

std::string full_name(const SampledFunction& f) {
  if (!f.symbol.empty()) return f.symbol;
  return f.module.empty() ? "(unknown)" : "[" + base_name(f.module) + "]";
}

std::string short_name(const SampledFunction& f) { return without_parameters(full_name(f)); }

SourceLine line_of(const SampleProfile& s, std::size_t function) {
  const auto hot =
      std::find_if(s.lines.begin(), s.lines.end(), [&](const SampledLine& l) { return l.function == function; });
  if (hot != s.lines.end() && !hot->source_file.empty()) return {hot->source_file, hot->line};
  return {s.functions[function].source_file, s.functions[function].line};
}

std::string place_of(const SampleProfile& s, std::size_t function) {
  const SourceLine line = line_of(s, function);
  return line.file.empty() ? "" : fmt::format("{}:{}", base_name(line.file), line.number);
}

std::string name_and_place(const SampleProfile& s, std::size_t function) {
  const std::string name = in_sentence(short_name(s.functions[function])), place = place_of(s, function);
  return place.empty() ? name : fmt::format("{} ({})", name, in_sentence(place));
}

namespace {

// s.functions.size(): not sampled.
std::size_t function_as_sampled(const SampleProfile& s, const std::string& symbol, const std::string& source_file) {
  for (std::size_t i = 0; i < s.functions.size(); ++i) {
    const SampledFunction& f = s.functions[i];
    if (!is_code(f) || symbol.empty() || f.symbol != symbol) continue;
    const bool is_there = f.source_file == source_file || std::ranges::any_of(s.lines, [&](const SampledLine& each) {
                            return each.function == i && each.source_file == source_file;
                          });
    if (is_there) return i;
  }
  return s.functions.size();
}

// An instance of a template of the C++ library: "void std::vector<…>::_M_realloc_insert<…>(…)".
bool is_of_std(const std::string& symbol) {
  const std::size_t name = symbol.find("std::");
  return name < symbol.find_first_of("<(") && (name == 0 || symbol[name - 1] == ' ');
}

}  // namespace

SourceLine line_as_sampled(const SampleProfile& s, const std::string& symbol, const SourceLine& otherwise) {
  const std::size_t function = function_as_sampled(s, symbol, otherwise.file);
  return function == s.functions.size() ? otherwise : line_of(s, function);
}

std::string name_as_sampled(const SampleProfile& s, const std::string& symbol, const std::string& source_file,
                            std::uint32_t line) {
  const std::size_t function = function_as_sampled(s, symbol, source_file);
  return function == s.functions.size() ? name_of_place(symbol, source_file, line, "", 0) : name_and_place(s, function);
}

std::vector<double> node_totals(const CallTree& tree, std::vector<double> values) {
  for (std::size_t i = values.size(); i-- != 0;) {
    if (tree.parent[i] != kNoParent) values[tree.parent[i]] += values[i];
  }
  return values;
}

std::vector<double> mpi_beneath(const SampleProfile& s) {
  std::vector<double> seconds(s.tree.parent.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (s.functions[s.tree.function[i]].kind == "mpi") seconds[i] = s.tree.call_seconds[i];
  }
  seconds = node_totals(s.tree, std::move(seconds));
  std::vector<double> result(s.functions.size());
  const std::vector<bool> counts = outermost(s);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i] > 0 && counts[i]) result[s.tree.function[i]] += seconds[i];
  }
  return result;
}

bool is_of_the_system(const SampledFunction& function) {
  if (is_python_library(function.module) || is_python_library(function.source_file)) return true;
  const std::string module = base_name(function.module);
  return std::ranges::any_of(std::to_array({"libc.", "libc-", "libm.", "libm-", "libstdc++", "libgcc", "libpthread",
                                            "libgfortran", "ld-linux"}),
                             [&](const char* begin) { return module.starts_with(begin); });
}

std::uint32_t function_of_program(const SampleProfile& s, std::uint32_t node) {
  std::uint32_t owner = node;
  const auto is_library = [&](const SampledFunction& f) { return is_of_the_system(f) || is_of_std(f.symbol); };
  while (owner != kNoParent && is_library(s.functions[s.tree.function[owner]])) owner = s.tree.parent[owner];
  const bool is_known = owner != kNoParent && is_code(s.functions[s.tree.function[owner]]);
  return s.tree.function[is_known ? owner : node];
}

std::string caller_of_calls(const SampleProfile& s, const std::string& function) {
  std::map<std::uint32_t, double> callers;
  double all = 0;
  for (std::size_t i = 0; i < s.tree.parent.size(); ++i) {
    const SampledFunction& f = s.functions[s.tree.function[i]];
    if (f.kind != "posix" || f.symbol != function || s.tree.parent[i] == kNoParent) continue;
    all += s.tree.self[i];
    callers[function_of_program(s, s.tree.parent[i])] += s.tree.self[i];
  }
  constexpr double kMost = 0.5;
  const auto most = std::ranges::max_element(callers, {}, [](const auto& each) { return each.second; });
  return most == callers.end() || most->second < kMost * all || is_of_the_system(s.functions[most->first])
             ? ""
             : name_and_place(s, most->first);
}

std::vector<double> kernel_beneath(const SampleProfile& s) {
  std::vector<double> seconds(s.functions.size());
  for (std::size_t i = 0; i < s.tree.parent.size(); ++i) {
    const std::uint32_t parent = s.tree.parent[i];
    if (parent == kNoParent || s.functions[s.tree.function[i]].symbol != "(kernel)") continue;
    if (!is_code(s.functions[s.tree.function[parent]])) continue;
    // memcpy and malloc do what their caller wants.
    seconds[function_of_program(s, parent)] += s.tree.self[i];
  }
  return seconds;
}

std::vector<CallShare> callers_of(const SampleProfile& s, const std::vector<double>& totals, std::uint32_t function) {
  std::map<std::uint32_t, double> sums;
  const std::vector<bool> counts = outermost(s);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (s.tree.function[i] != function || !counts[i]) continue;
    sums[s.tree.parent[i] == kNoParent ? kNoParent : s.tree.function[s.tree.parent[i]]] += totals[i];
  }
  return sorted(sums);
}

std::vector<CallShare> callees_of(const SampleProfile& s, const std::vector<double>& totals, std::uint32_t function) {
  std::map<std::uint32_t, double> sums;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const std::uint32_t parent = s.tree.parent[i];
    if (parent == kNoParent || s.tree.function[parent] != function || s.tree.function[i] == function) continue;
    sums[s.tree.function[i]] += totals[i];
  }
  return sorted(sums);
}

std::vector<CallShare> callers_of(const SampleProfile& s, const CallSite& site) {
  constexpr double kLeast = 0.02;
  constexpr int kDepth = 32;
  struct Way {
    std::uint32_t node;  // kNoParent: above the outermost function
    double seconds;
  };
  const auto function_at = [&s](std::uint32_t node) -> const SampledFunction& {
    return s.functions[s.tree.function[node]];
  };
  const bool has_name = !site.symbol.empty();
  std::vector<Way> ways;
  for (std::uint32_t i = 0; i < s.tree.parent.size(); ++i) {
    const std::uint32_t caller = s.tree.parent[i];
    if (!(s.tree.call_seconds[i] > 0) || caller == kNoParent || function_at(i).symbol != site.function) continue;
    const SampledFunction& from = function_at(caller);
    if (from.symbol == site.symbol && (has_name || from.module == site.module))
      ways.push_back({caller, s.tree.call_seconds[i]});
  }
  for (int depth = 0; depth < kDepth && !ways.empty(); ++depth) {
    std::map<std::uint32_t, double> sums;  // by function
    double all = 0, most = 0;
    for (Way& way : ways) {
      do {
        way.node = way.node == kNoParent ? kNoParent : s.tree.parent[way.node];
      } while (!has_name && way.node != kNoParent && function_at(way.node).symbol.empty());
      double& sum = sums[way.node == kNoParent ? kNoParent : s.tree.function[way.node]];
      sum += way.seconds;
      all += way.seconds;
      most = std::max(most, sum);
    }
    if (most < (1 - kLeast) * all || !has_name) return sorted(sums);
  }
  return {};
}

namespace {

constexpr double kOnlyCaller = 0.995;

// Code that starts programs, or has no name, says nothing of a place.
bool says_something(const SampledFunction& f) {
  return !f.symbol.empty() && f.symbol != "(unknown)" && f.symbol != "(incomplete call stack)" &&
         f.symbol != "_start" && f.symbol.find("libc_start_") == std::string::npos;
}

}  // namespace

std::string callers_in_sentence(const Application& a, const CallSite& site) {
  const SampleProfile& s = a.samples;
  std::vector<CallShare> callers = callers_of(s, site);
  std::erase_if(callers, [](const CallShare& c) { return c.function == kNoParent; });
  double all = 0;
  for (const CallShare& c : callers) all += c.total;
  const std::size_t before = callers.size();
  std::erase_if(callers, [&](const CallShare& c) { return !says_something(s.functions[c.function]); });
  if (callers.empty()) return "";
  // The tree has one function for all places of a library without symbols.
  const auto places = std::ranges::count_if(a.call_sites, [&](const CallSite& other) {
    return other.function == site.function && other.symbol == site.symbol && other.module == site.module;
  });
  const std::string beneath =
      site.symbol.empty() && places > 1 ? fmt::format(", one of {} places below ", places) : ", called by ";
  if (before == 1 || callers[0].total > kOnlyCaller * all)
    return beneath + in_sentence(short_name(s.functions[callers[0].function]));
  const auto part = [&](std::size_t i) {
    return fmt::format("{} ({})", in_sentence(short_name(s.functions[callers[i].function])),
                       human_share(callers[i].total / all));
  };
  if (callers.size() == 1) return beneath + part(0);
  return fmt::format("{}{} and {}", beneath, part(0),
                     callers.size() == 2 ? part(1) : fmt::format("{} others", callers.size() - 1));
}

std::size_t counter(const SampleProfile& s, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto place = std::find(s.counters.begin(), s.counters.end(), name);
    if (place != s.counters.end()) return static_cast<std::size_t>(place - s.counters.begin());
  }
  return s.counters.size();
}

std::string rank_ranges(const std::vector<std::uint32_t>& ranks, std::size_t most) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (shown++ == most) return text + ", …";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (end - i > 1) text += fmt::format("{}{}", end - i > 2 ? "–" : ", ", ranks[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace ardoise::reports
