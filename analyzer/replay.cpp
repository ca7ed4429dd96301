// See replay.hpp.
#include "analyzer/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "analyzer/plugins.hpp"
#include "analyzer/results.hpp"
#include "analyzer/workers.hpp"
#include "instrument/format/definition_reader.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using instrument::PackSequence;

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

using Programs = std::map<std::uint32_t, knowledge_sources::Program>;

void note_program(const instrument::PackView& pack, Programs& programs) {
  if (pack.pack_class() != instrument::PackClass::kDefinitions) return;
  instrument::DefinitionReader reader(pack.payload());
  while (const auto definition = reader.next()) {
    const auto* process = std::get_if<instrument::DecodedProcess>(&*definition);
    if (process == nullptr) continue;
    auto& program = programs[pack.header().partition];
    program.partition = pack.header().partition;
    program.name = std::string(process->program);
    program.ranks = std::max(program.ranks, process->fixed.world_size);
  }
}

void keep(void*, std::span<std::byte>) noexcept {}  // the capture owns the bytes

}  // namespace

Capture read_capture(const std::vector<std::string>& paths) {
  Capture capture;
  Programs programs;
  for (const auto& path : files_of(paths)) {
    auto file = instrument::read_pack_file(path);
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
  for (auto& [partition, program] : programs) capture.programs.push_back(std::move(program));
  return capture;
}

void feed(Capture& capture, AnalyzerRun& run, std::uint32_t part, std::uint32_t parts) {
  for (auto& file : capture.files) {
    PackSequence packs(file.bytes());
    while (const auto pack = packs.next()) {
      if (pack->header().rank % parts != part) continue;
      while (!run.wait_for_room(std::chrono::milliseconds(1000))) {
      }
      const auto at =
          static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&pack->header()) - file.bytes().data());
      run.submit(std::as_writable_bytes(std::span(file.storage)).subspan(at, pack->bytes()), keep, nullptr);
    }
  }
}

int replay(const Options& options) {
  auto plugins = load_plugins(installed_plugins_folder(), options.plugins);
  auto capture = read_capture(options.replay);
  const unsigned workers = options.workers != 0 ? options.workers : default_workers();
  AnalyzerRun run({workers, options.memory_bytes, std::move(plugins.analyses)});
  for (const auto& list : {plugins.complaints, capture.complaints}) {
    for (const auto& complaint : list) run.complain(complaint);
  }
  if (capture.programs.empty()) {
    for (const auto& complaint : run.complaints()) say(complaint);
    say("there are no packs of any program in what --replay names; nothing is written.");
    return kIncomplete;
  }
  RunFacts facts;
  for (const auto& program : capture.programs) {
    facts.universe_ranks += program.ranks;
    run.add_program(program);
  }
  facts.analyzer_workers = workers;
  facts.programs_ended = std::chrono::steady_clock::now();
  feed(capture, run);
  run.drain();
  return write_report(run, facts, options);
}

}  // namespace ardoise::analyzer
