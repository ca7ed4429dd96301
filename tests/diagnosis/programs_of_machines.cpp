// Programs that lose their time because of the machine or their place on it.
#include "tests/diagnosis/programs.hpp"

namespace ardoise::diagnosis {
namespace {

Task crowded(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault) co_await me.wait_for_processor((3 + 4 * me.random()) * kMs);
}

Task crowded_rank(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 3) co_await me.wait_for_processor(7 * kMs);
}

Task nothing_more(Rank&, const Case&, std::uint32_t) { co_return; }

// Neighbours in memory are on different hosts; the right program has them on one.
Task distant_pairs(Rank& me, const Case& how, std::uint32_t) {
  if (me.size() % 2 != 0) co_return;
  const std::uint32_t half = me.size() / 2;
  const std::uint32_t pair = how.fault ? (me.rank() + half) % me.size() : me.rank() ^ 1;
  const RequestPointer request = co_await me.irecv({"swap_blocks", 411}, from(pair), 6 * kMiB, 23);
  co_await me.send({"swap_blocks", 412}, pair, 6 * kMiB, 23);
  co_await me.wait({"swap_blocks", 413}, request);
}

void two_hosts(Machine& machine) { machine.ranks_per_host = (machine.ranks + 1) / 2; }

}  // namespace

std::vector<Kind> kinds_of_machines() {
  return {
      {"node.oversub",
       {"node.oversub"},
       {},
       steps(crowded),
       [](Machine& machine) { machine.processors_per_host = machine.ranks / 2; }},
      {"node.foreign", {"node.foreign"}, {"rank 3"}, steps(crowded_rank)},
      {"late.node",
       {"late.node"},
       {"host1"},
       steps(nothing_more),
       [](Machine& machine) {
         two_hosts(machine);
         machine.slowness = [half = machine.ranks_per_host](std::uint32_t rank) { return rank < half ? 1 : 1.5; };
       },
       {"late.static"}},  // one rank is alone on that host: it may as well have more work
      {"late.numa",
       {"late.numa"},
       {},
       steps(nothing_more),
       [](Machine& machine) {
         two_hosts(machine);
         machine.slowness = [half = machine.ranks_per_host](std::uint32_t rank) { return rank % half == 0 ? 1.5 : 1; };
       },
       {"late.group"}},  // one host has one rank: two ranks may as well have more work
      {"place.ranks", {"place.ranks"}, {"swap_blocks"}, steps(distant_pairs), two_hosts},
  };
}

}  // namespace ardoise::diagnosis
