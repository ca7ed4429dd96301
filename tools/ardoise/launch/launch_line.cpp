#include "tools/ardoise/launch/launch_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

namespace ardoise::launcher {
namespace {

// Options of a launcher by number of arguments, separated by blanks.
struct OptionNames {
  std::string_view without_argument, with_one, with_two;
};

constexpr OptionNames kOpenMpiOptions{
    .without_argument =
        " allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous d debug debug-daemons"
        " debug-daemons-file debug-devel disable-recovery display-allocation display-devel-allocation"
        " display-devel-map display-diffable-map display-map display-topo do-not-launch do-not-resolve dvm"
        " enable-instant-on-support enable-recovery fwd-mpirun-port get-stack-traces index-argv-by-rank"
        " leave-session-attached merge-stderr-to-stdout nolocal nooversubscribe noprefix novm output-proctable"
        " oversubscribe pernode preload-binary q quiet report-bindings report-child-jobs-separately"
        " report-state-on-timeout s set-cwd-to-session-dir show-progress tag-output timestamp-output tv"
        " use-hwthread-cpus use-regexp v verbose xml ",
    .with_one =
        " H N am app bind-to c cartofile cf cpu-list cpu-set cpus-per-proc cpus-per-rank debugger default-hostfile"
        " display hnp host hostfile launch-agent machinefile map-by max-restarts max-vm-size n np npernode"
        " npersocket ompi-server output output-filename path personality ppr prefix preload-files rank-by rankfile"
        " report-events report-pid report-uri rf runtime-options stdin timeout tune wd wdir x xml-file xterm ",
    .with_two = " gmca gpmixmca gprtemca mca pmixmca prtemca "};

// Options of MPICH 4.0's `mpiexec -help`, and older spellings that it still accepts.
constexpr OptionNames kHydraOptions{
    .without_argument =
        " disable-auto-cleanup disable-hostname-propagation disable-x enable-x envall envnone genvall genvnone info"
        " l pmi-port prepend-rank print-all-exitcodes profile skip-launch-node v verbose ",
    .with_one =
        " bind-to binding bootstrap bootstrap-exec configfile demux envlist errfile errfile-pattern f genvlist"
        " gpus-per-proc host hostfile hosts iface launcher launcher-exec localhost machinefile map-by membind n"
        " nameserver np order-nodes outfile outfile-pattern perhost ppn prepend-pattern rmk s timeout topolib usize"
        " wd wdir ",
    .with_two = " env genv "};

bool contains(std::string_view names, std::string_view name) {
  return names.find(' ' + std::string(name) + ' ') != std::string_view::npos;
}

std::string_view without_dashes(std::string_view word) {
  if (word.starts_with("--")) return word.substr(2);
  return word.starts_with('-') ? word.substr(1) : word;
}

AppContext parse_context(std::span<const std::string> words, std::string_view launcher, LauncherKind kind) {
  AppContext context;
  std::size_t at = 0;
  for (; at < words.size() && words[at].size() > 1 && words[at].front() == '-'; ++at) {
    LauncherOption option{words[at], {}};
    if (option.name == "--") {
      ++at;
      break;
    }
    auto arity = option_arity(option.name, kind);
    if (!arity) {
      throw UsageError(
          fmt::format("{0} has no option '{1}' that ardoise knows; options of ardoise itself stand before '{0}', and "
                      "'{0} {2}' lists those of {0}.",
                      launcher, option.name, kind == LauncherKind::kHydra ? "-help" : "--help all"));
    }
    // -env NAME=VALUE has one argument, -env NAME VALUE two.
    if (kind == LauncherKind::kHydra && *arity == 2 && at + 1 < words.size() &&
        words[at + 1].find('=') != std::string::npos)
      arity = 1;
    if (words.size() - at - 1 < *arity) {
      throw UsageError(fmt::format("the option '{}' of {} needs {} after it.", option.name, launcher,
                                   *arity == 1 ? "a value" : "a name and a value"));
    }
    for (unsigned i = 0; i < *arity; ++i) option.values.push_back(words[++at]);
    context.options.push_back(std::move(option));
  }
  if (at < words.size()) {
    context.program = words[at++];
    context.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  }
  return context;
}

std::vector<std::vector<std::string>> split_at_colons(std::span<const std::string> words) {
  std::vector<std::vector<std::string>> parts(1);
  for (const auto& word : words) {
    if (word == ":") {
      parts.emplace_back();
    } else {
      parts.back().push_back(word);
    }
  }
  return parts;
}

// An app file has one context on each line. Words are separated by blanks; quotes have no meaning, as in mpirun.
std::vector<AppContext> read_app_file(const std::string& path, std::string_view launcher, LauncherKind kind) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) {
    throw UsageError(fmt::format("the app file '{}' cannot be read; check the name after {}.", path,
                                 kind == LauncherKind::kHydra ? "-configfile" : "--app"));
  }
  std::vector<AppContext> contexts;
  for (std::string line; std::getline(file, line);) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word && !word.starts_with('#');) words.push_back(word);
    if (!words.empty()) contexts.push_back(parse_context(words, launcher, kind));
  }
  return contexts;
}

}  // namespace

std::optional<unsigned> option_arity(std::string_view name, LauncherKind kind) {
  const bool hydra = kind == LauncherKind::kHydra;
  const auto bare = without_dashes(name);
  const auto equals = hydra ? bare.find('=') : std::string_view::npos;
  const auto word = bare.substr(0, equals);
  const auto& [without_argument, with_one, with_two] = hydra ? kHydraOptions : kOpenMpiOptions;
  if (contains(without_argument, word)) return 0;
  if (contains(with_one, word)) return equals == std::string_view::npos ? 1 : 0;
  if (contains(with_two, word)) return 2;
  return std::nullopt;
}

std::string_view LauncherOption::bare_name() const {
  const auto bare = without_dashes(name);
  return bare.substr(0, bare.find('='));
}

std::string LauncherOption::value() const { return values.empty() ? name.substr(name.find('=') + 1) : values.back(); }

std::optional<std::string> LauncherOption::value_for(std::string_view bare, std::string_view variable) const {
  if (bare_name() != bare || values.empty()) return std::nullopt;
  const auto& first = values.front();
  if (values.size() == 2) return first == variable ? std::optional(values[1]) : std::nullopt;
  if (!first.starts_with(variable) || first[variable.size()] != '=') return std::nullopt;
  return first.substr(variable.size() + 1);
}

const LauncherOption* AppContext::find(std::initializer_list<std::string_view> names) const {
  const auto found = std::find_if(options.rbegin(), options.rend(), [&](const LauncherOption& option) {
    return std::find(names.begin(), names.end(), option.bare_name()) != names.end();
  });
  return found == options.rend() ? nullptr : &*found;
}

std::optional<unsigned> AppContext::processes() const {
  const auto* option = find({"n", "np", "c"});
  if (option == nullptr) return std::nullopt;
  const auto text = option->value();
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw UsageError(fmt::format("the option '{}' needs a number of processes, not '{}'.", option->name, text));
  }
  return value;
}

bool LaunchLine::has(std::initializer_list<std::string_view> names) const {
  return std::any_of(contexts.begin(), contexts.end(), [&](const auto& context) { return context.find(names); });
}

LaunchLine parse_launch_line(const std::vector<std::string>& words, LauncherKind kind) {
  LaunchLine line{words.at(0), {}};
  const auto parts = split_at_colons(std::span(words).subspan(1));
  for (const auto& part : parts) {
    // mpirun, too, accepts "mpirun -n 1 a :".
    if (!part.empty() || parts.size() == 1) line.contexts.push_back(parse_context(part, line.launcher, kind));
  }
  if (line.contexts.empty())
    throw UsageError(fmt::format("the launch line names no program: ardoise {} -n 4 ./program", line.launcher));
  // With an app file mpirun ignores the other contexts of the line. Its options stay, because options for the whole
  // launch (--oversubscribe, --mca) have an effect there.
  if (const auto* app = line.contexts.front().find({"app", "configfile"})) {
    auto contexts = read_app_file(app->value(), line.launcher, kind);
    std::vector<LauncherOption> global;
    for (const auto& option : line.contexts.front().options) {
      if (option.bare_name() != "app" && option.bare_name() != "configfile") global.push_back(option);
    }
    if (!contexts.empty())
      contexts.front().options.insert(contexts.front().options.begin(), global.begin(), global.end());
    line.contexts = std::move(contexts);
  }
  if (line.contexts.empty()) throw UsageError("the app file names no program.");
  for (std::size_t i = 0; i < line.contexts.size(); ++i) {
    if (line.contexts[i].program.empty()) {
      throw UsageError(line.contexts.size() == 1
                           ? fmt::format("the launch line names no program: ardoise {} -n 4 ./program", line.launcher)
                           : fmt::format("part {} of the launch line (between two ':') names no program.", i + 1));
    }
    (void)line.contexts[i].processes();
  }
  return line;
}

std::vector<std::string> to_words(const LaunchLine& line) {
  std::vector<std::string> words{line.launcher};
  for (std::size_t i = 0; i < line.contexts.size(); ++i) {
    if (i > 0) words.emplace_back(":");
    const auto& context = line.contexts[i];
    for (const auto& option : context.options) {
      words.push_back(option.name);
      words.insert(words.end(), option.values.begin(), option.values.end());
    }
    if (context.program.starts_with('-')) words.emplace_back("--");
    words.push_back(context.program);
    words.insert(words.end(), context.arguments.begin(), context.arguments.end());
  }
  return words;
}

}  // namespace ardoise::launcher
