// Explains why processes without progress are blocked, or, if there is no fault, which of them may proceed.
// wait_graph.hpp decides who waits for whom and who can be released.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzer/hangs/stalled_processes.hpp"

namespace ardoise::analyzer {

struct HangReason {
  bool is_fault = false;
  // "rank 0 waits in MPI_Recv in main (ring.c:12) for rank 1, which waits …", or "no fault seen: rank 1 computes in …
  // for 64 s, the others wait for it". Names in it are printable.
  std::string text;
};

// processes: all of one world that have not ended.
[[nodiscard]] HangReason reason_of_hang(std::span<const StalledProcess> processes);

// "MPI_Recv in main (ring.c:12)", "write in dump (dump.c:88)".
[[nodiscard]] std::string call_in_words(const PendingCall& call);

}  // namespace ardoise::analyzer
