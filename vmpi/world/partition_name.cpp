#include "vmpi/world/partition_name.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace ardoise::vmpi {
namespace {

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

// An interpreter as in argv[0], ignoring a version suffix ("python3.11", "lua5.4"), and its options that take the next
// argument. script_of handles options that name what to run.
struct Interpreter {
  std::string_view name;
  std::vector<std::string_view> options_with_value;
};

const Interpreter* find_interpreter(std::string_view program) {
  static const std::vector<Interpreter> known = {
      {"python", {"-W", "-X", "--check-hash-based-pycs"}},
      {"pypy", {"-W", "-X"}},
      {"java", {"-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules"}},
      {"julia", {"-p", "-t", "-C", "-J", "-H", "-L"}},
      {"sh", {"-o", "+o"}},
      {"bash", {"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}},
      {"dash", {"-o", "+o"}},
      {"ksh", {"-o", "+o"}},
      {"zsh", {"-o", "+o"}},
      {"csh", {}},
      {"tcsh", {}},
      {"perl", {"-I"}},
      {"ruby", {"-I", "-r"}},
      {"lua", {"-l"}},
      {"Rscript", {}},
      {"octave", {"-p", "--path"}},
      {"tclsh", {}},
      {"node", {"-r", "--require"}},
      {"mono", {}},
      {"ld-linux", {"--library-path", "--preload", "--audit", "--argv0"}},
  };
  // The dynamic linker run as a program: ld-linux-x86-64.so.2, ld-linux-aarch64.so.1.
  if (program.starts_with("ld-linux")) program = "ld-linux";
  const auto version = program.find_last_not_of("0123456789.-");
  if (version != std::string_view::npos) program = program.substr(0, version + 1);
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& i) { return i.name == program; });
  return found == known.end() ? nullptr : &*found;
}

// The file that an interpreter runs; empty when there is none ("-c", standard input, interactive).
std::string_view script_of(const Interpreter& interpreter, const std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool has_next = i + 1 < arguments.size();
    if (argument.empty()) return {};
    if (argument == "--") return has_next ? std::string_view(arguments[i + 1]) : std::string_view();
    if (argument[0] != '-' && argument[0] != '+') return argument;
    if (argument == "-" || argument == "-c" || argument == "-e") return {};
    if (argument == "-m" || argument == "-jar")
      return has_next ? std::string_view(arguments[i + 1]) : std::string_view();
    const auto& valued = interpreter.options_with_value;
    if (std::find(valued.begin(), valued.end(), argument) != valued.end()) ++i;
  }
  return {};
}

}  // namespace

std::string program_name(const std::vector<std::string>& arguments, std::string_view executable) {
  constexpr std::string_view deleted = " (deleted)";  // Linux appends this when the file was replaced
  if (executable.ends_with(deleted)) executable.remove_suffix(deleted.size());
  std::string_view name = arguments.empty() ? std::string_view() : base_name(arguments[0]);
  if (name.empty()) name = base_name(executable);
  if (const auto* interpreter = find_interpreter(name)) {
    const auto script = base_name(script_of(*interpreter, arguments));
    if (!script.empty()) name = script;
  }
  std::string result = truncated(name, kMaxPartitionName);
  for (auto& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
  }
  return result.empty() ? "program" : result;
}

const char* invalid_partition_name(std::string_view name) noexcept {
  if (name.find_first_not_of(" \t") == std::string_view::npos) return "it is empty";
  if (name.size() > kMaxPartitionName) return "it is longer than 127 bytes";
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(name.begin(), name.end(), is_control)) return "it contains control characters";
  return nullptr;
}

std::string truncated(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  auto end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

void make_names_unique(std::vector<std::string>& names, const std::vector<bool>& is_explicit) {
  std::set<std::string, std::less<>> taken;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_explicit[i]) taken.insert(names[i]);
  }
  std::map<std::string, int> numbers;  // the last number given to each name
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_explicit[i]) continue;
    const std::string base = names[i];
    int& number = numbers.try_emplace(base, 1).first->second;
    while (!taken.insert(names[i]).second) {
      const auto suffix = "#" + std::to_string(++number);
      names[i] = truncated(base, kMaxPartitionName - suffix.size()) + suffix;
    }
  }
}

}  // namespace ardoise::vmpi
