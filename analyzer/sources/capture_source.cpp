#include "analyzer/sources/capture_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <variant>

#include "analyzer/output_folder/own_files.hpp"
#include "instrument/format/definition_reader.hpp"
#include "reports/text/units.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using instrument::PackSequence;

// Each rank takes some 4 kB, even without a file: a claim of a few bytes must not exhaust memory.
constexpr std::uint64_t kRanksOfAFile = 1024;

std::vector<fs::path> files_of(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const auto& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.is_regular_file(error)) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

using Programs = std::map<std::pair<std::uint32_t, std::uint32_t>, knowledge_sources::Program>;  // world, first rank

void note_program(const instrument::PackView& pack, Programs& programs) {
  if (pack.pack_class() != instrument::PackClass::kDefinitions) return;
  instrument::DefinitionReader reader(pack.payload());
  while (const auto definition = reader.next()) {
    const auto* process = std::get_if<instrument::DecodedProcess>(&*definition);
    if (process == nullptr) continue;
    const auto& fixed = process->fixed;
    const std::uint32_t world = pack.header().partition;
    programs[{world, fixed.first_rank}] = {.name = std::string(process->program),
                                           .ranks = fixed.ranks,
                                           .world = world,
                                           .place = {fixed.first_rank, fixed.world_size}};
  }
}

void keep(void*, std::span<std::byte>) noexcept {}  // the capture owns the bytes

Capture read_files(const std::vector<fs::path>& files, auto&& read) {
  Capture capture;
  Programs programs;
  for (const auto& path : files) {
    instrument::PackFile file = read(path);
    if (!file.error.empty()) {
      capture.complaints.push_back(file.error);
      continue;
    }
    PackSequence packs(file.bytes());
    while (const auto pack = packs.next()) note_program(*pack, programs);
    if (!packs.error().empty()) {
      capture.complaints.push_back(fmt::format("'{}' is read only up to a bad pack: {}", path.string(), packs.error()));
    }
    capture.files.push_back(std::move(file));
  }
  for (auto& [place, program] : programs) {
    program.partition = static_cast<std::uint32_t>(capture.programs.size());
    capture.programs.push_back(std::move(program));
  }
  return capture;
}

}  // namespace

Capture read_capture(const std::vector<std::string>& paths) {
  Capture capture = read_files(files_of(paths), [](const fs::path& path) { return instrument::read_pack_file(path); });
  struct World {
    std::uint64_t ranks = 0, of_programs = 0;
  };
  std::map<std::uint32_t, World> worlds;
  for (const auto& program : capture.programs) {
    World& world = worlds[program.world];
    world.ranks = std::max<std::uint64_t>(world.ranks, program.place.world_ranks);
    world.of_programs += program.ranks;
  }
  std::uint64_t ranks = 0;
  for (const auto& [number, world] : worlds) ranks += std::max(world.ranks, world.of_programs);
  if (ranks <= kRanksOfAFile * capture.files.size()) return capture;
  capture.complaints.push_back(
      fmt::format("the programs of the captures have {}, but the files are of {} at most: give files of at least one "
                  "rank in {}.",
                  reports::counted(ranks, "rank"), capture.files.size(), kRanksOfAFile));
  return {{}, {}, std::move(capture.complaints)};
}

Capture read_own_capture(const std::vector<fs::path>& files) { return read_files(files, read_own_pack_file); }

PackSource::Next CaptureSource::next(SourcedPack& pack) {
  for (; file_ < capture_.files.size(); ++file_, packs_.reset()) {
    auto& file = capture_.files[file_];
    if (!packs_) packs_.emplace(file.bytes());
    while (const auto view = packs_->next()) {
      if (view->header().rank % parts_ != part_) continue;
      const auto at =
          static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&view->header()) - file.bytes().data());
      pack = {std::as_writable_bytes(std::span(file.storage)).subspan(at, view->bytes()), keep, nullptr};
      return Next::pack;
    }
  }
  return Next::end;
}

}  // namespace ardoise::analyzer
