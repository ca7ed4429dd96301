// The keys of the sampled profile in profile.json; see model_fields.hpp, which includes this.
#pragma once

#include "reports/field.hpp"
#include "reports/sample_profile.hpp"

namespace ardoise::reports {

template <>
inline constexpr auto kFields<SampledFunction> = std::tuple{Field{"symbol", &SampledFunction::symbol},
                                                            Field{"kind", &SampledFunction::kind},
                                                            Field{"source_file", &SampledFunction::source_file},
                                                            Field{"line", &SampledFunction::line},
                                                            Field{"module", &SampledFunction::module},
                                                            Field{"samples", &SampledFunction::samples},
                                                            Field{"self", &SampledFunction::self},
                                                            Field{"self_error", &SampledFunction::self_error},
                                                            Field{"total", &SampledFunction::total},
                                                            Field{"total_error", &SampledFunction::total_error},
                                                            Field{"rank_min", &SampledFunction::rank_min},
                                                            Field{"rank_mean", &SampledFunction::rank_mean},
                                                            Field{"rank_max", &SampledFunction::rank_max},
                                                            Field{"max_rank", &SampledFunction::max_rank},
                                                            Field{"calls", &SampledFunction::calls},
                                                            Field{"call_seconds", &SampledFunction::call_seconds},
                                                            Field{"counters", &SampledFunction::counters}};
template <>
inline constexpr bool kOneLine<SampledFunction> = true;

template <>
inline constexpr auto kFields<SampledLine> =
    std::tuple{Field{"function", &SampledLine::function}, Field{"source_file", &SampledLine::source_file},
               Field{"line", &SampledLine::line},         Field{"samples", &SampledLine::samples},
               Field{"self", &SampledLine::self},         Field{"self_error", &SampledLine::self_error}};
template <>
inline constexpr bool kOneLine<SampledLine> = true;

template <>
inline constexpr auto kFields<CallTree> =
    std::tuple{Field{"parent", &CallTree::parent},         Field{"function", &CallTree::function},
               Field{"samples", &CallTree::samples},       Field{"self", &CallTree::self},
               Field{"calls", &CallTree::calls},           Field{"call_seconds", &CallTree::call_seconds},
               Field{"bytes_sent", &CallTree::bytes_sent}, Field{"bytes_received", &CallTree::bytes_received}};

template <>
inline constexpr auto kFields<RankSamples> = std::tuple{
    Field{"functions", &RankSamples::functions}, Field{"self", &RankSamples::self}, Field{"all", &RankSamples::all}};

template <>
inline constexpr auto kFields<RankCluster> =
    std::tuple{Field{"ranks", &RankCluster::ranks}, Field{"leader", &RankCluster::leader},
               Field{"mean_share", &RankCluster::mean_share}};
template <>
inline constexpr bool kOneLine<RankCluster> = true;

template <>
inline constexpr auto kFields<SampleTimeline> = std::tuple{Field{"bin_seconds", &SampleTimeline::bin_seconds},
                                                           Field{"bins", &SampleTimeline::bins},
                                                           Field{"rank_step", &SampleTimeline::rank_step},
                                                           Field{"functions", &SampleTimeline::functions},
                                                           Field{"self", &SampleTimeline::self},
                                                           Field{"all", &SampleTimeline::all}};

template <>
inline constexpr auto kFields<RateChange> =
    std::tuple{Field{"rank", &RateChange::rank},          Field{"thread", &RateChange::thread},
               Field{"seconds", &RateChange::seconds},    Field{"hertz", &RateChange::hertz},
               Field{"cause", &RateChange::cause},        Field{"lowest_level", &RateChange::lowest_level},
               Field{"free_bins", &RateChange::free_bins}};
template <>
inline constexpr bool kOneLine<RateChange> = true;

template <>
inline constexpr auto kFields<SampledThreads> = std::tuple{Field{"rank", &SampledThreads::rank},
                                                           Field{"thread", &SampledThreads::thread},
                                                           Field{"taken", &SampledThreads::taken},
                                                           Field{"stored", &SampledThreads::stored},
                                                           Field{"discarded", &SampledThreads::discarded},
                                                           Field{"partial", &SampledThreads::partial},
                                                           Field{"inside_tool", &SampledThreads::inside_tool},
                                                           Field{"cost_seconds", &SampledThreads::cost_seconds},
                                                           Field{"wall_seconds", &SampledThreads::wall_seconds},
                                                           Field{"self", &SampledThreads::self}};

template <>
inline constexpr auto kFields<SampleProfile> =
    std::tuple{Field{"unit", &SampleProfile::unit},
               Field{"clock", &SampleProfile::clock},
               Field{"counters", &SampleProfile::counters},
               Field{"samples", &SampleProfile::samples},
               Field{"self", &SampleProfile::self},
               Field{"kernel", &SampleProfile::kernel},
               Field{"at_shared_ticks", &SampleProfile::at_shared_ticks},
               Field{"confidence", &SampleProfile::confidence},
               Field{"unknown_contexts", &SampleProfile::unknown_contexts},
               Field{"functions", &SampleProfile::functions},
               Field{"lines", &SampleProfile::lines},
               Field{"tree", &SampleProfile::tree},
               Field{"per_rank", &SampleProfile::per_rank},
               Field{"clusters", &SampleProfile::clusters},
               Field{"cluster_of_rank", &SampleProfile::cluster_of_rank},
               Field{"cluster_distance", &SampleProfile::cluster_distance},
               Field{"timeline", &SampleProfile::timeline},
               Field{"rate_changes", &SampleProfile::rate_changes},
               Field{"rate_changes_left_out", &SampleProfile::rate_changes_left_out},
               Field{"threads", &SampleProfile::threads}};

}  // namespace ardoise::reports
