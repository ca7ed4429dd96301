// Right programs, some of which look as if they lost time.
#include "tests/diagnosis/programs.hpp"

namespace ardoise::diagnosis {
namespace {

Task nothing(Rank&, const Case&, std::uint32_t) { co_return; }

Task slow_first_step(Rank& me, const Case&, std::uint32_t step) {
  if (step == 0) co_await me.compute({"first_touch", 251}, 8 * kMs);
}

Task few_tiny_messages(Rank& me, const Case&, std::uint32_t) {
  for (int i = 0; i < 20; ++i) {
    co_await me.send({"send_flags", 255}, next_of(me), 8, 12);
    co_await me.recv({"take_flags", 256}, from(before(me)), 12);
  }
}

Task fast_files(Rank& me, const Case&, std::uint32_t step) {
  if (step % 10 == 9)
    co_await me.write({"write_output", 261}, "out." + std::to_string(me.rank()), 8 * kMiB / me.size());
}

Task fine_pipeline(Rank& me, const Case&, std::uint32_t) {
  co_await pipeline(me, 25 * static_cast<int>(me.size()), 2.5 * kMs * me.size(), 1 * kKiB);
}

// Tasks on demand with a fast master.
Task good_farm(Rank& me, const Case&) {
  if (me.rank() == 0) {
    std::uint32_t busy = 0;
    int next = 0;
    for (std::uint32_t worker = 1; worker < me.size(); ++worker, ++busy, ++next)
      co_await me.send({"give_task", 431}, worker, 64, 1);
    while (busy != 0) {
      co_await me.recv({"good_master", 433}, instrument::kAnySource, 2);
      const auto worker = static_cast<std::uint32_t>(me.last_source());
      const bool more = next++ < 400;
      co_await me.send({"give_task", 436}, worker, 64, more ? 1 : 3);
      if (!more) --busy;
    }
    co_return;
  }
  while (co_await me.recv_tag({"good_worker", 441}, 0) != 3) {
    co_await me.compute({"small_task", 442}, (2 + 2 * me.random()) * kMs);
    co_await me.send({"good_worker", 443}, 0, 1 * kKiB, 2);
  }
}

// Rank 3 has less to do than the others; the others have equal work, so nothing can be won.
Task one_has_less(Rank& me, const Case&, std::uint32_t) {
  co_await me.compute({"equal_blocks", 451}, me.rank() == 3 ? 6 * kMs : 10 * kMs);
}

// Two groups work on their own and meet rarely.
Task two_groups(Rank& me, const Case&, std::uint32_t step) {
  const std::uint32_t half = me.size() / 2, pair = me.rank() ^ 1;
  co_await me.compute({me.rank() < half ? "fluid" : "solid", 455}, 8 * kMs);
  if (pair < me.size()) {
    const RequestPointer request = co_await me.irecv({"couple", 456}, from(pair), 1 * kKiB, 24);
    co_await me.send({"couple", 457}, pair, 1 * kKiB, 24);
    co_await me.wait({"couple", 458}, request);
  }
  if (step % 10 == 9) co_await me.barrier({"couple", 459});
}

Task noisy_work(Rank& me, const Case&, std::uint32_t) {
  co_await me.compute({"noisy_cells", 461}, (9 + 2 * me.random()) * kMs);
}

Task one_barrier(Rank& me, const Case&, std::uint32_t step) {
  if (step % 10 == 0) co_await me.barrier({"before_output", 465});
}

Task reads_at_start(Rank& me, const Case&, std::uint32_t step) {
  if (step == 0 && me.rank() == 0) co_await me.read({"read_settings", 467}, "settings", 10 * kKiB);
  if (step == 0) co_await me.bcast({"read_settings", 468}, 10 * kKiB);
}

Task busy_threads(Rank& me, const Case& how) {
  for (std::uint32_t i = 0; i < how.steps; ++i) {
    co_await me.compute_in_threads({"good_region [OpenMP region 1]", 471}, 8 * kMs, 8 * kMs, 8 * kMs, 8 * kMs);
    co_await exchange(me, how);
  }
}

Task test_and_work(Rank& me, const Case&, std::uint32_t) {
  const RequestPointer request = co_await me.irecv({"poll_while_working", 475}, from(before(me)), 64, 25);
  co_await me.send({"poll_while_working", 476}, next_of(me), 64, 25);
  bool ended = false;
  for (int i = 0; i < 5 && !ended; ++i) {
    co_await me.compute({"useful_part", 477}, 1 * kMs);
    ended = co_await me.test({"poll_while_working", 478}, request);
  }
  if (!ended) co_await me.wait({"poll_while_working", 480}, request);
}

// A device works for each rank.
Task on_devices(Rank& me, const Case&, std::uint32_t) {
  co_await me.compute({"start_kernel", 482}, 0.2 * kMs);
  co_await me.sleep(6 * kMs);
}

}  // namespace

std::vector<Kind> right_kinds() {
  return {
      {"none.balanced", {}, {}, steps(nothing)},
      {"none.first", {}, {}, steps(slow_first_step)},
      {"none.wavefront", {}, {}, steps(fine_pipeline)},
      {"none.tiny", {}, {}, steps(few_tiny_messages)},
      {"none.async", {}, {}, steps(overlap)},
      {"none.device", {}, {}, steps(fast_files)},
      {"none.accelerator", {}, {}, steps(on_devices)},
      {"none.master", {}, {}, good_farm},
      {"none.unit", {}, {}, steps(one_has_less)},
      {"none.partner", {}, {}, steps(two_groups)},
      {"none.noise", {}, {}, steps(noisy_work)},
      {"none.barrier", {}, {}, steps(one_barrier)},
      {"none.start", {}, {}, steps(reads_at_start)},
      {"none.threads", {}, {}, busy_threads},
      {"none.test", {}, {}, steps(test_and_work)},
      {"none.crowd", {}, {}, steps(nothing), [](Machine& machine) { machine.crowding = 0.03; }},
  };
}

}  // namespace ardoise::diagnosis
