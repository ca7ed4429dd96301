#include "vmpi/generator/table.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "vmpi/generator/kinds.hpp"

namespace ardoise::generator {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Event records have ten bits for the function.
constexpr std::size_t kMaxFunctions = 1023;

struct Flag {
  std::string_view name;
  bool Function::*member;
};
constexpr Flag kFlags[] = {{"!c-only", &Function::c_only},         {"!no-f08", &Function::no_f08},
                           {"!special", &Function::special_c},     {"!special", &Function::special_fortran},
                           {"!special-c", &Function::special_c},   {"!special-fortran", &Function::special_fortran},
                           {"!persistent", &Function::persistent}, {"!query", &Function::query},
                           {"!any-thread", &Function::any_thread}, {"!cptr", &Function::cptr},
                           {"!no-twin", &Function::no_twin}};

void set_flag(Function& function, const std::string& flag, bool& has_large_twin, const std::string& where) {
  bool is_known = flag == "!large";
  has_large_twin = has_large_twin || is_known;
  for (const auto& [name, member] : kFlags) {
    if (flag == name) function.*member = is_known = true;
  }
  if (!is_known) throw TableError(where + ": unknown flag " + flag);
}

// section: flags that the functions of a section share.
Function parse_function(const std::vector<std::string>& words, const Function& section, const std::string& where,
                        bool& has_large_twin) {
  if (words.size() < 3) throw TableError(where + ": a line needs a name, a byte rule and the kinds of its parameters");
  Function function = section;
  function.name = words[0];
  function.rule = words[1];
  function.large = function.name.ends_with("_c");
  if (find_rule(function.rule) == nullptr)
    throw TableError(where + ": " + function.name + " has the unknown byte rule " + function.rule);
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i].starts_with('!')) {
      set_flag(function, words[i], has_large_twin, where);
    } else if (is_kind(words[i])) {
      function.kinds.push_back(words[i]);
    } else if (words[i] != "-") {
      throw TableError(where + ": " + function.name + " has a parameter of the unknown kind " + words[i]);
    }
  }
  function.any_thread = function.any_thread || function.query;
  for (const auto& needed : find_rule(function.rule)->needs) {
    if (std::count(function.kinds.begin(), function.kinds.end(), needed) != 1)
      throw TableError(where + ": " + function.name + " needs one parameter of kind " + needed + " for its byte rule " +
                       function.rule);
  }
  return function;
}

}  // namespace

int Function::position(std::string_view kind) const {
  const auto first = std::find(kinds.begin(), kinds.end(), kind);
  if (first == kinds.end()) return -1;
  if (std::find(first + 1, kinds.end(), kind) != kinds.end())
    throw TableError(name + " has several parameters of kind " + std::string(kind));
  return static_cast<int>(first - kinds.begin());
}

bool Function::needs_twin() const {
  if (no_twin) return false;
  return special_c || std::find(kinds.begin(), kinds.end(), "comm") != kinds.end();
}

std::string Function::bare_name() const { return name.starts_with("MPIX_") ? "X_" + name.substr(5) : name.substr(4); }

std::string Function::enumerator() const { return "k" + bare_name(); }

Function Function::large_twin() const {
  Function twin = *this;
  twin.name += "_c";
  twin.large = true;
  return twin;
}

std::string Function::lower_name() const {
  std::string lower = large ? name.substr(0, name.size() - 2) : name;  // Fortran has one generic name for both
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

const Function* Table::find(std::string_view name) const {
  const auto found = std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

bool Table::skips(std::string_view name) const {
  return std::any_of(skipped.begin(), skipped.end(), [&](const auto& skip) { return skip.name == name; });
}

std::uint32_t Table::hash() const {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const auto& function : functions) {
    for (const char c : function.name + "\n") hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  return hash;
}

Table parse_table(std::string_view text, const std::string& file) {
  Table table;
  std::vector<Function> large_twins;
  std::set<std::string> seen;
  Function section;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string where = file + ":" + std::to_string(number);
    const auto words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    if (words[0].starts_with('[')) {
      if (!words[0].ends_with(']')) throw TableError(where + ": a section is [name] !flags");
      section = {};
      section.category = words[0].substr(1, words[0].size() - 2);
      bool has_large_twins = false;
      for (std::size_t i = 1; i < words.size(); ++i) set_flag(section, words[i], has_large_twins, where);
      if (has_large_twins) throw TableError(where + ": !large belongs to a function, not to a section");
      continue;
    }
    if (section.category.empty()) throw TableError(where + ": " + words[0] + " comes before the first [section]");
    if (!words[0].starts_with("MPI_") && !words[0].starts_with("MPIX_"))
      throw TableError(where + ": " + words[0] + " is not an MPI_ or MPIX_ name");
    if (!seen.insert(words[0]).second) throw TableError(where + ": " + words[0] + " is there twice");
    if (section.category == "skip") {
      if (words.size() < 2) throw TableError(where + ": " + words[0] + " is skipped without a reason");
      table.skipped.push_back({words[0], line.substr(line.find(words[1]))});
    } else {
      bool has_large_twin = false;
      table.functions.push_back(parse_function(words, section, where, has_large_twin));
      if (!has_large_twin) continue;
      large_twins.push_back(table.functions.back().large_twin());
      const auto& name = large_twins.back().name;
      if (!seen.insert(name).second) throw TableError(where + ": " + name + " is there twice");
    }
  }
  table.functions.insert(table.functions.end(), large_twins.begin(), large_twins.end());
  if (table.functions.size() > kMaxFunctions)
    throw TableError(file + ": more functions than an event record can number");
  return table;
}

}  // namespace ardoise::generator
