// All options of launches, in the order of --help. To add one: a row here, and what reads its value. Tests say when the
// tables in docs/reference/ardoise.md and the manual pages have to follow, and print them.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "instrument/settings/option.hpp"

namespace ardoise::instrument {

// clang-format off
inline constexpr std::array<std::pair<OptionGroup, std::string_view>, 6> kGroups{{
    {OptionGroup::kOutput, "Output"},
    {OptionGroup::kMeasured, "What is measured"},
    {OptionGroup::kLimits, "Limits, and changes during the run"},
    {OptionGroup::kRaces, "Races and replay"},
    {OptionGroup::kTraces, "Traces"},
    {OptionGroup::kTuning, "Tuning"},
}};

inline constexpr auto kOptions = [] {
  using enum OptionKind;
  using enum OptionGroup;
  return std::to_array<Option>({
    // name, kind, value, initial, default_words, least, most, flags,
    // help, group, letter
    {"output", kFolder, "DIR", "ardoise-report", "", 0, 0, kForLauncher | kForAnalyzer,
     "report folder; DIR-2 ... if it has files", kOutput, 'o'},
    {"no-report", kFlag, "", "off", "", 0, 0, kForLauncher | kForAnalyzer,
     "write profile.json and summary.txt, no PDF", kOutput},
    {"report", kChoice, "short|full", "full", "", 0, 0, kForLauncher | kForAnalyzer,
     "short: first page, overviews and main tables", kOutput},
    {"no-command", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "keep only names of programs, no command lines", kOutput},
    {"quiet", kFlag, "", "off", "", 0, 0, kForLauncher | kForAnalyzer,
     "print neither the summary nor the report's path", kOutput},
    {"verbose", kFlag, "", "off", "", 0, 0, kForLauncher,
     "print the launch line that is run", kOutput},
    {"separate", kFlag, "", "off", "", 0, 0, kForLauncher,
     "give each program its own MPI_COMM_WORLD", kMeasured},
    {"partition", kText, "NAME=CONTEXT,...", "", "none", 0, 0, kForLauncher | kRepeats,
     "programs sharing an MPI_COMM_WORLD; repeatable", kMeasured},
    {"sample", kSample, "cpu|off|EVENT", "cpu", "", 0, 0, kForProgram,
     "sample stacks by CPU time, or e.g. page-faults", kMeasured},
    {"rate", kNumber, "HZ", "10000", "", 0.1, 100'000, kForProgram | kMayChange,
     "samples per second of CPU time, at full rate", kMeasured},
    {"counters", kCounters, "EVENT,...", "", "none", 0, 0, kForProgram,
     "count up to 8 events per sample: cycles,instructions", kMeasured},
    {"record", kRecord, "events|sums[:NAMES]", "events", "", 0, 0, kForProgram | kMayChange,
     "sums: of these functions or all, no waiting or iterations", kMeasured},
    {"arguments", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "record all MPI arguments; costs memory and time", kMeasured},
    {"call-stacks", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "record the stack of MPI and I/O calls; needs --sample", kMeasured},
    {"snapshot-every", kDuration, "DURATION", "", "no file", 0.001, 36e6, kForAnalyzer,
     "snapshot each rank into snapshots-N.ards", kMeasured},
    {"snapshot-when", kText, "CONDITION", "", "none", 0, 0, kForLauncher | kForAnalyzer | kRepeats,
     "snapshot a rank at \"bytes(write) > 1 GB since last\"", kMeasured},
    {"time-limit", kDuration, "DURATION", "", "none", 1, 36e6, kForLauncher,
     "end programs and report after this; exit status 124", kLimits},
    {"hang", kDuration, "DURATION", "60s", "", 0, 1e6, kForProgram | kForAnalyzer,
     "report a hang if MPI makes no progress; 0: never", kLimits},
    {"save-every", kDuration, "DURATION", "", "never", 1, 36e6, kForAnalyzer,
     "save profile.json and summary.txt this often", kLimits},
    {"rules", kText, "FILE", "", "none", 0, 0, kForLauncher | kForAnalyzer,
     "file of rules that change settings during the run", kLimits},
    {"disable", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "run unmeasured; the variable disables a preload, too", kLimits},
    {"record-races", kFolder, "DIR", "", "none", 0, 0, kForLauncher | kForProgram,
     "record outcomes of nondeterministic MPI calls here", kRaces},
    {"replay-races", kFolder, "DIR", "", "none", 0, 0, kForLauncher | kForProgram,
     "rerun with the outcomes that --record-races recorded", kRaces},
    {"replay-divergence", kChoice, "continue|stop", "continue", "", 0, 0, kForProgram,
     "when it diverges from the record", kRaces},
    {"trace", kText, "SELECTION", "", "none", 0, 0, kForLauncher | kForAnalyzer,
     "OTF2 trace: all, or \"ranks=0-3,functions=io,from=10s\"", kTraces},
    {"analyzers", kCount, "N", "", "one for every 32 ranks", 1, 100'000, kForLauncher,
     "analyzer processes", kTuning},
    {"workers", kCount, "N", "", "free cores, 1 to 8", 1, 4096, kForAnalyzer,
     "worker threads of each analyzer", kTuning},
    {"memory", kSize, "SIZE", "256M", "", 0x1p20, 0x1p46, kForAnalyzer,
     "event packs that each analyzer holds; beyond it the programs' buffers fill", kTuning},
    {"plugin", kText, "FILE", "", "none", 0, 0, kForLauncher | kForAnalyzer | kRepeats,
     "load this knowledge source; repeatable", kTuning},
    {"sample-share", kNumber, "X", "0.01", "", 0, 0.5, kForProgram | kMayChange,
     "share of thread time for sampling; 0: no limit", kTuning},
    {"period", kCount, "N", "", "by the event", 1, 1e15, kForProgram | kMayChange,
     "occurrences per sample, at full rate", kTuning},
    {"perf", kSwitch, "on|off", "on", "", 0, 0, kForProgram,
     "off: POSIX timers in place of perf_event_open", kTuning},
    {"budget", kSize, "SIZE", "16M", "", 0, 0x1p36, kForProgram,
     "event buffer per process, at least 8 times --bin", kTuning},
    {"policy", kChoice, "adapt|block", "adapt", "", 0, 0, kForProgram,
     "full event buffer: record less, or block", kTuning},
    {"mpi-share", kNumber, "X", "0.5", "", 0, 1, kForProgram,
     "share of event buffer for MPI, likewise for I/O", kTuning},
    // A pack holds the totals of all functions (some 21 KiB), and its length fits 32 bits.
    {"bin", kSize, "SIZE", "64k", "", 0x1p15, 0x1p26, kForProgram | kForAnalyzer,
     "size of an event pack; equal in all processes", kTuning},
    {"flush-every", kDuration, "DURATION", "1s", "", 0.001, 36e6, kForProgram | kMayChange,
     "age at which calls send a partly filled pack", kTuning},
    {"finalize-timeout", kDuration, "DURATION", "5s", "", 0, 36e6, kForProgram,
     "longest wait of MPI_Finalize for an analyzer that takes no events; 0: forever", kTuning},
    {"capture", kFolder, "DIR", "", "none", 0, 0, kForLauncher | kForProgram,
     "copy of all event packs, for ardoise report and export", kTuning},
  });
}();
// clang-format on

// The row of an option. A name that is not in the table does not compile.
consteval const Option* option(std::string_view name) {
  for (const Option& row : kOptions) {
    if (row.name == name) return &row;
  }
  throw "no such option";
}

}  // namespace ardoise::instrument
