// The words for how ranks ended and where they stood, for findings and for the section on it.
#pragma once

#include <span>
#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

// "rank 3", "ranks 0–126", "ranks 0–2, 5 and 7", "ranks 0, 3 … 99 (34 of them)": ranks of the world.
[[nodiscard]] std::string ranks_in_words(const Application& app, std::span<const std::uint32_t> ranks);

// "relax (solver.c:42)", "solver+0x4a20"; "" not known.
[[nodiscard]] std::string place_in_words(const StackPlace& place);

// The innermost place of a stack with a known line, else its innermost.
[[nodiscard]] std::string place_in_words(const std::vector<StackPlace>& stack);

// "MPI_Recv in exchange (halo.c:42) from rank 3 with tag 7 on row".
[[nodiscard]] std::string call_in_words(const Application& app, const LastCall& call);

// What comes after "rank 3": "was ended by SIGSEGV", "called MPI_Abort with code 3".
[[nodiscard]] std::string how_in_words(const RankEnd& end);

// Where ranks that ended alike were: " in relax (solver.c:42)"; "" not known.
[[nodiscard]] std::string where_in_words(const RankEnd& end);

// Calls of MPI that ranks were in at the end, or at Ending::moment_seconds. They are in no FunctionProfile.
[[nodiscard]] double unfinished_mpi_seconds(const Application& app);

// The call and place that ranks but `except` were in longest then; no call: none.
struct UnfinishedCall {
  std::string function, place;
  double seconds = 0;  // summed over ranks
};
[[nodiscard]] UnfinishedCall longest_unfinished_call(const Application& app, std::uint32_t except);

// What comes after the ranks: "in MPI_Recv … for 63 s", "in relax (solver.c:42), in no call".
[[nodiscard]] std::string stand_in_words(const Application& app, const Stand& stand);

}  // namespace ardoise::reports
