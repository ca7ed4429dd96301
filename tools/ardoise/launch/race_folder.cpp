#include "tools/ardoise/launch/race_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>

#include "analyzer/output_folder/own_files.hpp"
#include "instrument/format/race_file.hpp"
#include "knowledge_sources/symbols/symbolizer.hpp"
#include "reports/atomic_file.hpp"
#include "reports/text/joined.hpp"
#include "reports/text/units.hpp"
#include "tools/ardoise/common/elf_file.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/report/output_folder.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using instrument::RaceFile;
using instrument::RaceStream;

std::vector<fs::path> race_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == instrument::kRaceFileEnd) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<char> content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::vector<char>> content_if_there(const fs::path& path) {
  std::error_code none;
  if (!fs::exists(path, none)) return std::nullopt;
  return content_of(path);
}

// A record together with its bytes, which RaceFile refers to.
struct ReadRaces {
  explicit ReadRaces(const fs::path& path)
      : bytes(content_of(path)),
        beside(content_if_there(path.string() + instrument::kRaceOpenEnd)),
        file(std::as_bytes(std::span(bytes)),
             beside ? std::optional(std::as_bytes(std::span(*beside))) : std::nullopt) {}
  std::vector<char> bytes;
  std::optional<std::vector<char>> beside;
  RaceFile file;
};

// "solver#2" is the second program of this name.
std::string file_name_of_program(const std::string& name) { return name.substr(0, name.find('#')); }

// "": unknown.
std::string name_of_site(knowledge_sources::Symbolizer& symbolizer, const std::string& module, std::uint64_t offset) {
  if (module.empty()) return "";
  const auto frame = symbolizer.find(module, "", offset);
  if (!frame.source_file.empty()) {
    return fmt::format("{}{}{}:{}", frame.symbol, frame.symbol.empty() ? "" : " in ",
                       fs::path(frame.source_file).filename().string(), frame.line);
  }
  if (frame.symbol.empty()) return "";
  return fmt::format("{} in {}+0x{:x}", frame.symbol, fs::path(module).filename().string(), offset);
}

}  // namespace

void prepare_race_folder(const fs::path& folder) {
  make_writable_folder(folder);
  if (race_files(folder).empty()) return;
  throw UsageError(
      fmt::format("the folder '{}' has a record of races already; name another one for --record-races, or remove it.",
                  folder.string()));
}

void check_race_folder(const fs::path& folder, std::optional<unsigned> ranks,
                       const std::vector<std::string>& programs) {
  const auto files = race_files(folder);
  if (files.empty()) {
    throw UsageError(fmt::format("there is no record of races in '{}'; record one with --record-races {}.",
                                 folder.string(), folder.string()));
  }
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> found;  // partition: its ranks, and those with files
  std::map<std::string, std::string> recorded;                             // program: its build id
  for (const auto& path : files) {
    const ReadRaces read(path);
    const std::string fault = !read.file.error().empty() ? read.file.error() : read.file.fault_inside();
    if (!fault.empty())
      throw UsageError(fmt::format("the record of races '{}' {}; record the program again.", path.string(), fault));
    const auto& header = read.file.header();
    found[header.partition].first = header.ranks;
    ++found[header.partition].second;
    recorded.emplace(file_name_of_program(read.file.program()), read.file.build_id());
  }
  std::uint32_t all = 0;
  for (const auto& [partition, counts] : found) {
    all += counts.first;
    if (counts.first == counts.second) continue;
    throw UsageError(fmt::format("the record of races '{}' has files of {} of {}; record the program again.",
                                 folder.string(), counts.second, reports::counted(counts.first, "rank")));
  }
  if (ranks && *ranks != all) {
    throw UsageError(
        fmt::format("the record of races '{}' is of {} rank{}, and the launch line starts {}; start as many "
                    "as were recorded.",
                    folder.string(), all, all == 1 ? "" : "s", *ranks));
  }
  for (const auto& program : programs) {
    if (program.empty()) continue;
    const std::string name = fs::path(program).filename().string();
    const auto record = recorded.find(name);
    if (record == recorded.end()) {
      std::vector<std::string> names;
      for (const auto& [known, build] : recorded) names.push_back(known);
      throw UsageError(
          fmt::format("the record of races '{}' is of {}, and the launch line starts {}; record this program.",
                      folder.string(), reports::joined(names, ", "), name));
    }
    const auto elf = read_elf(program);
    if (elf && !elf->build_id.empty() && !record->second.empty() && elf->build_id != record->second) {
      throw UsageError(
          fmt::format("the record of races '{}' is of another build of {}; record it again, or run the build "
                      "that was recorded.",
                      folder.string(), name));
    }
  }
}

RecordedRaces name_race_sites(const fs::path& folder) {
  RecordedRaces races;
  std::set<std::pair<std::string, std::uint64_t>> sites;
  for (const auto& path : race_files(folder)) {
    const ReadRaces read(path);
    if (!read.file.error().empty()) continue;
    ++races.ranks;
    races.bytes += read.bytes.size();
    const auto& end = read.file.end();
    if (!end || end->why != instrument::RaceEndReason::kFinalized) ++races.incomplete;
    for (std::uint32_t number = 1; number <= read.file.last_stream(); ++number) {
      RaceStream stream(read.file, number);
      while (stream.next() != nullptr) races.decisions += 1 + stream.skip_repeats();
      for (const auto& key : stream.keys()) sites.emplace(key.module, key.offset);
    }
  }
  knowledge_sources::Symbolizer symbolizer;
  std::string lines;
  for (const auto& [module, offset] : sites) {
    if (const std::string name = name_of_site(symbolizer, module, offset); !name.empty())
      lines += fmt::format("{}\t{:x}\t{}\n", fs::path(module).filename().string(), offset, name);
  }
  (void)reports::write_file(folder / instrument::kRaceSites, lines);  // without the file, places are shown as offsets
  return races;
}

std::vector<std::string> take_divergences(const fs::path& output) {
  const fs::path notes = output / instrument::kRaceDivergences;
  std::istringstream file(analyzer::read_own_file(notes).value_or(""));
  std::vector<std::string> clauses;
  knowledge_sources::Symbolizer symbolizer;
  for (std::string rank, function, module, offset; std::getline(file, rank, '\t') &&
                                                   std::getline(file, function, '\t') &&
                                                   std::getline(file, module, '\t') && std::getline(file, offset);) {
    const std::string name = name_of_site(symbolizer, module, std::strtoull(offset.c_str(), nullptr, 16));
    if (!name.empty())
      clauses.push_back(fmt::format("rank {} has diverged from the record in {} at {}", rank, function, name));
  }
  analyzer::remove_own_file(notes);
  analyzer::remove_own_file(output / instrument::kRaceEnded);
  return clauses;
}

}  // namespace ardoise::launcher
