#include "analyzer/sources/stream_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "reports/text/joined.hpp"
#include "vmpi/streams/open_streams.hpp"

namespace ardoise::analyzer {
namespace {

void give_back(void* stream, std::span<std::byte> block) noexcept {
  VMPI_Stream_release(static_cast<VMPI_Stream*>(stream), block.data());
}

std::string sentence_of(const VMPI_Program_desc& program, const std::vector<int>& ranks) {
  constexpr std::size_t kMostNamed = 8;
  const auto named = std::span(ranks).first(std::min(ranks.size(), kMostNamed));
  return fmt::format(
      "{} of {} process{} of {} ended without finishing {} measurement (rank {}{}); unsent data is missing.",
      ranks.size(), program.size, program.size == 1 ? "" : "es", program.name, ranks.size() == 1 ? "its" : "their",
      reports::joined(named, ", "), ranks.size() > kMostNamed ? ", ..." : "");
}

// The program of a process, and its rank in that program's world.
std::pair<const VMPI_Program_desc*, int> place_of(int universe_rank) {
  for (int id = 0; id < VMPI_Get_program_count(); ++id) {
    const auto* const program = VMPI_Get_program_by_id(id);
    for (int rank = program->first_rank; rank < program->first_rank + program->size; ++rank) {
      if (VMPI_Get_universe_rank(program->partition, rank) == universe_rank) return {program, rank};
    }
  }
  return {nullptr, 0};
}

}  // namespace

std::vector<knowledge_sources::Program> programs_of_launch() {
  std::vector<knowledge_sources::Program> programs;
  for (int id = 0; id < VMPI_Get_program_count(); ++id) {
    const auto* const program = VMPI_Get_program_by_id(id);
    if (program->partition == VMPI_Get_partition_id()) continue;
    programs.push_back({.partition = static_cast<std::uint32_t>(programs.size()),
                        .name = program->name,
                        .ranks = static_cast<std::uint32_t>(program->size),
                        .world = static_cast<std::uint32_t>(program->partition),
                        .place = {static_cast<std::uint32_t>(program->first_rank),
                                  static_cast<std::uint32_t>(VMPI_Get_desc_by_id(program->partition)->size)}});
  }
  return programs;
}

StreamSource::StreamSource(const std::vector<knowledge_sources::Program>& programs, const Options& options)
    : unsent_(options.output) {
  VMPI_Map_clear(&map_);
  for (const auto& program : programs) {
    if (program.place.first_rank != 0) continue;  // its world is already mapped
    const int code = VMPI_Map_partitions(static_cast<int>(program.world), VMPI_MAP_ROUND_ROBIN, &map_);
    if (code != VMPI_SUCCESS) {
      complaints_.push_back(fmt::format("The program {} could not be mapped to the analyzers: {}.", program.name,
                                        VMPI_Error_string(code)));
    }
  }
  int code = VMPI_Stream_init(&stream_, options.block_bytes, VMPI_STREAM_BALANCE_ROUND_ROBIN);
  constexpr int kWriterBuffers = 3;  // unused by a reader
  if (code == VMPI_SUCCESS) code = VMPI_Stream_set_buffers(&stream_, kWriterBuffers, options.memory_bytes);
  if (code == VMPI_SUCCESS) code = VMPI_Stream_open_map(&stream_, &map_, "r");
  is_open_ = code == VMPI_SUCCESS;
  if (!is_open_) {
    complaints_.push_back(
        fmt::format("The stream from the programs could not be opened: {}.", VMPI_Error_string(code)));
  }
}

StreamSource::~StreamSource() {
  VMPI_Stream_close(&stream_);
  VMPI_Map_free(&map_);
}

PackSource::Next StreamSource::next(SourcedPack& pack) {
  if (is_paused()) return Next::nothing;
  const Next found = next_of_stream(pack);
  if (found == Next::pack) unsent_.note(pack);
  if (found == Next::pack) return found;
  const bool may_come = looks_for_unsent_packs();
  if (unsent_.next(pack) == Next::pack) return Next::pack;
  return found == Next::end && may_come ? Next::nothing : found;
}

PackSource::Next StreamSource::next_of_stream(SourcedPack& pack) {
  if (!is_open_) return Next::end;
  void* block = nullptr;
  std::size_t bytes = 0;
  int from = 0;
  int code = VMPI_ERR_PEER;
  while ((code = VMPI_Stream_take(&stream_, &block, &bytes, &from, VMPI_STREAM_NONBLOCK)) == VMPI_ERR_PEER)
    note_lost(from);
  if (code == VMPI_EAGAIN) return vmpi::is_receiving(stream_) ? Next::arriving : Next::nothing;
  if (code < 0) {
    complaints_.push_back(
        fmt::format("Receiving events failed, and the rest is missing: {}.", VMPI_Error_string(code)));
  }
  if (code <= 0) return Next::end;
  pack = {{static_cast<std::byte*>(block), bytes}, give_back, &stream_};
  return Next::pack;
}

std::vector<std::string> StreamSource::gone_peers() const {
  std::vector<std::string> names;
  if (!is_open_) return names;
  for (const int gone : vmpi::gone_peers(stream_)) {
    if (const auto [program, rank] = place_of(gone); program != nullptr)
      names.push_back(fmt::format("rank {} of {}", rank, program->name));
  }
  return names;
}

std::map<ProcessKey, bool> StreamSource::processes() const {
  std::map<ProcessKey, bool> all;
  for (const auto& [process, next] : unsent_.arrived()) all[process] = unsent_.has_ended(process);
  return all;
}

void StreamSource::note_lost(int universe_rank) {
  const auto [program, rank] = place_of(universe_rank);
  if (program == nullptr) return;
  lost_[program].push_back(rank);
  last_loss_ = std::chrono::steady_clock::now();
}

// The survivor may still be writing the file of a process.
bool StreamSource::looks_for_unsent_packs() {
  constexpr std::chrono::seconds kPatience(1);
  if (lost_.empty() || std::chrono::steady_clock::now() - last_loss_ > kPatience) return false;
  for (auto& [program, ranks] : lost_) {
    const auto partition = static_cast<std::uint32_t>(program->partition);
    std::erase_if(ranks, [&](int rank) { return unsent_.open({partition, static_cast<std::uint32_t>(rank)}); });
  }
  std::erase_if(lost_, [](const auto& each) { return each.second.empty(); });
  return !lost_.empty();
}

std::vector<std::string> StreamSource::complaints() const {
  auto all = complaints_;
  for (const auto& complaint : unsent_.complaints()) all.push_back(complaint);
  for (const auto& [program, ranks] : lost_) all.push_back(sentence_of(*program, ranks));
  return all;
}

}  // namespace ardoise::analyzer
