// See ingest.hpp.
#include "analyzer/ingest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "vmpi/vmpi.h"

namespace ardoise::analyzer {
namespace {

int map_programs(AnalyzerRun& run, VMPI_Map& map) {
  int programs = 0;
  VMPI_Map_clear(&map);
  for (int id = 0; id < VMPI_Get_partition_count(); ++id) {
    const auto* partition = VMPI_Get_desc_by_id(id);
    if (id == VMPI_Get_partition_id() || partition == nullptr) continue;
    ++programs;
    run.add_program({.partition = static_cast<std::uint32_t>(id),
                     .name = partition->name,
                     .ranks = static_cast<std::uint32_t>(partition->size)});
    if (const int code = VMPI_Map_partitions(id, VMPI_MAP_ROUND_ROBIN, &map); code != VMPI_SUCCESS) {
      run.complain(fmt::format("The program {} could not be mapped to the analyzers: {}.", partition->name,
                               VMPI_Error_string(code)));
    }
  }
  return programs;
}

void give_back(void* stream, std::span<std::byte> block) noexcept {
  VMPI_Stream_release(static_cast<VMPI_Stream*>(stream), block.data());
}

// Ranks whose stream ended without being closed, by program.
using Lost = std::map<int, std::vector<int>>;

void note(Lost& lost, int universe_rank) {
  for (int id = 0; id < VMPI_Get_partition_count(); ++id) {
    const auto* partition = VMPI_Get_desc_by_id(id);
    for (int rank = 0; partition != nullptr && rank < partition->size; ++rank) {
      if (VMPI_Get_universe_rank(id, rank) == universe_rank) lost[id].push_back(rank);
    }
  }
}

void complain(const Lost& lost, AnalyzerRun& run) {
  constexpr std::size_t kMostNamed = 8;
  for (const auto& [id, ranks] : lost) {
    const auto* partition = VMPI_Get_desc_by_id(id);
    const std::vector<int> named(ranks.begin(),
                                 ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), kMostNamed)));
    run.complain(
        fmt::format("{} of {} processes of {} ended without finishing {} measurement (rank {}{}); what "
                    "had not been sent is missing.",
                    ranks.size(), partition->size, partition->name, ranks.size() == 1 ? "its" : "their",
                    fmt::join(named, ", "), ranks.size() > kMostNamed ? ", ..." : ""));
  }
}

void read_to_end(VMPI_Stream& stream, AnalyzerRun& run, Lost& lost) {
  for (;;) {
    if (!run.wait_for_room(std::chrono::milliseconds(100))) continue;
    void* block = nullptr;
    std::size_t bytes = 0;
    int from = 0;
    const int code = VMPI_Stream_take(&stream, &block, &bytes, &from, 0);
    if (code == 0) return;
    if (code == VMPI_ERR_PEER) {
      note(lost, from);
      continue;
    }
    if (code < 0) {
      run.complain(fmt::format("Receiving events failed, and the rest is missing: {}.", VMPI_Error_string(code)));
      return;
    }
    run.submit({static_cast<std::byte*>(block), bytes}, give_back, &stream);
  }
}

}  // namespace

Ingested ingest(AnalyzerRun& run, const IngestOptions& options) {
  VMPI_Map map;
  Ingested result;
  result.programs = map_programs(run, map);
  VMPI_Stream stream{};
  int code = VMPI_Stream_init(&stream, options.block_bytes, VMPI_STREAM_BALANCE_ROUND_ROBIN);
  constexpr int kWriterBuffers = 3;  // of no use to a reader
  if (code == VMPI_SUCCESS) code = VMPI_Stream_set_buffers(&stream, kWriterBuffers, options.memory_bytes);
  if (code == VMPI_SUCCESS) code = VMPI_Stream_open_map(&stream, &map, "r");
  if (code != VMPI_SUCCESS) {
    run.complain(fmt::format("The stream from the programs could not be opened: {}.", VMPI_Error_string(code)));
  } else {
    Lost lost;
    read_to_end(stream, run, lost);
    complain(lost, run);
  }
  result.ended = std::chrono::steady_clock::now();
  run.drain();  // gives every block back
  VMPI_Stream_close(&stream);
  VMPI_Map_free(&map);
  return result;
}

}  // namespace ardoise::analyzer
