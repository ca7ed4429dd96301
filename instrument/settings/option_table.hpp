// All options, in the order of --help. To add one: a row here, and what reads its value. Tests say when the tables in
// docs/reference/ardoise.md and the manual pages have to follow, and print them.
#pragma once

#include <array>

#include "instrument/settings/option.hpp"

namespace ardoise::instrument {

// clang-format off
inline constexpr auto kOptions = [] {
  using enum OptionKind;
  return std::to_array<Option>({
    // name, kind, value, initial, default_words, least, most, flags,
    // help, letter
    {"analyzers", kCount, "N", "", "one for every 32 ranks", 1, 100'000, kForLauncher,
     "analyzer processes"},
    {"workers", kCount, "N", "", "the cores that the programs leave over, 1 to 8", 1, 4096, kForAnalyzer,
     "worker threads of each analyzer"},
    {"memory", kSize, "SIZE", "256M", "", 0x1p20, 0x1p46, kForAnalyzer,
     "event packs that each analyzer holds at a time; beyond it the programs' buffers fill"},
    {"output", kFolder, "DIR", "ardoise-report", "", 0, 0, kForLauncher | kForAnalyzer,
     "folder of the report; if it has files, ardoise takes DIR-2, DIR-3 ...", 'o'},
    {"no-report", kFlag, "", "off", "", 0, 0, kForLauncher | kForAnalyzer,
     "write profile.json and summary.txt, no PDF (ardoise report renders later)"},
    {"report", kChoice, "short|full", "full", "", 0, 0, kForLauncher,
     "short: the first page, the overviews and the main tables"},
    {"plugin", kText, "FILE", "", "none", 0, 0, kForLauncher | kForAnalyzer | kRepeats,
     "load this knowledge source; repeatable"},
    {"snapshot-when", kText, "CONDITION", "", "none", 0, 0, kForLauncher | kForAnalyzer | kRepeats,
     "snapshot a rank when this becomes true, e.g. \"bytes(write) > 1 GB since last\"; repeatable (docs/guide/marks.md)"},
    {"snapshot-every", kDuration, "DURATION", "", "no file", 0.001, 36e6, kForAnalyzer,
     "write each rank's snapshots, one per interval and all others, to snapshots-N.ards (docs/guide/snapshots.md)"},
    {"trace", kText, "SELECTION", "", "none", 0, 0, kForLauncher | kForAnalyzer,
     "write an OTF2 trace: all, or e.g. \"ranks=0-3,functions=MPI_Send,io,from=10s\" (docs/guide/traces.md)"},
    {"rules", kText, "FILE", "", "none", 0, 0, kForLauncher | kForAnalyzer,
     "file of rules that change settings during the run (docs/reference/ardoise.md)"},
    {"separate", kFlag, "", "off", "", 0, 0, kForLauncher,
     "give each program of the launch line its own MPI_COMM_WORLD"},
    {"partition", kText, "NAME=CONTEXT[,CONTEXT...]", "", "see --separate", 0, 0, kForLauncher | kRepeats,
     "programs, by number or name, that share an MPI_COMM_WORLD; others have their own; repeatable"},
    {"time-limit", kDuration, "DURATION", "", "none", 1, 36e6, kForLauncher,
     "end the programs after this time and report; exit status 124"},
    {"hang", kDuration, "DURATION", "60", "", 0, 1e6, kForProgram | kForAnalyzer,
     "report a hang after this time without progress in MPI; 0: never"},
    {"save-every", kDuration, "DURATION", "", "never", 1, 36e6, kForAnalyzer,
     "save profile.json and summary.txt this often during the run"},
    {"sample", kSample, "cpu|off|EVENT", "cpu", "", 0, 0, kForProgram,
     "sample call stacks by CPU time or by an event, e.g. page-faults"},
    {"rate", kNumber, "HZ", "10000", "", 0.1, 100'000, kForProgram | kMayChange,
     "samples per second of CPU time, at full rate"},
    {"period", kCount, "N", "", "by the event", 1, 1e15, kForProgram | kMayChange,
     "occurrences of the sampled event per sample, at full rate"},
    {"sample-share", kNumber, "X", "0.01", "", 0, 0.5, kForProgram | kMayChange,
     "share of a thread's time that sampling may cost; 0: no limit"},
    {"counters", kCounters, "EVENT,...", "", "none", 0, 0, kForProgram,
     "events to count with each sample, e.g. cycles,instructions; up to 8"},
    {"perf", kSwitch, "on|off", "on", "", 0, 0, kForProgram,
     "off: sample with POSIX timers, without perf_event_open"},
    {"budget", kSize, "SIZE", "16M", "", 0, 0x1p36, kForProgram,
     "event buffer of each process, at least 8 times --bin"},
    {"policy", kChoice, "adapt|block", "adapt", "", 0, 0, kForProgram,
     "when the event buffer is full: record less, or block the program"},
    {"record", kRecord, "events|sums|sums:FUNCTION,...", "events", "", 0, 0, kForProgram | kMayChange,
     "sums: keep only sums of all calls or these functions, no waiting or iterations"},
    {"arguments", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "record all arguments of MPI calls; costs memory and time"},
    {"call-stacks", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "record the call stack of each MPI and I/O call; needs --sample"},
    {"mpi-share", kNumber, "X", "0.5", "", 0, 1, kForProgram,
     "share of the event buffer for MPI events, and likewise for I/O events"},
    // A pack holds the totals of all functions (some 21 KiB), and its length fits 32 bits.
    {"bin", kSize, "SIZE", "64k", "", 0x1p15, 0x1p26, kForProgram | kForAnalyzer,
     "size of an event pack; equal in all processes of a launch"},
    {"flush-every", kDuration, "DURATION", "1s", "", 0.001, 36e6, kForProgram | kMayChange,
     "age at which a partly filled pack is sent, at its thread's next call"},
    {"finalize-timeout", kDuration, "DURATION", "5s", "", 0, 36e6, kForProgram,
     "how long MPI_Finalize waits for an analyzer that takes no events; 0: forever"},
    {"capture", kFolder, "DIR", "", "none", 0, 0, kForLauncher | kForProgram,
     "folder for a copy of all event packs, for ardoise-analyzer --replay"},
    {"record-races", kFolder, "DIR", "", "none", 0, 0, kForLauncher | kForProgram,
     "record outcomes of nondeterministic MPI calls here, for --replay-races (docs/guide/races.md)"},
    {"replay-races", kFolder, "DIR", "", "none", 0, 0, kForLauncher | kForProgram,
     "rerun the programs with the outcomes that --record-races recorded here"},
    {"replay-divergence", kChoice, "continue|stop", "continue", "", 0, 0, kForProgram,
     "when a program diverges from its record: continue without replay, or stop it"},
    {"no-command", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "keep no command lines, only the names of launcher and programs"},
    {"disable", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "run the launch unmeasured; the variable also disables a preloaded library"},
    {"quiet", kFlag, "", "off", "", 0, 0, kForLauncher | kForAnalyzer,
     "print neither the summary nor the report's path"},
    {"verbose", kFlag, "", "off", "", 0, 0, kForLauncher,
     "print the launch line that is run"},
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
