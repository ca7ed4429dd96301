// All commands of ardoise and their options. The check of a first word, the command lines (command_line.hpp), --help,
// the manual page and the tables in docs/reference/ardoise.md follow from the rows; tests fail if a page differs.
// ardoise.cpp runs the commands.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "instrument/settings/option_table.hpp"

namespace ardoise::launcher {

struct Command {
  std::string_view name;
  std::string_view words;     // arguments: "PATH TABLE"; in brackets: optional
  std::string_view help;      // a line
  std::string_view details;   // of the command's own --help: lines on the arguments
  std::string_view statuses;  // besides 0, and 2 for a wrong command line
  std::span<const instrument::Option> options{};  // an option without a default is required
};

// clang-format off
namespace command_options {
using instrument::Option;
using instrument::option;
using enum instrument::OptionKind;

// Common to several commands.
inline constexpr Option
    kRanks{"ranks", kRanges, "0-3,8", "", "all", 0, 0, 0, "only these ranks of MPI_COMM_WORLD"},
    kProgram{"program", kText, "NAME", "", "all", 0, 0, 0, "only this program of the launch"},
    kCsv{"csv", kFlag, "", "off", "", 0, 0, 0, "print raw numbers with commas; columns name units"};

inline constexpr Option kControl[]{kRanks, kProgram,
    {"wait", kDuration, "DURATION", "10s", "", 0, 36e6, 0, "longest wait for the answers of the ranks"}};
inline constexpr Option kReport[]{
    {"output", kFolder, "DIR", "", "that of the profile; trace-report, capture-report", 0, 0, 0,
     "folder of the report", {}, 'o'},
    *option("report"), *option("no-report"), *option("quiet"), *option("plugin"), *option("snapshot-when"),
    *option("snapshot-every"), *option("trace")};
inline constexpr Option kShow[]{kRanks, kProgram,
    {"sort", kText, "COLUMN", "", "time; of edges: bytes", 0, 0, 0, "sort by this column, as --csv names it"},
    kCsv, {"limit", kCount, "N", "", "all", 0, 1e9, 0, "print this many rows at most"}};
inline constexpr Option kExport[]{
    {"format", kChoice, "folded|speedscope|csv|perfetto|otf2", "", "", 0, 0, 0, "what is written"},
    kProgram,
    {"table", kChoice, "events|messages|calls", "", "none", 0, 0, 0, "of --format csv: the rows"},
    {"trace", kText, "SELECTION", "all", "", 0, 0, 0, "of --format otf2: what goes into the trace (docs/guide/traces.md)"},
    {"output", kText, "PATH", "", "standard output", 0, 0, 0, "file to write; of --format otf2: folder", {}, 'o'}};
inline constexpr Option kSnapshots[]{kRanks, kProgram,
    {"trigger", kChoice, "snapshot|phase|pcontrol|condition|timer|iteration", "", "all", 0, 0, 0, "only these"},
    {"name", kText, "NAME", "", "all", 0, 0, 0, "only those of this name"},
    {"from", kCount, "N", "", "all", 0, 0x1p53, 0, "only those with this number or a greater one"},
    {"to", kCount, "N", "", "all", 0, 0x1p53, 0, "only those with this number or a smaller one"},
    {"cumulative", kFlag, "", "off", "", 0, 0, 0, "each, calls: of all snapshots up to this one"},
    kCsv, {"output", kText, "PATH", "", "none", 0, 0, 0, "merge, extract: file; tau: folder", {}, 'o'}};
inline constexpr Option kTrace[]{kCsv};
}  // namespace command_options

inline constexpr auto kCommands = std::to_array<Command>({
    {"status", "[FOLDER]", "prints where the ranks of a running launch are, and results so far",
     "FOLDER: of the launch's report [the last launch here, else yours on this host]\n",
     "1: no launch is found; 3: its analyzers do not answer"},
    {"control", "[FOLDER] [NAME=VALUE...]", "changes settings of a running launch, or prints the changes so far",
     "FOLDER: of the launch's report [the last launch here, else yours on this host]\n"
     "NAME:   rate, period, sample-share, record, flush-every: ardoise --help-expert;\n"
     "        NAME=launch: as the launch began; snapshot=NAME takes a snapshot\n",
     "1: not done on all ranks", command_options::kControl},
    {"report", "PATH...", "makes the report of a profile, a trace in OTF2 or captured packs",
     "PATH: profile.json or its folder, also of a launch that was killed or still\n"
     "      runs; traces.otf2 or its folder; files of --capture or their folders.\n"
     "--plugin, --snapshot-when, --snapshot-every and --trace are for traces and\n"
     "captured packs.\n",
     "1: it could not be made, or not in full", command_options::kReport},
    {"show", "PATH TABLE", "prints a table of a profile, whole",
     "PATH:  profile.json or its folder\n"
     "TABLE: calls, sites, waits (where ranks wait), causes (what awaited ranks do\n"
     "       longer), path (critical path), edges, functions, files, snapshots,\n"
     "       snapshot-calls, snapshot-ranks\n"
     "--ranks is for causes, edges, functions, snapshot-ranks.\n",
     "1: the profile cannot be read", command_options::kShow},
    {"export", "PATH...", "writes call stacks of a profile, or a trace, for other tools",
     "folded, speedscope: stacks of a profile, for flamegraph.pl (us), speedscope.app\n"
     "csv, perfetto:      a trace in OTF2, as data frames or for ui.perfetto.dev\n"
     "otf2:               captured packs, as a trace with a profile\n",
     "1: it cannot be read or written", command_options::kExport},
    {"snapshots", "ACTION PATH...", "reads files of snapshots, which a run with --snapshot-every writes",
     "PATH: files of one run, or folders with them. ACTION:\n"
     "  list      the series: what took snapshots, how many, from when to when\n"
     "  each      the snapshots, over all ranks\n"
     "  calls     the calls and functions of each snapshot of each rank\n"
     "  values    values that the program passed to ardoise_value(), likewise\n"
     "  counters  events counted with samples (--counters), likewise\n"
     "  profile   the calls and functions of all chosen snapshots together\n"
     "  stacks    their sampled call stacks, folded, in us: flamegraph.pl, speedscope\n"
     "  merge     all files as one, --output\n"
     "  extract   the chosen snapshots as a file, --output\n"
     "  tau       a profile of TAU for each rank, snapshot.RANK.0.0 in the folder\n"
     "            --output, for ParaProf\n",
     "1: it cannot be read or written", command_options::kSnapshots},
    {"trace", "ACTION PATH", "examines a trace in OTF2, whoever wrote it",
     "PATH: traces.otf2, its folder, or the folder of a report. ACTION:\n"
     "  info      what the trace holds\n"
     "  check     what is wrong in it\n"
     "  races     which receives could have had another message; the trace needs\n"
     "            attributes=arguments\n",
     "1: unreadable or no arguments for races; 3: a fault or race is found",
     command_options::kTrace},
    {"explain", "[CODE...]", "says how a loss is seen, why it costs time, and how to avoid it",
     "CODE: of a finding, as late.static [a list of all codes]\n", "1: it cannot be written"},
});
// clang-format on

}  // namespace ardoise::launcher
