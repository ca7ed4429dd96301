// Why processes that all stand cannot go on: who waits for whom, and whether anybody can be released. The model is that
// of AND and OR waits (Hilbrich, de Supinski, Schulz, Müller: A Graph Based Approach for MPI Deadlock Detection, ICS
// 2009): a receive waits for its source, MPI_Waitall for all its operations, a receive from any source or MPI_Waitany
// for one of several, a collective for the members of its communicator that are not in it. A rank that computes may
// still do anything; one that has called MPI_Finalize does nothing any more.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzer/stands.hpp"

namespace ardoise::analyzer {

struct HangReason {
  bool is_fault = false;
  std::string text;  // "rank 0 waits in MPI_Recv in main (ring.c:12) for rank 1, which waits …", or "no fault seen: …"
};

// Of all processes of one world that have not ended.
[[nodiscard]] HangReason reason_of_hang(std::span<const ProcessStand> stands);

// "MPI_Recv in main (ring.c:12)", "write in dump (dump.c:88)".
[[nodiscard]] std::string call_in_words(const StandCall& call);

}  // namespace ardoise::analyzer
