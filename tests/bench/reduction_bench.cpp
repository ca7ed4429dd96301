// How fast one core reduces events by all knowledge sources together, what each of them costs, and how much memory an
// analyzer needs for programs of 1,000, 10,000 and 100,000 ranks with 26 neighbours each.
//
//   reduction_bench [packs of a capture file]     default: the synthetic program of tests/replay
//
// The packs lie in memory, more of them than any cache holds; the blackboard has no worker, so dispatcher, unpacker and
// all operations run on this thread. An event is a 32-byte record: a call, or the completion of one.
#include <fmt/core.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "instrument/format/pack_file.hpp"
#include "knowledge_sources/reduction/reduction.hpp"
#include "replay/plugins.hpp"
#include "replay/synthetic.hpp"

namespace {

using namespace ardoise;
using Clock = std::chrono::steady_clock;

struct Input {
  std::vector<std::span<std::byte>> packs;
  std::vector<knowledge_sources::Program> programs;
  std::uint64_t events = 0, calls = 0;
  // The storage of the packs.
  std::vector<replay::Pack> made;
  instrument::PackFile file;
};

void count(Input& input, const instrument::PackView& pack) {
  input.events += pack.pack_class() == instrument::PackClass::kMpi || pack.pack_class() == instrument::PackClass::kPosix
                      ? pack.header().record_count
                      : 0;
  if (pack.pack_class() == instrument::PackClass::kPosix) input.calls += pack.header().record_count;
  if (pack.pack_class() != instrument::PackClass::kMpi) return;
  for (const auto& record : pack.records<instrument::MpiRecord>()) {
    input.calls += record.shape() < instrument::Shape::kCompletion ? 1u : 0u;
  }
}

Input synthetic_input() {
  Input input;
  const replay::SyntheticProgram program{.ranks = 64, .steps = 300};
  input.programs.push_back({0, "synthetic", program.ranks});
  // In the order of ranks that run in parallel.
  std::vector<std::vector<replay::Pack>> of_ranks;
  std::size_t most = 0;
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    of_ranks.push_back(replay::synthetic_packs(program, rank));
    most = std::max(most, of_ranks.back().size());
  }
  for (std::size_t i = 0; i < most; ++i) {
    for (auto& packs : of_ranks) {
      if (i < packs.size()) input.made.push_back(std::move(packs[i]));
    }
  }
  for (auto& pack : input.made) {
    input.packs.push_back(pack.writable());
    count(input, *instrument::check_pack(pack.bytes()).pack);
  }
  return input;
}

Input captured_input(const char* path) {
  Input input;
  input.file = instrument::read_pack_file(path);
  if (!input.file.error.empty()) {
    fmt::print(stderr, "{}\n", input.file.error);
    std::exit(1);
  }
  instrument::PackSequence sequence(input.file.bytes());
  auto* position = reinterpret_cast<std::byte*>(input.file.storage.data());
  while (const auto pack = sequence.next()) {
    input.packs.emplace_back(position, pack->bytes());
    position += pack->bytes();
    count(input, *pack);
    const auto& header = pack->header();
    while (input.programs.size() <= header.partition) {
      const auto partition = static_cast<std::uint32_t>(input.programs.size());
      input.programs.push_back({partition, fmt::format("program {}", partition), 1});
    }
    auto& ranks = input.programs[header.partition].ranks;
    ranks = std::max(ranks, header.rank + 1);
  }
  return input;
}

// No worker: jobs run in drain(), on this thread.
blackboard::Options single_threaded() {
  blackboard::Options options;
  options.workers = 0;
  return options;
}

void keep(void*, std::span<std::byte>) noexcept {}

void submit(blackboard::Blackboard& board, std::span<std::byte> pack) {
  board.submit(blackboard::adopt_entry(knowledge_sources::Reduction::pack_type(), pack, &keep, nullptr));
  board.drain();
}

// Seconds for all packs, the best of `repeats`.
double reduce(const Input& input, const std::vector<std::string>& plugins, int repeats) {
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    blackboard::Blackboard board(single_threaded());
    knowledge_sources::Reduction reduction(board, replay::load_plugins(plugins));
    for (const auto& program : input.programs) reduction.add_program(program);
    const auto begin = Clock::now();
    for (const auto pack : input.packs) submit(board, pack);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

std::size_t heap_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// MiB that the analyzer holds after two steps of all ranks, when all tables have their final size.
double memory(std::uint32_t ranks) {
  const std::size_t before = heap_bytes();
  blackboard::Blackboard board(single_threaded());
  knowledge_sources::Reduction reduction(board, replay::load_plugins());
  reduction.add_program({0, "synthetic", ranks});
  const replay::SyntheticProgram program{.ranks = ranks, .steps = 2};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (auto& pack : replay::synthetic_packs(program, rank)) submit(board, pack.writable());
  }
  return static_cast<double>(heap_bytes() - before) / (1 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  const Input input = argc > 1 ? captured_input(argv[1]) : synthetic_input();
  if (input.events == 0) {
    fmt::print(stderr, "There are no events in {}.\n", argc > 1 ? argv[1] : "the synthetic program");
    return 1;
  }
  const auto events = static_cast<double>(input.events), calls = static_cast<double>(input.calls);
  fmt::print("{} packs, {} events ({} calls, {} completions and extensions), one thread\n", input.packs.size(),
             input.events, input.calls, input.events - input.calls);

  constexpr int kRepeats = 5;
  const double base = reduce(input, {}, kRepeats);
  fmt::print("{:<28}{:>14}{:>20}\n", "knowledge sources", "ns per event", "million events/s");
  const auto line = [&](std::string_view name, double seconds) {
    fmt::print("{:<28}{:>14.2f}{:>20.1f}\n", name, seconds / events * 1e9, events / seconds * 1e-6);
  };
  line("dispatcher and accounts", base);
  for (const std::string name : {"mpi_profile", "posix_profile", "topology", "temporal", "snapshots", "waits"}) {
    line("  + " + name, std::max(reduce(input, {name}, kRepeats) - base, 1e-9));
  }
  const double all = reduce(input, replay::kAllPlugins, kRepeats);
  line("all", all);
  fmt::print("all: {:.1f} million calls/s\n\n", calls / all * 1e-6);

  fmt::print("{:>10}{:>16}{:>18}\n", "ranks", "analyzer MiB", "bytes per rank");
  double mib[3] = {};
  const std::uint32_t sizes[3] = {1'000, 10'000, 100'000};
  for (int i = 0; i < 3; ++i) {
    mib[i] = memory(sizes[i]);
    fmt::print("{:>10}{:>16.1f}{:>18.0f}\n", sizes[i], mib[i], mib[i] * (1 << 20) / sizes[i]);
  }
  fmt::print(
      "bench: events_per_second_millions={:.1f} calls_per_second_millions={:.1f} memory_mib_1k={:.1f} "
      "memory_mib_10k={:.1f} memory_mib_100k={:.1f}\n",
      events / all * 1e-6, calls / all * 1e-6, mib[0], mib[1], mib[2]);
  return 0;
}
