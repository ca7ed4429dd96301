// The cost of waits for ranks of other analyzers: the synthetic program of tests/replay, in which ranks have 26
// neighbours each, over 1, 2 and 4 analyzers, with `waits` alone. Prints nanoseconds per message, summed over the
// analyzers, and bytes between them for each end of a message that is sent on. The waits must be the same.
//
//   exchange_bench [ranks]     default: 10,000
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "knowledge_sources/reduction/reduction.hpp"
#include "replay/local_transport.hpp"
#include "replay/plugins.hpp"
#include "replay/synthetic.hpp"

namespace {

using namespace ardoise;
using Clock = std::chrono::steady_clock;

struct Result {
  double seconds = 0, bytes = 0, waiting = 0;
  std::uint64_t messages = 0, unresolved = 0;
};

Result run(std::uint32_t ranks, unsigned analyzers) {
  std::vector<std::unique_ptr<blackboard::Blackboard>> boards;
  std::vector<blackboard::Blackboard*> pointers;
  for (unsigned i = 0; i < analyzers; ++i) {
    blackboard::Options options;
    options.workers = 0;
    boards.push_back(std::make_unique<blackboard::Blackboard>(std::move(options)));
    pointers.push_back(boards.back().get());
  }
  replay::LocalTransports transports(pointers);
  std::vector<std::unique_ptr<knowledge_sources::Reduction>> reductions;
  for (auto& board : boards) {
    reductions.push_back(std::make_unique<knowledge_sources::Reduction>(*board, replay::load_plugins({"waits"})));
    reductions.back()->add_program({.partition = 0, .name = "synthetic", .ranks = ranks});
  }
  const replay::SyntheticProgram program{.ranks = ranks, .steps = 4, .late_ticks = 15'000};
  Result result;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    auto packs = replay::synthetic_packs(program, rank);
    const auto begin = Clock::now();
    for (auto& pack : packs) {
      pointers[rank % analyzers]->submit(blackboard::adopt_entry(
          knowledge_sources::Reduction::pack_type(), pack.writable(), [](void*, std::span<std::byte>) noexcept {},
          nullptr));
      for (auto* board : pointers) board->drain();
    }
    result.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  const auto begin = Clock::now();
  transports.settle([&] {
    for (const auto& reduction : reductions) reduction->flush();
  });
  result.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  for (unsigned i = 1; i < analyzers; ++i) reductions[0]->absorb(reductions[i]->partial());
  reports::Run model;
  reductions[0]->contribute(model);
  const auto& waiting = model.applications.at(0).waiting;
  result.bytes = static_cast<double>(transports.bytes());
  result.messages = waiting.resolved_messages;
  result.unresolved = waiting.unresolved.message_ends.incomplete + waiting.unresolved.message_ends.beyond_memory;
  for (const auto& pattern : waiting.patterns) result.waiting += pattern.seconds;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const auto ranks = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 10'000);
  fmt::print("{} ranks with 26 neighbours\n{:>10}{:>12}{:>14}{:>8}{:>24}{:>14}\n", ranks, "analyzers", "messages",
             "ns a message", "ratio", "bytes a travelling end", "waiting [s]");
  Result one, last;
  bool same = true;
  for (const unsigned analyzers : {1u, 2u, 4u}) {
    const Result result = run(ranks, analyzers);
    if (analyzers == 1) one = result;
    last = result;
    const double messages = static_cast<double>(result.messages);
    const double travelling = 2 * messages * (analyzers - 1) / analyzers;
    fmt::print("{:>10}{:>12}{:>14.0f}{:>8.2f}{:>24.1f}{:>14.6f}\n", analyzers, result.messages,
               result.seconds / messages * 1e9, result.seconds / one.seconds,
               travelling > 0 ? result.bytes / travelling : 0.0, result.waiting);
    same = same && result.messages == one.messages && result.unresolved == 0 &&
           std::abs(result.waiting - one.waiting) < 1e-9 * one.waiting;
  }
  fmt::print("bench: exchange_bytes={:.1f} exchange_cost_ratio={:.2f}\n",
             last.bytes / (1.5 * static_cast<double>(last.messages)), last.seconds / one.seconds);
  if (!same) fmt::print(stderr, "The numbers differ, or ends of messages are left.\n");
  return same ? 0 : 1;
}
