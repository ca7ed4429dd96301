// The schema of profile.json, once: which member of the model has which key. json_writer and json_reader both walk
// these tables, so that what is written is what is read. docs/profile_schema.md explains the meaning of each key.
// To add a field: a member in model.hpp, a line here, a line in the documentation. Keys are never renamed or
// retyped within one schema version; unknown keys are skipped by readers.
#pragma once

#include "reports/field.hpp"
#include "reports/model.hpp"
#include "reports/sample_fields.hpp"

namespace ardoise::reports {

template <>
inline constexpr auto kFields<FunctionProfile> = std::tuple{Field{"function", &FunctionProfile::function},
                                                            Field{"category", &FunctionProfile::category},
                                                            Field{"calls", &FunctionProfile::calls},
                                                            Field{"seconds", &FunctionProfile::seconds},
                                                            Field{"bytes", &FunctionProfile::bytes},
                                                            Field{"bytes_sent", &FunctionProfile::bytes_sent},
                                                            Field{"bytes_received", &FunctionProfile::bytes_received},
                                                            Field{"min_seconds", &FunctionProfile::min_seconds},
                                                            Field{"mean_seconds", &FunctionProfile::mean_seconds},
                                                            Field{"max_seconds", &FunctionProfile::max_seconds},
                                                            Field{"calls_by_size", &FunctionProfile::sizes}};
template <>
inline constexpr bool kOneLine<FunctionProfile> = true;

template <>
inline constexpr auto kFields<CallSite> = std::tuple{Field{"function", &CallSite::function},
                                                     Field{"symbol", &CallSite::symbol},
                                                     Field{"source_file", &CallSite::source_file},
                                                     Field{"line", &CallSite::line},
                                                     Field{"module", &CallSite::module},
                                                     Field{"offset", &CallSite::offset},
                                                     Field{"calls", &CallSite::calls},
                                                     Field{"seconds", &CallSite::seconds},
                                                     Field{"bytes", &CallSite::bytes},
                                                     Field{"min_seconds", &CallSite::min_seconds},
                                                     Field{"mean_seconds", &CallSite::mean_seconds},
                                                     Field{"max_seconds", &CallSite::max_seconds},
                                                     Field{"ranks", &CallSite::ranks}};
template <>
inline constexpr bool kOneLine<CallSite> = true;

template <>
inline constexpr auto kFields<Edge> =
    std::tuple{Field{"source", &Edge::source}, Field{"target", &Edge::target}, Field{"messages", &Edge::messages},
               Field{"bytes", &Edge::bytes}, Field{"seconds", &Edge::seconds}};
template <>
inline constexpr bool kOneLine<Edge> = true;

template <>
inline constexpr auto kFields<FileProfile> = std::tuple{Field{"path", &FileProfile::path},
                                                        Field{"opens", &FileProfile::opens},
                                                        Field{"reads", &FileProfile::reads},
                                                        Field{"writes", &FileProfile::writes},
                                                        Field{"calls", &FileProfile::calls},
                                                        Field{"bytes_read", &FileProfile::bytes_read},
                                                        Field{"bytes_written", &FileProfile::bytes_written},
                                                        Field{"seconds", &FileProfile::seconds},
                                                        Field{"ranks", &FileProfile::ranks}};
template <>
inline constexpr bool kOneLine<FileProfile> = true;

template <>
inline constexpr auto kFields<Communicator> = std::tuple{
    Field{"name", &Communicator::name}, Field{"size", &Communicator::size}, Field{"count", &Communicator::count}};
template <>
inline constexpr bool kOneLine<Communicator> = true;

template <>
inline constexpr auto kFields<Layout> =
    std::tuple{Field{"extents", &Layout::extents}, Field{"rank_of_cell", &Layout::rank_of_cell},
               Field{"cartesian", &Layout::cartesian}};

template <>
inline constexpr auto kFields<DensityMap> =
    std::tuple{Field{"function", &DensityMap::function}, Field{"calls", &DensityMap::calls},
               Field{"seconds", &DensityMap::seconds}, Field{"bytes", &DensityMap::bytes}};

template <>
inline constexpr auto kFields<TemporalMap> = std::tuple{Field{"bin_seconds", &TemporalMap::bin_seconds},
                                                        Field{"bins", &TemporalMap::bins},
                                                        Field{"ranks_per_group", &TemporalMap::ranks_per_group},
                                                        Field{"classes", &TemporalMap::classes},
                                                        Field{"groups", &TemporalMap::groups},
                                                        Field{"share", &TemporalMap::share}};

template <>
inline constexpr auto kFields<RankSummary> =
    std::tuple{Field{"wall_seconds", &RankSummary::wall_seconds}, Field{"mpi_seconds", &RankSummary::mpi_seconds},
               Field{"io_seconds", &RankSummary::io_seconds}, Field{"host", &RankSummary::host}};

template <>
inline constexpr auto kFields<Ledger> =
    std::tuple{Field{"record_class", &Ledger::record_class}, Field{"recorded", &Ledger::recorded},
               Field{"received", &Ledger::received}, Field{"dropped", &Ledger::dropped}, Field{"lost", &Ledger::lost}};
template <>
inline constexpr bool kOneLine<Ledger> = true;

template <>
inline constexpr auto kFields<Quality> = std::tuple{Field{"ledger", &Quality::ledger},
                                                    Field{"packs", &Quality::packs},
                                                    Field{"pack_bytes", &Quality::pack_bytes},
                                                    Field{"bad_packs", &Quality::bad_packs},
                                                    Field{"blocked_seconds", &Quality::blocked_seconds},
                                                    Field{"ranks_complete", &Quality::ranks_complete},
                                                    Field{"record_cost_seconds", &Quality::record_cost_seconds},
                                                    Field{"overhead_seconds", &Quality::overhead_seconds},
                                                    Field{"clock", &Quality::clock},
                                                    Field{"clock_error_seconds", &Quality::clock_error_seconds},
                                                    Field{"unresolved_call_sites", &Quality::unresolved_call_sites},
                                                    Field{"notices", &Quality::notices}};

template <>
inline constexpr auto kFields<Application> = std::tuple{Field{"name", &Application::name},
                                                        Field{"command", &Application::command},
                                                        Field{"working_directory", &Application::working_directory},
                                                        Field{"partition", &Application::partition},
                                                        Field{"ranks", &Application::ranks},
                                                        Field{"threads", &Application::threads},
                                                        Field{"thread_level", &Application::thread_level},
                                                        Field{"hosts", &Application::hosts},
                                                        Field{"wall_seconds", &Application::wall_seconds},
                                                        Field{"init_seconds", &Application::init_seconds},
                                                        Field{"start_seconds", &Application::start_seconds},
                                                        Field{"mpi", &Application::mpi},
                                                        Field{"posix", &Application::posix},
                                                        Field{"call_sites", &Application::call_sites},
                                                        Field{"edges", &Application::edges},
                                                        Field{"files", &Application::files},
                                                        Field{"communicators", &Application::communicators},
                                                        Field{"layout", &Application::layout},
                                                        Field{"density", &Application::density},
                                                        Field{"temporal", &Application::temporal},
                                                        Field{"per_rank", &Application::per_rank},
                                                        Field{"samples", &Application::samples},
                                                        Field{"quality", &Application::quality},
                                                        Field{"extensions", &Application::extensions}};

template <>
inline constexpr auto kFields<RunSetting> = std::tuple{
    Field{"name", &RunSetting::name}, Field{"value", &RunSetting::value}, Field{"set_by", &RunSetting::set_by}};
template <>
inline constexpr bool kOneLine<RunSetting> = true;

template <>
inline constexpr auto kFields<Run> = std::tuple{Field{"schema_version", &Run::schema_version},
                                                Field{"tool_version", &Run::tool_version},
                                                Field{"started", &Run::started},
                                                Field{"command", &Run::command},
                                                Field{"settings", &Run::settings},
                                                Field{"universe_ranks", &Run::universe_ranks},
                                                Field{"analyzer_ranks", &Run::analyzer_ranks},
                                                Field{"analyzer_workers", &Run::analyzer_workers},
                                                Field{"analysis_seconds", &Run::analysis_seconds},
                                                Field{"notices", &Run::notices},
                                                Field{"applications", &Run::applications}};

}  // namespace ardoise::reports
