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
     "event packs that each analyzer works on at a time; above it the streams of the programs fill"},
    {"output", kFolder, "DIR", "ardoise-report", "", 0, 0, kForLauncher | kForAnalyzer,
     "folder of the report; ardoise leaves a folder with something in it alone and takes the first free of DIR-2, "
     "DIR-3 ..., ardoise-analyzer replaces the files of an earlier report", 'o'},
    {"no-report", kFlag, "", "off", "", 0, 0, kForLauncher | kForAnalyzer,
     "write profile.json and summary.txt, render no PDF (ardoise report renders later)"},
    {"report", kChoice, "short|full", "full", "", 0, 0, kForLauncher,
     "short: the first page of the report, and of each program its overview and the tables of what takes time"},
    {"plugin", kText, "FILE", "", "none", 0, 0, kForLauncher | kForAnalyzer | kRepeats,
     "knowledge source to load, may be given several times"},
    {"snapshot-when", kText, "CONDITION", "", "none", 0, 0, kForLauncher | kForAnalyzer | kRepeats,
     "snapshot of the profile of a rank whenever this becomes true, e.g. \"bytes(write) > 1 GB since last\", may be given "
     "several times (docs/guide/marks.md)"},
    {"snapshot-every", kDuration, "DURATION", "", "no file", 0.001, 36e6, kForAnalyzer,
     "write the snapshots of each rank to files, snapshots-N.ards in the folder of the report: those of its marks, "
     "conditions and iterations, and of intervals of this time; ardoise snapshots reads them (docs/guide/snapshots.md)"},
    {"trace", kText, "SELECTION", "", "none", 0, 0, kForLauncher | kForAnalyzer,
     "write a trace in OTF2, trace/traces.otf2 in the folder of the report: all, or e.g. "
     "\"ranks=0-3,functions=MPI_Send,MPI_Recv,io,from=10s,to=12s,min=1ms,attributes=all\" (docs/guide/traces.md)"},
    {"rules", kText, "FILE", "", "none", 0, 0, kForLauncher | kForAnalyzer,
     "what changes while the programs run, and when, a line each, e.g. \"when time(MPI_Wait) > 5 s since last: rate=1000 "
     "for 10 s\""},
    {"separate", kFlag, "", "off", "", 0, 0, kForLauncher,
     "each program of the launch line has an MPI_COMM_WORLD of its own; without it all share one, as without ardoise"},
    {"partition", kText, "NAME=CONTEXT[,CONTEXT...]", "", "see --separate", 0, 0, kForLauncher | kRepeats,
     "programs that share one MPI_COMM_WORLD where others have their own; a context is its number on the launch line, "
     "from 0, or its program; may be given several times"},
    {"time-limit", kDuration, "DURATION", "", "none", 1, 36e6, kForLauncher,
     "end the programs after this time (30m, 1.5h, 90: seconds), from their start on, and report; ardoise's exit status "
     "is 124 then"},
    {"hang", kDuration, "DURATION", "60", "", 0, 1e6, kForProgram | kForAnalyzer,
     "after this time without progress of any rank in MPI ardoise says so, with the reason where there is one; 0: never"},
    {"keep-safe", kDuration, "DURATION", "", "never", 1, 36e6, kForAnalyzer,
     "write profile.json and summary.txt of what was measured so far each time that this has passed, in case that "
     "nothing can be written when the launch ends"},
    {"sample", kSample, "cpu|off|EVENT", "cpu", "", 0, 0, kForProgram,
     "call stacks are sampled by CPU time or by an event, e.g. page-faults"},
    {"rate", kNumber, "HZ", "10000", "", 0.1, 100'000, kForProgram | kMayChange,
     "samples per second of CPU time, at full rate; at most half of the kernel's perf_event_max_sample_rate"},
    {"period", kCount, "N", "", "by the event", 1, 1e15, kForProgram | kMayChange,
     "occurrences of the sampled event for each sample, at full rate"},
    {"sample-share", kNumber, "X", "0.01", "", 0, 0.5, kForProgram | kMayChange,
     "part of a thread's time that sampling may cost; 0: no limit"},
    {"counters", kCounters, "EVENT,...", "", "none", 0, 0, kForProgram,
     "events that are counted with each sample, e.g. cycles,instructions: up to 8"},
    {"perf", kSwitch, "on|off", "on", "", 0, 0, kForProgram,
     "off: perf_event_open is never called, POSIX timers serve"},
    {"budget", kSize, "SIZE", "16M", "", 0, 0x1p36, kForProgram,
     "memory of each process for events that wait; at least 8 times --bin, which is taken where it is less"},
    {"policy", kChoice, "adapt|block", "adapt", "", 0, 0, kForProgram,
     "when that memory is used up: record less (samples at a lower rate, events as exact sums), or let the program "
     "wait for the analyzer"},
    {"record", kRecord, "events|sums|sums:FUNCTION,...", "events", "", 0, 0, kForProgram | kMayChange,
     "sums: each call, or each of these functions (mpi and io: all), becomes part of exact sums at once, nothing that "
     "needs single calls is known (waiting, iterations)"},
    {"arguments", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "record all arguments of MPI calls, which takes more memory and time; --trace with attributes=arguments turns it on"},
    {"call-stacks", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "record with each call of MPI and I/O which call stack it comes from, which takes more memory and time and needs "
     "--sample; --trace with attributes=stacks turns it on"},
    {"reduce", kChoice, "class|depth|duration", "class", "", 0, 0, kForProgram,
     "which events become sums first: all of a class, those of the deepest call sites, the shortest"},
    {"mpi-share", kNumber, "X", "0.5", "", 0, 1, kForProgram,
     "part of that memory that events of MPI may hold, and those of I/O"},
    // A pack holds the totals of all functions (some 21 KiB), and its length fits 32 bits.
    {"bin", kSize, "SIZE", "64k", "", 0x1p15, 0x1p26, kForProgram | kForAnalyzer,
     "size of an event pack and of a block of the stream, equal in all processes of a launch"},
    {"flush", kNumber, "SECONDS", "1", "", 0.001, 1e6, kForProgram | kMayChange,
     "age at which a partly filled pack is sent, at the next recorded call of its thread"},
    {"patience", kNumber, "SECONDS", "5", "", 0, 1e6, kForProgram,
     "how long MPI_Finalize waits for an analyzer that takes no events; 0: without end"},
    {"capture", kFolder, "DIR", "", "none", 0, 0, kForLauncher | kForProgram,
     "folder for a copy of all event packs, PROGRAM.RANK.packs; ardoise-analyzer --replay DIR analyzes them again"},
    {"record-races", kFolder, "DIR", "", "none", 0, 0, kForLauncher | kForProgram,
     "record into this folder what every MPI call came to that the program does not fix (wildcards, tests, Waitany ...), "
     "for --force (docs/guide/races.md)"},
    {"force", kFolder, "DIR", "", "none", 0, 0, kForLauncher | kForProgram,
     "run the programs with what --record-races has recorded there: each such call comes to the same again"},
    {"when-departing", kChoice, "run|stop", "run", "", 0, 0, kForProgram,
     "what happens where a program that is forced makes another call than the record has, which is named: it runs on with "
     "nothing forced on that rank, or is stopped"},
    {"no-command", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "keep nothing of the command lines but the names of launcher and programs; without it what looks like a secret in "
     "them is hidden (docs/reference/ardoise.md)"},
    {"disable", kFlag, "", "off", "", 0, 0, kForLauncher | kForProgram,
     "run the launch untouched; as a variable it also silences a preload library that is named by hand"},
    {"quiet", kFlag, "", "off", "", 0, 0, kForLauncher | kForAnalyzer,
     "print neither the summary nor where the report is"},
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
