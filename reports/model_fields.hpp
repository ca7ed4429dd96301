// The schema of profile.json: the members of the model's structs, whose names are the keys. json_writer and json_reader
// use the same tables. docs/reference/profile_schema.md explains the keys. To add a field, add a member in model.hpp,
// its name here and a line in the documentation. Keys are never renamed or retyped within one schema version; readers
// skip unknown keys.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>

#include "reports/model.hpp"

namespace ardoise::reports {

template <class Class, class Member>
struct Field {
  std::string_view key;
  Member Class::*member;
};
template <class Class, class Member>
Field(const char*, Member Class::*) -> Field<Class, Member>;

constexpr auto fields_of(std::nullptr_t, auto... fields) { return std::tuple{fields...}; }

// A tuple of Field, one for each named member.
#define ARDOISE_FIELD(member_name) \
  , Field { #member_name, &Struct::member_name }
#define ARDOISE_FIELDS(Type, ...)                                                                    \
  [] {                                                                                               \
    using Struct = Type;                                                                             \
    return fields_of(nullptr NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ARDOISE_FIELD, __VA_ARGS__))); \
  }()

// The fields of each struct of the model; empty for other types.
template <class T>
inline constexpr std::tuple<> kFields{};
template <>
inline constexpr auto kFields<FunctionProfile> =
    std::tuple_cat(ARDOISE_FIELDS(FunctionProfile, function, category, calls, seconds, bytes, bytes_sent,
                                  bytes_received, min_seconds, mean_seconds, max_seconds),
                   std::tuple{Field{"calls_by_size", &FunctionProfile::sizes}});
template <>
inline constexpr auto kFields<CallSite> = ARDOISE_FIELDS(CallSite, function, symbol, source_file, line, module, offset,
                                                         calls, seconds, bytes, min_seconds, mean_seconds, max_seconds,
                                                         ranks, operations, flight_seconds, waited_seconds);
template <>
inline constexpr auto kFields<Edge> = ARDOISE_FIELDS(Edge, source, target, messages, bytes, seconds);
template <>
inline constexpr auto kFields<FileProfile> = ARDOISE_FIELDS(FileProfile, path, opens, reads, writes, calls, bytes_read,
                                                            bytes_written, seconds, ranks, consecutive, forward,
                                                            strided, backward, read_sizes, write_sizes);
template <>
inline constexpr auto kFields<Communicator> = ARDOISE_FIELDS(Communicator, name, size, count, group_of_rank, efficiency,
                                                             least_efficient, balance_between);
template <>
inline constexpr auto kFields<Layout> = ARDOISE_FIELDS(Layout, extents, rank_of_cell, cartesian);
template <>
inline constexpr auto kFields<DensityMap> = ARDOISE_FIELDS(DensityMap, function, calls, seconds, bytes);
template <>
inline constexpr auto kFields<TemporalMap> = ARDOISE_FIELDS(TemporalMap, bin_seconds, bins, ranks_per_group, classes,
                                                            groups, share);
template <>
inline constexpr auto kFields<MemoryProfile> = ARDOISE_FIELDS(MemoryProfile, bin_seconds, bins, peak_bytes, host_bytes,
                                                              limit_bytes);
template <>
inline constexpr auto kFields<LongestWait> = ARDOISE_FIELDS(LongestWait, seconds, begin_seconds, waiter, awaited,
                                                            awaited_other);
template <>
inline constexpr auto kFields<WaitTotal> = ARDOISE_FIELDS(WaitTotal, pattern, seconds, occurrences, longest);
template <>
inline constexpr auto kFields<WaitSite> = ARDOISE_FIELDS(WaitSite, function, symbol, source_file, line, module, offset,
                                                         pattern, waiting_seconds, occurrences, longest, waiters,
                                                         first_waiter, last_waiter, awaited, awaited_other,
                                                         awaited_seconds);
template <>
inline constexpr auto kFields<WaitEdge> = ARDOISE_FIELDS(WaitEdge, waiter, awaited, seconds);
template <>
inline constexpr auto kFields<WaitCause> = ARDOISE_FIELDS(WaitCause, rank, symbol, source_file, line, kind, seconds,
                                                          error);
template <>
inline constexpr auto kFields<WaitedOther> = ARDOISE_FIELDS(WaitedOther, program, rank, seconds, cause);
template <>
inline constexpr auto kFields<PathPart> = ARDOISE_FIELDS(PathPart, kind, function, symbol, source_file, line, seconds,
                                                         error, rank, rank_seconds);
template <>
inline constexpr auto kFields<RankWaiting> = ARDOISE_FIELDS(RankWaiting, waiting_seconds, caused_seconds,
                                                            origin_seconds, critical_path_seconds,
                                                            without_processor_seconds);
template <>
inline constexpr auto kFields<UnreceivedMessages> = ARDOISE_FIELDS(UnreceivedMessages, function, symbol, source_file,
                                                                   line, module, offset, messages, source, tag);
template <>
inline constexpr auto kFields<UnresolvedCounts> = ARDOISE_FIELDS(UnresolvedCounts, folded, incomplete, beyond_memory,
                                                                 other);
template <>
inline constexpr auto kFields<UnresolvedWaiting> = ARDOISE_FIELDS(UnresolvedWaiting, collective_calls, message_ends,
                                                                  below_clock_seconds, critical_path_seconds,
                                                                  late_waits);
template <>
inline constexpr auto kFields<WaitingOverTime> = ARDOISE_FIELDS(WaitingOverTime, bin_seconds, bins, groups,
                                                                ranks_per_group, seconds);
template <>
inline constexpr auto kFields<ParallelEfficiency> = ARDOISE_FIELDS(ParallelEfficiency, load_balance, serialisation,
                                                                   transfer, parallel);
template <>
inline constexpr auto kFields<EfficiencyOverTime> = ARDOISE_FIELDS(EfficiencyOverTime, bin_seconds, load_balance,
                                                                   serialisation, transfer, parallel);
template <>
inline constexpr auto kFields<Waiting> = ARDOISE_FIELDS(Waiting, patterns, call_sites, edges, edges_between, others,
                                                        per_rank, unreceived, causes, critical_path,
                                                        critical_path_seconds, critical_path_elsewhere_seconds,
                                                        efficiency, over_time, efficiency_over_time, resolved_calls,
                                                        resolved_messages, unresolved);
template <>
inline constexpr auto kFields<RankSummary> = ARDOISE_FIELDS(RankSummary, wall_seconds, mpi_seconds, io_seconds,
                                                            cpu_seconds, waiting_seconds, process_cpu_seconds,
                                                            peak_memory_bytes, host, processors, first_processor,
                                                            host_processors);
template <>
inline constexpr auto kFields<Ledger> = ARDOISE_FIELDS(Ledger, record_class, recorded, received, dropped, lost);
template <>
inline constexpr auto kFields<Quality> = ARDOISE_FIELDS(Quality, ledger, packs, pack_bytes, bad_packs, blocked_seconds,
                                                        ranks_complete, analyzers_lost, record_cost_seconds,
                                                        overhead_seconds, recording_seconds, sending_seconds,
                                                        sampling_seconds, clock, clock_error_seconds,
                                                        unresolved_call_sites, notices);
template <>
inline constexpr auto kFields<StackPlace> = ARDOISE_FIELDS(StackPlace, symbol, source_file, line, module, offset);
template <>
inline constexpr auto kFields<LastCall> = ARDOISE_FIELDS(LastCall, function, place, peer, tag, communicator, file,
                                                         bytes, begin_seconds, seconds);
template <>
inline constexpr auto kFields<RankEnd> = ARDOISE_FIELDS(RankEnd, cause, signal, status, seconds, has_address, address,
                                                        sender, ranks, call, stack, last_calls);
template <>
inline constexpr auto kFields<Stand> = ARDOISE_FIELDS(Stand, ranks, call, after, least_seconds, most_seconds, waits_for,
                                                      stack);
template <>
inline constexpr auto kFields<Ending> = ARDOISE_FIELDS(Ending, ends, stands, moment_seconds, memory_kills);
template <>
inline constexpr auto kFields<SnapshotCalls> = ARDOISE_FIELDS(SnapshotCalls, function, symbol, source_file, line,
                                                              module, offset, calls, bytes, seconds, waiting_seconds);
template <>
inline constexpr auto kFields<SnapshotFunction> = ARDOISE_FIELDS(SnapshotFunction, symbol, source_file, line, seconds);
template <>
inline constexpr auto kFields<SnapshotValue> = ARDOISE_FIELDS(SnapshotValue, name, count, sum, least, most);
template <>
inline constexpr auto kFields<SnapshotCounter> = ARDOISE_FIELDS(SnapshotCounter, name, counts);
template <>
inline constexpr auto kFields<SnapshotSeries> = ARDOISE_FIELDS(SnapshotSeries, trigger, name, function, symbol,
                                                               source_file, line, rounds, interval_seconds, numbers,
                                                               ranks, call_sites, regular, begin_seconds, seconds,
                                                               longest_seconds, mpi_seconds, io_seconds,
                                                               waiting_seconds, groups, ranks_per_group, own_seconds,
                                                               group_waiting_seconds, group_bytes, group_calls,
                                                               group_io_seconds, calls, functions, values, counters);
template <>
inline constexpr auto kFields<Snapshots> = ARDOISE_FIELDS(Snapshots, series, ranks_with_gaps, ranks_with_sums,
                                                          unfinished_phases, unbegun_phases, further_marks,
                                                          marks_of_other_threads);
template <>
inline constexpr auto kFields<Application> = ARDOISE_FIELDS(Application, name, command, working_directory, partition,
                                                            first_rank, world_ranks, ranks, threads, thread_level,
                                                            hosts, wall_seconds, init_seconds, start_seconds, mpi,
                                                            posix, call_sites, edges, edges_between, files,
                                                            communicators, layout, density, temporal, per_rank, memory,
                                                            waiting, snapshots, samples, ending, quality, extensions);
template <>
inline constexpr auto kFields<RunSetting> = ARDOISE_FIELDS(RunSetting, name, value, set_by);
template <>
inline constexpr auto kFields<Run> = ARDOISE_FIELDS(Run, schema_version, tool_version, started, command, settings,
                                                    universe_ranks, analyzer_ranks, analyzer_workers, analysis_seconds,
                                                    ended_by, running, notices, applications);

// The sampled profile.
template <>
inline constexpr auto kFields<SampledFunction> = ARDOISE_FIELDS(SampledFunction, symbol, kind, source_file, line,
                                                                module, optimization, samples, self, self_error, total,
                                                                total_error, rank_min, rank_mean, rank_max, max_rank,
                                                                calls, call_seconds, counters);
template <>
inline constexpr auto kFields<SampledLine> = ARDOISE_FIELDS(SampledLine, function, source_file, line, samples, self,
                                                            self_error);
template <>
inline constexpr auto kFields<CallTree> = ARDOISE_FIELDS(CallTree, parent, function, samples, self, calls, call_seconds,
                                                         bytes_sent, bytes_received);
template <>
inline constexpr auto kFields<RankSamples> = ARDOISE_FIELDS(RankSamples, functions, self, all, uneven, total);
template <>
inline constexpr auto kFields<RankCluster> = ARDOISE_FIELDS(RankCluster, ranks, leader, mean_share);
template <>
inline constexpr auto kFields<SampleTimeline> = ARDOISE_FIELDS(SampleTimeline, bin_seconds, bins, rank_step, functions,
                                                               self, all);
template <>
inline constexpr auto kFields<RateChange> = ARDOISE_FIELDS(RateChange, rank, thread, seconds, hertz, cause,
                                                           lowest_level, free_bins);
template <>
inline constexpr auto kFields<SampledThreads> = ARDOISE_FIELDS(SampledThreads, rank, thread, taken, stored, discarded,
                                                               partial, inside_tool, cost_seconds, wall_seconds, self,
                                                               in_calls);
template <>
inline constexpr auto kFields<ParallelRegions> = ARDOISE_FIELDS(ParallelRegions, functions, total);
template <>
inline constexpr auto kFields<SampleProfile> = ARDOISE_FIELDS(SampleProfile, unit, clock, counters, samples, self,
                                                              kernel, at_shared_ticks, confidence, unknown_contexts,
                                                              functions, lines, tree, per_rank, clusters,
                                                              cluster_of_rank, cluster_distance, timeline, rate_changes,
                                                              rate_changes_left_out, threads, regions);

template <class T>
inline constexpr bool kIsStruct = std::tuple_size_v<std::remove_cvref_t<decltype(kFields<T>)>> != 0;

// Frequent structs, written on one line each.
template <class T, class... Others>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Others> || ...);
template <class T>
inline constexpr bool kOneLine =
    kIsOneOf<T, FunctionProfile, CallSite, Edge, FileProfile, Communicator, Ledger, RunSetting, SampledFunction,
             SampledLine, RankCluster, RateChange, LastCall, StackPlace>;

}  // namespace ardoise::reports
