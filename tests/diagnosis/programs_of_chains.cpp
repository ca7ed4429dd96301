// More shapes of chains of waits: as real programs have them, where the first shapes of the other lists did not
// suffice.
#include "tests/diagnosis/programs.hpp"

namespace ardoise::diagnosis {
namespace {

// Rank 0 begins, each other rank sends only after it has received: large messages go round one after the other.
Task passed_round(Rank& me, const Case& how, std::uint32_t) {
  constexpr std::uint64_t kBytes = 4 * kMiB;
  if (!how.fault) {
    const RequestPointer request = co_await me.irecv({"shift_columns", 701}, from(before(me)), kBytes, 41);
    co_await me.send({"shift_columns", 702}, next_of(me), kBytes, 41);
    co_await me.wait({"shift_columns", 703}, request);
  } else if (me.rank() == 0) {
    co_await me.send({"shift_columns", 705}, next_of(me), kBytes, 41);
    co_await me.recv({"shift_columns", 706}, from(before(me)), 41);
  } else {
    co_await me.recv({"shift_columns", 708}, from(before(me)), 41);
    co_await me.send({"shift_columns", 709}, next_of(me), kBytes, 41);
  }
}

// Large messages from rank to rank along a line, as of a broadcast without a tree that is not one from a root.
Task along_a_line(Rank& me, const Case& how, std::uint32_t) {
  constexpr std::uint64_t kBytes = 6 * kMiB;
  if (me.rank() > 0 && how.fault) co_await me.recv({"shift_line", 711}, from(me.rank() - 1), 42);
  if (me.rank() + 1 < me.size() && how.fault) co_await me.send({"shift_line", 712}, me.rank() + 1, kBytes, 42);
  if (how.fault) co_return;
  Requests requests;
  if (me.rank() > 0) requests.push_back(co_await me.irecv({"shift_line", 714}, from(me.rank() - 1), kBytes, 42));
  if (me.rank() + 1 < me.size()) requests.push_back(co_await me.isend({"shift_line", 715}, me.rank() + 1, kBytes, 42));
  co_await me.waitall({"shift_line", 716}, requests);
}

// The communication of a wavefront, and its work in another function.
Task wave(Rank& me, int blocks, double block, bool up) {
  const std::int32_t previous = from(me.rank()) + (up ? -1 : 1), next = from(me.rank()) + (up ? 1 : -1);
  const auto exists = [&](std::int32_t rank) { return rank >= 0 && rank < from(me.size()); };
  for (int i = 0; i < blocks; ++i) {
    if (exists(previous)) co_await me.recv({"sweep_lines", 721}, previous, 43);
    co_await me.compute({"solve_block", 722}, block);
    if (exists(next)) co_await me.send({"sweep_lines", 723}, static_cast<std::uint32_t>(next), 1600, 43);
  }
}

// Some sweeps of short blocks follow each other, with a reduction after each.
Task short_blocks(Rank& me, const Case& how, std::uint32_t) {
  for (int sweep = 0; sweep < 10; ++sweep) {
    co_await wave(me, how.fault ? 6 : 60, (how.fault ? 200 : 20) * kUs, true);
    co_await me.allreduce({"norm_of_sweep", 726}, 8);
  }
}

// Up and down, as lower and upper triangles are solved.
Task up_and_down(Rank& me, const Case& how, std::uint32_t) {
  for (int sweep = 0; sweep < 10; ++sweep) {
    for (const bool up : {true, false}) co_await wave(me, how.fault ? 5 : 50, (how.fault ? 150 : 15) * kUs, up);
  }
}

// From the corner of a grid of ranks, two ranks wide, to the opposite one, in few blocks.
Task over_a_grid(Rank& me, const Case& how, std::uint32_t) {
  const int blocks = how.fault ? 4 : 80;
  const std::uint32_t west = me.rank() - 1, north = me.rank() - 2;
  const bool has_west = me.rank() % 2 == 1, has_north = me.rank() >= 2;
  for (int block = 0; block < blocks; ++block) {
    if (has_west) co_await me.recv({"transport_sweep", 731}, from(west), 44);
    if (has_north) co_await me.recv({"transport_sweep", 732}, from(north), 45);
    co_await me.compute({"angles_of_cell", 733}, 8 * kMs / blocks);
    if (me.rank() % 2 == 0 && me.rank() + 1 < me.size())
      co_await me.send({"transport_sweep", 735}, me.rank() + 1, 2 * kKiB, 44);
    if (me.rank() + 2 < me.size()) co_await me.send({"transport_sweep", 736}, me.rank() + 2, 2 * kKiB, 45);
  }
}

// One after the other, each result in several messages.
Task results_in_parts(Rank& me, const Case& how, std::uint32_t) {
  for (int i = 0; how.fault && me.rank() > 0 && i < 3; ++i)
    co_await me.recv({"carry_state", 741}, from(me.rank() - 1), 46);
  co_await me.compute({"advance_state", 742}, 2 * kMs);
  for (int i = 0; how.fault && me.rank() + 1 < me.size() && i < 3; ++i)
    co_await me.send({"carry_state", 744}, me.rank() + 1, 32 * kKiB, 46);
}

}  // namespace

std::vector<Kind> kinds_of_chains() {
  return {
      {"chain.ring", {"chain.ring"}, {"shift_columns"}, steps(passed_round)},
      {"chain.ring", {"chain.ring", "chain.serial"}, {"shift_line"}, steps(along_a_line)},
      {"chain.fill", {"chain.fill"}, {"sweep_lines"}, steps(short_blocks)},
      {"chain.fill", {"chain.fill"}, {"sweep_lines"}, steps(up_and_down)},
      {"chain.fill", {"chain.fill"}, {"transport_sweep"}, steps(over_a_grid)},
      {"chain.serial", {"chain.serial"}, {"carry_state"}, steps(results_in_parts)},
  };
}

}  // namespace ardoise::diagnosis
