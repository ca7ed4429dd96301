// The schema of profile.json, once: the members of the model's structs, whose names are the keys. json_writer,
// json_reader and the checks walk these tables at run time, which compiles faster than templates over tuples of
// members. docs/reference/profile_schema.md explains each key. To add a field: a member in model.hpp, its name here, a
// line in the documentation. Keys are never renamed or retyped within one schema version; readers skip unknown keys.
#pragma once

#include <array>
#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

struct Type;

// A member of a struct.
struct Field {
  std::string_view key;
  std::size_t offset;  // in the struct, bytes
  const Type* type;
};

// A type of the model, and how to reach its parts in memory.
struct Type {
  enum class Kind { boolean, int32, int64, uint32, uint64, float32, float64, text, json, extensions, list, object };
  Kind kind;
  // A list is a std::vector of `element`.
  const Type* element = nullptr;
  std::size_t element_size = 0;  // bytes
  std::size_t (*size)(const void* list) = nullptr;
  const void* (*data)(const void* list) = nullptr;
  void* (*append)(void* list) = nullptr;  // a default element
  void (*clear)(void* list) = nullptr;
  // An object is a struct.
  std::span<const Field> fields{};
  bool one_line = false;  // structs with many instances are written on one line each
};

// The table of each struct of the model.
template <class T>
inline constexpr std::array<Field, 0> kFields{};
// Structs with many instances.
template <class T, class... Others>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Others> || ...);
template <class T>
inline constexpr bool kOneLine =
    kIsOneOf<T, FunctionProfile, CallSite, Edge, FileProfile, Communicator, Ledger, RunSetting, SampledFunction,
             SampledLine, RankCluster, RateChange, LastCall, StackPlace>;

template <class T>
constexpr Type make_type() {
  using Kind = Type::Kind;
  if constexpr (std::is_same_v<T, bool>) {
    return {.kind = Kind::boolean};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {.kind = sizeof(T) == 4 ? Kind::float32 : Kind::float64};
  } else if constexpr (std::is_integral_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    if (std::is_signed_v<T>) return {.kind = sizeof(T) == 4 ? Kind::int32 : Kind::int64};
    return {.kind = sizeof(T) == 4 ? Kind::uint32 : Kind::uint64};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {.kind = Kind::text};
  } else if constexpr (std::is_same_v<T, decltype(Application::extensions)>) {
    return {.kind = Kind::extensions};
  } else {
    static_assert(kFields<T>.size() != 0, "a struct without a table");
    return {.kind = Kind::object, .fields = kFields<T>, .one_line = kOneLine<T>};
  }
}
template <class T>
inline constexpr Type kType = make_type<T>();
template <class T>
inline constexpr Type kType<std::vector<T>>{
    .kind = Type::Kind::list,
    .element = &kType<T>,
    .element_size = sizeof(T),
    .size = [](const void* list) { return static_cast<const std::vector<T>*>(list)->size(); },
    .data = [](const void* list) -> const void* { return static_cast<const std::vector<T>*>(list)->data(); },
    .append = [](void* list) -> void* { return &static_cast<std::vector<T>*>(list)->emplace_back(); },
    .clear = [](void* list) { static_cast<std::vector<T>*>(list)->clear(); }};

#define ARDOISE_FIELD(r, Struct, member) \
  Field{BOOST_PP_STRINGIZE(member), offsetof(Struct, member), &kType<decltype(Struct::member)>},
#define ARDOISE_FIELDS(Struct, ...)       \
  template <>                             \
  inline constexpr auto kFields<Struct> = \
      std::array{BOOST_PP_SEQ_FOR_EACH(ARDOISE_FIELD, Struct, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))};

// Structs before those that have members of them.
ARDOISE_FIELDS(FunctionProfile, function, category, calls, seconds, bytes, bytes_sent, bytes_received, min_seconds,
               mean_seconds, max_seconds, calls_by_size)
ARDOISE_FIELDS(CallSite, function, symbol, source_file, line, module, offset, calls, seconds, bytes, min_seconds,
               mean_seconds, max_seconds, ranks, run_bytes, operations, flight_seconds, waited_seconds)
ARDOISE_FIELDS(SleepSite, symbol, source_file, line, module, offset, looks, ranks)
ARDOISE_FIELDS(Edge, source, target, messages, bytes, seconds)
ARDOISE_FIELDS(FileProfile, path, opens, reads, writes, calls, bytes_read, bytes_written, seconds, ranks, consecutive,
               forward, strided, backward, read_sizes, write_sizes)
ARDOISE_FIELDS(ParallelEfficiency, load_balance, serialisation, transfer, parallel)
ARDOISE_FIELDS(Communicator, name, size, count, group_of_rank, efficiency, least_efficient, balance_between)
ARDOISE_FIELDS(Layout, extents, rank_of_cell, cartesian)
ARDOISE_FIELDS(DensityMap, function, calls, seconds, bytes)
ARDOISE_FIELDS(TemporalMap, bin_seconds, bins, ranks_per_group, classes, groups, share)
ARDOISE_FIELDS(MemoryProfile, bin_seconds, bins, peak_bytes, host_bytes, limit_bytes)
ARDOISE_FIELDS(LongestWait, seconds, begin_seconds, waiter, awaited, awaited_other)
ARDOISE_FIELDS(WaitTotal, pattern, seconds, occurrences, longest)
ARDOISE_FIELDS(WaitSite, function, symbol, source_file, line, module, offset, pattern, waiting_seconds, occurrences,
               longest, waiters, first_waiter, last_waiter, awaited, awaited_other, awaited_seconds)
ARDOISE_FIELDS(WaitEdge, waiter, awaited, seconds)
ARDOISE_FIELDS(WaitCause, rank, symbol, source_file, line, kind, seconds, error)
ARDOISE_FIELDS(WaitedOther, program, rank, seconds, cause)
ARDOISE_FIELDS(RankSeconds, rank, seconds)
ARDOISE_FIELDS(PathPart, kind, function, symbol, source_file, line, seconds, error, rank, rank_seconds, by_rank)
ARDOISE_FIELDS(RankWaiting, waiting_seconds, caused_seconds, origin_seconds, critical_path_seconds,
               without_processor_seconds)
ARDOISE_FIELDS(UnreceivedMessages, function, symbol, source_file, line, module, offset, messages, source, tag)
ARDOISE_FIELDS(UnresolvedCounts, folded, incomplete, beyond_memory, other)
ARDOISE_FIELDS(UnresolvedWaiting, collective_calls, message_ends, below_clock_seconds, critical_path_seconds,
               late_waits)
ARDOISE_FIELDS(WaitingOverTime, bin_seconds, bins, groups, ranks_per_group, seconds)
ARDOISE_FIELDS(EfficiencyOverTime, bin_seconds, load_balance, serialisation, transfer, parallel)
ARDOISE_FIELDS(Waiting, patterns, call_sites, edges, edges_between, others, per_rank, unreceived, causes, critical_path,
               critical_path_seconds, critical_path_elsewhere_seconds, efficiency, over_time, efficiency_over_time,
               resolved_calls, resolved_messages, unresolved)
ARDOISE_FIELDS(RankSummary, wall_seconds, mpi_seconds, io_seconds, cpu_seconds, waiting_seconds, process_cpu_seconds,
               children_cpu_seconds, peak_memory_bytes, host, processors, first_processor, host_processors,
               first_mpi_seconds, first_io_seconds, asleep_outside, asleep_inside, asleep_for_thread, asleep_for_time,
               asleep_for_program, asleep_for_file_lock)
ARDOISE_FIELDS(Ledger, record_class, recorded, received, dropped, lost)
ARDOISE_FIELDS(Quality, ledger, packs, pack_bytes, bad_packs, blocked_seconds, ranks_complete, analyzers_lost,
               record_cost_seconds, overhead_seconds, recording_seconds, sending_seconds, sampling_seconds,
               analyzer_cpu_seconds, clock, clock_error_seconds, unresolved_call_sites, notices)
ARDOISE_FIELDS(StackPlace, symbol, source_file, line, module, offset)
ARDOISE_FIELDS(LastCall, function, place, peer, tag, communicator, file, bytes, begin_seconds, seconds)
ARDOISE_FIELDS(RankEnd, cause, signal, status, seconds, has_address, address, sender, ranks, call, stack, last_calls)
ARDOISE_FIELDS(RankPosition, ranks, call, after, least_seconds, most_seconds, waits_for, stack)
ARDOISE_FIELDS(Ending, ends, stands, moment_seconds, memory_kills)
ARDOISE_FIELDS(SnapshotCalls, function, symbol, source_file, line, module, offset, calls, bytes, seconds,
               waiting_seconds)
ARDOISE_FIELDS(SnapshotFunction, symbol, source_file, line, seconds)
ARDOISE_FIELDS(SnapshotValue, name, count, sum, least, most)
ARDOISE_FIELDS(SnapshotCounter, name, counts)
ARDOISE_FIELDS(SnapshotSeries, trigger, name, function, symbol, source_file, line, rounds, interval_seconds, numbers,
               ranks, call_sites, regular, begin_seconds, seconds, longest_seconds, mpi_seconds, io_seconds,
               waiting_seconds, groups, ranks_per_group, own_seconds, group_waiting_seconds, group_longest_seconds,
               group_bytes, group_calls, group_io_seconds, group_cpu_seconds, calls, functions, values, counters)
ARDOISE_FIELDS(Snapshots, series, ranks_with_gaps, ranks_with_sums, unfinished_phases, unbegun_phases, further_marks,
               marks_of_other_threads)
ARDOISE_FIELDS(SampledFunction, symbol, kind, source_file, line, module, optimization, samples, self, self_error, total,
               total_error, rank_min, rank_mean, rank_max, max_rank, calls, call_seconds, counters)
ARDOISE_FIELDS(SampledLine, function, source_file, line, samples, self, self_error)
ARDOISE_FIELDS(CallTree, parent, function, samples, self, calls, call_seconds, bytes_sent, bytes_received)
ARDOISE_FIELDS(RankSamples, functions, self, all, uneven, total)
ARDOISE_FIELDS(RankCluster, ranks, leader, mean_share)
ARDOISE_FIELDS(SampleTimeline, bin_seconds, bins, rank_step, functions, self, all)
ARDOISE_FIELDS(RateChange, rank, thread, seconds, hertz, cause, lowest_level, free_bins)
ARDOISE_FIELDS(SampledThreads, rank, thread, taken, stored, discarded, partial, inside_tool, cost_seconds, wall_seconds,
               self, in_calls)
ARDOISE_FIELDS(ParallelRegions, functions, total)
ARDOISE_FIELDS(SampleProfile, unit, clock, counters, samples, self, kernel, at_shared_ticks, confidence,
               unknown_contexts, functions, lines, tree, per_rank, clusters, cluster_of_rank, cluster_distance,
               timeline, rate_changes, rate_changes_left_out, threads, regions)
ARDOISE_FIELDS(Application, name, command, working_directory, partition, first_rank, world_ranks, ranks, threads,
               thread_level, hosts, other_threads, wall_seconds, init_seconds, start_seconds, mpi, posix, call_sites,
               sleep_sites, edges, edges_between, files, communicators, layout, density, temporal, per_rank, memory,
               waiting, snapshots, samples, ending, quality, extensions)
ARDOISE_FIELDS(RunSetting, name, value, set_by)
ARDOISE_FIELDS(Run, schema_version, tool_version, started, command, settings, universe_ranks, analyzer_ranks,
               analyzer_workers, analysis_seconds, ended_by, running, notices, applications)

#undef ARDOISE_FIELDS
#undef ARDOISE_FIELD

}  // namespace ardoise::reports
