#include "tools/ardoise/launch/rank_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

// "rank 4=node2 slot=0:1" → 4, node2.
std::map<unsigned, std::string> machines_of(const std::string& content) {
  std::map<unsigned, std::string> machines;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, place;
    if (!(words >> word >> place) || word != "rank") continue;
    unsigned rank = 0;
    const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), rank);
    if (error == std::errc{} && end != place.data() + place.size() && *end == '=') machines[rank] = end + 1;
  }
  return machines;
}

}  // namespace

std::optional<std::string> with_analyzers(const std::string& content, unsigned ranks, unsigned analyzers) {
  const auto machines = machines_of(content);
  if (machines.empty()) return std::nullopt;  // unknown format: mpirun reports errors
  std::string added;
  for (unsigned analyzer = 0; analyzer < analyzers; ++analyzer) {
    if (machines.contains(ranks + analyzer)) continue;
    const auto beside = machines.find(analyzer * ranks / analyzers);
    const auto& machine = (beside == machines.end() ? machines.begin() : beside)->second;
    added += fmt::format("rank {}={} slot=*\n", ranks + analyzer, machine);
  }
  if (added.empty()) return std::nullopt;
  return content + (content.ends_with('\n') ? "" : "\n") + added;
}

RankFile::RankFile(LaunchLine& line, unsigned ranks, unsigned analyzers, const fs::path& folder) {
  for (auto& context : line.contexts) {
    for (auto& option : context.options) {
      if (option.bare_name() != "rankfile" && option.bare_name() != "rf") continue;
      std::ostringstream text;
      text << std::ifstream(option.value()).rdbuf();
      const auto more = with_analyzers(text.str(), ranks, analyzers);
      if (!more) continue;
      copy_ = folder / ".rank-file";
      if (!analyzer::write_own_file(copy_, *more))
        throw UsageError(
            fmt::format("the rank file with places for the analyzers, '{}', cannot be written.", copy_.string()));
      option.values.back() = copy_.string();
    }
  }
}

RankFile::~RankFile() {
  if (!copy_.empty()) analyzer::remove_own_file(copy_);
}

}  // namespace ardoise::launcher
