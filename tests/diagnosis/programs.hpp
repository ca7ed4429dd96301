// The parts that all simulated programs share, and the lists of programs by topic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/diagnosis/kinds.hpp"

namespace ardoise::diagnosis {

using Requests = std::vector<RequestPointer>;

inline constexpr double kMs = 1e-3, kUs = 1e-6;
inline constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * 1024;

[[nodiscard]] inline std::uint32_t next_of(const Rank& me) { return (me.rank() + 1) % me.size(); }
[[nodiscard]] inline std::uint32_t before(const Rank& me) { return (me.rank() + me.size() - 1) % me.size(); }
// As the source of a receive.
[[nodiscard]] inline std::int32_t from(std::uint32_t rank) { return static_cast<std::int32_t>(rank); }

// Messages with both neighbours, and a reduction.
Task exchange(Rank& me, const Case& how);
// The part of a step without a loss: work, then an exchange.
Task usual(Rank& me, const Case& how);

// Large messages go around the ring while the ranks compute.
Task overlap(Rank& me, const Case& how, std::uint32_t step);
// Work that goes from rank to rank in blocks: `seconds` on each rank, a message of `bytes` after each block.
Task pipeline(Rank& me, int blocks, double seconds, std::uint64_t bytes);

// Rank 0 hands out tasks on demand; `handling`: its work on a result; `last_task`: seconds of the last one.
Task farm(Rank& me, int tasks, double task, double handling, double last_task, bool on_device = false);

// A program whose steps begin with `step`, followed by the usual part.
template <class Step>
auto steps(Step step) {
  return [step](Rank& me, const Case& how) -> Task {
    for (std::uint32_t i = 0; i < how.steps; ++i) {
      co_await step(me, how, i);
      co_await usual(me, how);
    }
  };
}

std::vector<Kind> kinds_of_work();
std::vector<Kind> kinds_of_dependence();
std::vector<Kind> kinds_of_chains();
std::vector<Kind> kinds_of_calls();
std::vector<Kind> kinds_of_files();
std::vector<Kind> kinds_of_machines();
std::vector<Kind> right_kinds();
std::vector<Kind> held_out_kinds();

}  // namespace ardoise::diagnosis
