// Part of the model: the end of a program without MPI_Finalize, and the positions of its ranks then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ardoise::reports {

// A source location. All members empty or 0: unknown.
struct StackPlace {
  std::string symbol;  // function, demangled
  std::string source_file;
  std::uint32_t line = 0;
  std::string module;        // path of the binary or library
  std::uint64_t offset = 0;  // in the module
};

// Values of LastCall::peer besides ranks of the program.
inline constexpr std::int64_t kNoPeer = -1, kAnyPeer = -2, kOtherPeer = -3 /* of another program */, kSeveralPeers = -4;
// Values of LastCall::tag.
inline constexpr std::int32_t kNoTag = -1, kAnyTag = -2;

// One of the last calls of a rank. Times are since the program's MPI_Init.
struct LastCall {
  std::string function;  // "MPI_Recv", "write"; "": no call
  StackPlace place;      // call site
  std::int64_t peer = kNoPeer;
  std::int32_t tag = kNoTag;
  std::string communicator;  // its name; "": none, or not named
  std::string file;          // path; "": none
  std::uint64_t bytes = 0;
  double begin_seconds = 0;
  double seconds = 0;  // duration, or time so far
};

// Ranks that ended in the same way. Members besides `cause` describe the first of them.
struct RankEnd {
  // "signal", "exit" (or return from main), "immediate exit" (_exit), "exec" (of `call.file`), "abort" (MPI_Abort),
  // "error" (an MPI call ended the program), "launcher" (its connection broke), "killed" (by a signal that it could not
  // catch), "unknown".
  std::string cause;
  std::string signal;       // "SIGSEGV"; "": none
  std::int32_t status = 0;  // of the exit, or the code given to MPI_Abort
  double seconds = 0;       // since the program's MPI_Init
  bool has_address = false;
  std::uint64_t address = 0;  // of a fault
  std::uint32_t sender = 0;   // process that sent the signal; 0: unknown
  std::vector<std::uint32_t> ranks;
  LastCall call;                     // the call during which it ended
  std::vector<StackPlace> stack;     // innermost first
  std::vector<LastCall> last_calls;  // the last one may not have ended
};

// Ranks in the same position when they ended, or at Ending::moment_seconds.
struct RankPosition {
  std::vector<std::uint32_t> ranks;
  LastCall call;                               // their current call; function "": none
  LastCall after;                              // if neither call nor place is known: the previous call
  double least_seconds = 0, most_seconds = 0;  // time in `call`, over these ranks
  std::vector<LastCall> waits_for;             // operations for which the first rank's call waits
  std::vector<StackPlace> stack;               // of the first rank, innermost frame first
};

struct Ending {
  std::vector<RankEnd> ends;  // in order of time; empty: all ranks called MPI_Finalize, or the end is unknown
  std::vector<RankPosition> stands;  // key of profile.json; most ranks first
  // Time since MPI_Init at which the profile was written while the program ran; else 0.
  double moment_seconds = 0;
  // Processes of any program ended by the kernel's out-of-memory killer during the launch, on the analyzers' hosts.
  std::uint64_t memory_kills = 0;
};

}  // namespace ardoise::reports
