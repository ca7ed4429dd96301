// Programs that lose their time with files.
#include "tests/diagnosis/programs.hpp"

namespace ardoise::diagnosis {
namespace {

Task small_writes(Rank& me, const Case& how, std::uint32_t) {
  const unsigned calls = how.fault ? 400 : 1;
  for (unsigned i = 0; i < calls; ++i)
    co_await me.write({"write_values", 201}, "result." + std::to_string(me.rank()), 25600 / calls);
}

Task opened_in_each_step(Rank& me, const Case& how, std::uint32_t step) {
  const std::string file = "log." + std::to_string(me.rank());
  for (int i = 0; i < (how.fault ? 80 : 1); ++i) {
    if (how.fault || step == 0) co_await me.open({"append_line", 205}, file);
    co_await me.write({"append_line", 206}, file, how.fault ? 64 : 5120);
    if (how.fault || step + 1 == how.steps) co_await me.close({"append_line", 207}, file);
  }
}

Task one_rank_writes(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault) co_await me.gather({"write_fields", 211}, 1 * kMiB);
  if (how.fault && me.rank() == 0) co_await me.write({"write_fields", 212}, "fields", me.size() * kMiB);
  if (!how.fault) co_await me.write({"write_fields", 213}, "fields", 1 * kMiB);
  co_await me.barrier({"write_fields", 214});
}

// Each rank writes after the rank before it has written.
Task writes_in_turn(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() != 0) co_await me.recv({"wait_for_turn", 216}, from(before(me)), 17);
  co_await me.write({"append_block", 217}, "blocks", 1 * kMiB);
  if (how.fault && me.rank() + 1 < me.size()) co_await me.send({"append_block", 218}, next_of(me), 4, 17);
  co_await me.barrier({"append_block", 219});
}

Task all_read_the_same(Rank& me, const Case& how) {
  const unsigned ranks_that_read = how.fault ? me.size() : 1;
  co_await me.open({"read_input", 221}, "input");
  for (int i = 0; i < 100 && me.rank() < ranks_that_read; ++i) co_await me.read({"read_input", 222}, "input", 1 * kMiB);
  co_await me.close({"read_input", 223}, "input");
  co_await me.bcast({"read_input", 224}, how.fault ? 8 : 100 * kMiB);
  for (std::uint32_t i = 0; i < how.steps; ++i) co_await usual(me, how);
}

Task checkpoint(Rank& me, const Case& how, std::uint32_t step) {
  if (!how.fault || step % 3 != 2) co_return;
  co_await me.write({"write_checkpoint", 231}, "checkpoint." + std::to_string(me.rank()), 8 * kMiB);
}

Task file_for_each_step(Rank& me, const Case& how, std::uint32_t step) {
  for (unsigned i = 0; i < 40 && how.fault; ++i) {
    const std::string file = "part." + std::to_string(step) + '.' + std::to_string(me.rank()) + '.' + std::to_string(i);
    co_await me.open({"store_part", 371}, file);
    co_await me.write({"store_part", 372}, file, 2 * kKiB);
    co_await me.close({"store_part", 373}, file);
  }
  if (!how.fault) co_await me.write({"store_part", 375}, "parts", 80 * kKiB);
}

Task all_ranks_print(Rank& me, const Case& how, std::uint32_t) {
  const int lines = how.fault ? 300 : me.rank() == 0 ? 1 : 0;
  for (int i = 0; i < lines; ++i) co_await me.write({"print_progress", 381}, "(standard output)", 60);
}

Task logging(Rank& me, const Case& how, std::uint32_t) {
  for (int i = 0; i < 300 && how.fault && me.rank() == 1; ++i) {
    co_await me.write({"log_event", 385}, "events.log", 80);
    co_await me.flush({"log_event", 386}, "events.log");
  }
}

Task uneven_writes(Rank& me, const Case& how, std::uint32_t) {
  const std::uint64_t more = !how.fault ? 10 * kMiB / me.size() : me.rank() == 3 ? 10 * kMiB : 0;
  co_await me.write({"write_particles", 391}, "particles." + std::to_string(me.rank()), 256 * kKiB + more);
}

Task independent_writes(Rank& me, const Case& how, std::uint32_t) {
  for (int i = 0; i < 300 && how.fault; ++i) co_await me.write_at({"write_rows", 395}, "matrix", 512);
  if (!how.fault) co_await me.write_at_all({"write_rows", 397}, "matrix", 300 * 512);
}

Task synchronous_writes(Rank& me, const Case& how, std::uint32_t) {
  const std::string file = "state." + std::to_string(me.rank());
  co_await me.write({"save_state", 401}, file, 8 * kMiB / me.size());
  if (how.fault) co_await me.sync({"save_state", 402}, file, 8 * kMs);
}

}  // namespace

std::vector<Kind> kinds_of_files() {
  return {
      {"io.small", {"io.small"}, {"write_values"}, steps(small_writes)},
      {"io.meta", {"io.meta"}, {"append_line"}, steps(opened_in_each_step)},
      {"io.nn", {"io.nn"}, {"store_part"}, steps(file_for_each_step)},
      {"io.rank0", {"io.rank0"}, {"write_fields"}, steps(one_rank_writes)},
      {"io.reread", {"io.reread"}, {"read_input"}, all_read_the_same},
      {"io.turns", {"chain.token"}, {"wait_for_turn"}, steps(writes_in_turn)},
      {"io.checkpoint", {"io.checkpoint"}, {"write_checkpoint"}, steps(checkpoint)},
      {"io.stdout", {"io.stdout"}, {"print_progress"}, steps(all_ranks_print)},
      {"io.log", {"io.log"}, {"log_event"}, steps(logging)},
      {"io.uneven", {"io.uneven"}, {"rank 3", "write_particles"}, steps(uneven_writes)},
      {"io.independent", {"io.independent"}, {"write_rows"}, steps(independent_writes)},
      {"io.sync", {"io.sync"}, {"save_state"}, steps(synchronous_writes)},
  };
}

}  // namespace ardoise::diagnosis
