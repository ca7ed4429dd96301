// Part of the model: how a program ended that did not come to MPI_Finalize, and where its ranks were then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ardoise::reports {

// A place in a program. Everything empty or 0: not known.
struct StackPlace {
  std::string symbol;  // function, demangled
  std::string source_file;
  std::uint32_t line = 0;
  std::string module;        // path of the binary or library
  std::uint64_t offset = 0;  // in the module
};

// Of LastCall::peer, beside ranks of the program.
inline constexpr std::int64_t kNoPeer = -1, kAnyPeer = -2, kOtherPeer = -3 /* of another program */, kSeveralPeers = -4;
// Of LastCall::tag.
inline constexpr std::int32_t kNoTag = -1, kAnyTag = -2;

// One of the last calls of a rank. Times are since the program's MPI_Init.
struct LastCall {
  std::string function;  // "MPI_Recv", "write"; "": no call
  StackPlace place;      // where it was called
  std::int64_t peer = kNoPeer;
  std::int32_t tag = kNoTag;
  std::string communicator;  // its name; "" none, or not named
  std::string file;          // path; "" none
  std::uint64_t bytes = 0;
  double begin_seconds = 0;
  double seconds = 0;  // that it took, or so far
};

// Ranks that ended alike. What is more than the cause is of the first of them.
struct RankEnd {
  // "signal", "exit" (or return from main), "immediate exit" (_exit), "exec" (of `call.file`), "abort" (MPI_Abort),
  // "error" (an MPI call ended the program), "launcher" (its connection broke), "killed" (by a signal that it did not
  // see), "unknown".
  std::string cause;
  std::string signal;       // "SIGSEGV"; "" none
  std::int32_t status = 0;  // of the exit, or the code given to MPI_Abort
  double seconds = 0;       // since the program's MPI_Init
  bool has_address = false;
  std::uint64_t address = 0;  // of a fault
  std::uint32_t sender = 0;   // process that sent the signal; 0: not known
  std::vector<std::uint32_t> ranks;
  LastCall call;                     // that it was in
  std::vector<StackPlace> stack;     // innermost first
  std::vector<LastCall> last_calls;  // the last one may not have ended
};

// Ranks that were in the same place when they ended, or at Ending::moment_seconds.
struct Stand {
  std::vector<std::uint32_t> ranks;
  LastCall call;   // that they were in; without a function: none, and `place` is where the first of them was
  LastCall after;  // in no call and no place that is known: the last call before
  double least_seconds = 0, most_seconds = 0;  // in that call
  std::vector<LastCall> waits_for;             // operations that the call of the first of them waits for
  std::vector<StackPlace> stack;               // of the first of them, innermost first
};

struct Ending {
  std::vector<RankEnd> ends;  // the first to end first; empty: all ranks came to MPI_Finalize, or nothing is known
  std::vector<Stand> stands;  // most ranks first
  // Of a program that was running when its profile was written: when that was, since MPI_Init; else 0.
  double moment_seconds = 0;
  // Processes that the kernel's out-of-memory killer ended on the hosts of the analyzers while the launch ran, its own
  // or others.
  std::uint64_t memory_kills = 0;
};

}  // namespace ardoise::reports
