// How ranks ended and their last positions, in words; for findings and the section on the ending.
#pragma once

#include <span>
#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

// "rank 3", "ranks 0–126", "ranks 0–2, 5 and 7", "ranks 0, 3 … 99 (34 ranks)": world ranks.
[[nodiscard]] std::string ranks_in_words(const Application& app, std::span<const std::uint32_t> ranks);

// "relax (solver.c:42)", "solver+0x4a20"; "": unknown.
[[nodiscard]] std::string place_in_words(const StackPlace& place);

// "__memmove, called below relax (solver.c:42)": the innermost frame, and the innermost one with a known line.
[[nodiscard]] std::string place_in_words(const std::vector<StackPlace>& stack);

// "MPI_Recv in exchange (halo.c:42) from rank 3 with tag 7 on row".
[[nodiscard]] std::string call_in_words(const Application& app, const LastCall& call);

// To follow "rank 3": "was ended by SIGSEGV", "called MPI_Abort with code 3".
[[nodiscard]] std::string how_in_words(const RankEnd& end);

// The place where they ended: " in relax (solver.c:42)"; "": unknown.
[[nodiscard]] std::string where_in_words(const RankEnd& end);

// To follow the ranks: "in MPI_Recv … for 63 s", "in relax (solver.c:42)".
[[nodiscard]] std::string position_in_words(const Application& app, const RankPosition& position);

}  // namespace ardoise::reports
