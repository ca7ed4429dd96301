// The interface of a plug-in: an Analysis on one level (one program) that takes spans of events, keeps partial results
// for each worker, and can merge them, write them as bytes and read them back, which the reduction over the analyzer
// ranks needs. knowledge_sources/plugins/template is an example to copy.
//
// Life: create → operations on workers, concurrently, any order of packs → [quiet] partial() → on the root analyzer
// absorb() for every other analyzer's bytes, any order → contribute() to the model. The result of absorb() must not
// depend on the distribution of packs over workers, nor of ranks over analyzers: all packs of a process go to one
// analyzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "instrument/format/event_format.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/interface/level_sources.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

class Resolver;      // resolver.hpp: definitions of a level, complete when contribute() runs
class SnapshotSink;  // snapshot_files/snapshot_sink.hpp
class TraceSink;     // otf2/writer/trace_sink.hpp

// Names of the typed spans that the unpacker submits on a program's level.
inline constexpr std::string_view kMpiEvents = "mpi_events";          // MpiSpan
inline constexpr std::string_view kPosixEvents = "posix_events";      // PosixSpan
inline constexpr std::string_view kAggregates = "aggregates";         // AggregateSpan: sums that replace events
inline constexpr std::string_view kTotals = "totals";                 // TotalsSpan
inline constexpr std::string_view kSamples = "samples";               // SampleSpan
inline constexpr std::string_view kContexts = "contexts";             // ContextSpan
inline constexpr std::string_view kContextTotals = "context_totals";  // ContextTotalsSpan
inline constexpr std::string_view kDefinitions = "definitions";       // DefinitionSpan
inline constexpr std::string_view kPack = "pack";                     // on the empty level: raw bytes of one pack

// A checked span of records of one pack; `pack` keeps the bytes alive.
template <class Record>
struct Span {
  blackboard::EntryRef pack;
  const instrument::PackHeader* header = nullptr;
  std::span<const Record> records;
};
using MpiSpan = Span<instrument::MpiRecord>;
using PosixSpan = Span<instrument::PosixRecord>;
using AggregateSpan = Span<instrument::AggregateRecord>;
using TotalsSpan = Span<instrument::TotalsRecord>;
using ContextSpan = Span<instrument::ContextRecord>;
using ContextTotalsSpan = Span<instrument::ContextTotalsRecord>;
using DefinitionSpan = Span<std::byte>;  // the payload's bytes
using SampleSpan = Span<std::byte>;      // bytes, to read with instrument::PackView(header).sample(i)

struct SnapshotSettings {
  std::vector<std::string> conditions{};  // as in snapshots/condition.hpp
  std::vector<std::string> watched{};  // as in snapshots/condition.hpp: conditions with a callback while programs run
  // A watched condition has become true for a rank. Called by any worker, like the next one.
  std::function<void(std::uint32_t watched, std::uint32_t partition, std::uint32_t rank)> becomes_true{};
  // A condition on the whole program (snapshots/balances.hpp) has become true; these ranks differ from the others.
  std::function<void(std::uint32_t watched, std::uint32_t partition, std::span<const std::uint32_t> differing)>
      becomes_true_of_program{};
  SnapshotSink* sink = nullptr;  // nullptr: none; outlives the analyses
  double interval_seconds = 0;   // between snapshots of each rank for the sink; 0: none
};

struct TraceSettings {
  std::string selection{};    // otf2/contents/trace_selection.hpp; "": no events are written
  std::string folder{};       // for parts of the trace
  TraceSink* sink = nullptr;  // nullptr: none; outlives the analyses
  bool wants_values = false;  // values of event_values.hpp
};

// State that the analyses of one plug-in share for all programs of one MPI_COMM_WORLD. The first analysis creates it.
class WorldShare {
 public:
  virtual ~WorldShare() = default;
};

struct AnalysisContext {
  std::string level;        // name of the level, unique in the launch
  std::uint32_t partition;  // id of the program
  std::uint32_t ranks;      // of the program's world
  double ticks_per_second;  // nominal, for bounds only; exact rates are in the Resolver
  SnapshotSettings snapshots{};
  TraceSettings traces{};
  std::uint32_t first_rank = 0;                  // of the program in its world
  std::uint32_t world_ranks = 0;                 // of all programs there
  std::shared_ptr<WorldShare>* share = nullptr;  // of the plug-in and the world; nullptr: the world has one program
};

class Analysis {
 public:
  virtual ~Analysis() = default;
  // For analyses that use events; one that works from the Resolver alone has no partial results.

  // Registers knowledge sources for the spans that it uses. Called once, before the first pack of the level; they leave
  // the board before the analysis is destroyed.
  virtual void attach(LevelSources&) {}
  // All partial results of this analyzer as bytes. Nothing runs concurrently.
  [[nodiscard]] virtual std::vector<std::byte> partial() const { return {}; }
  // Called before partial() in a copy of the process that writes its partial results as a backup, frequently if cheap:
  // drops large data of little value.
  virtual void shorten() {}
  // Adds another analyzer's partial results. Throws BadPartial.
  virtual void absorb(std::span<const std::byte> partial) {
    if (!partial.empty()) throw BadPartial("A partial result from another analyzer should be empty.");
  }
  // Writes the final results. Called once, on the root analyzer.
  virtual void contribute(const Resolver& resolver, reports::Application& application) const = 0;
};

// Passed by a plug-in's registration function to the analyzer (see blackboard/plugin.hpp for loading).
struct AnalysisFactory {
  std::string name;  // unique, the key of its partial results
  std::unique_ptr<Analysis> (*create)(const AnalysisContext&);
};

}  // namespace ardoise::knowledge_sources
