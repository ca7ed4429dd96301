// The cost of partitions, maps, the opening of a stream and the stream itself for one process of a large launch, with a
// model in this thread in place of MPI: 4,096 and 65,536 processes that write to 1/64 of them. Counts the messages of a
// process, its heap (this program's operator new) and the time of the code. The time of the model is included, so times
// are upper bounds. stream.cmake builds it; the last lines are for tools/bench.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "tests/vmpi/model_control.hpp"
#include "tests/vmpi/model_network.hpp"
#include "vmpi/streams/handshake.hpp"
#include "vmpi/streams/map_policy.hpp"
#include "vmpi/streams/stream.hpp"
#include "vmpi/world/partition_table.hpp"

namespace {

std::int64_t heap_bytes = 0;
bool is_counted = true;  // false inside the models
constexpr std::size_t kHead = 16;

}  // namespace

void* operator new(std::size_t bytes) {
  auto* memory = static_cast<char*>(std::malloc(bytes + kHead));
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t counted = is_counted ? bytes : 0;
  *reinterpret_cast<std::size_t*>(memory) = counted;
  heap_bytes += static_cast<std::int64_t>(counted);
  return memory + kHead;
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* start = static_cast<char*>(memory) - kHead;
  heap_bytes -= static_cast<std::int64_t>(*reinterpret_cast<std::size_t*>(start));
  std::free(start);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

using namespace ardoise::vmpi;

namespace {

class Uncounted {
 public:
  Uncounted() { is_counted = false; }
  ~Uncounted() { is_counted = true; }
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

// The models' own memory belongs to MPI, not to the process.
class UncountedChannel final : public ControlChannel {
 public:
  explicit UncountedChannel(ControlChannel& model) : model_(model) {}
  int send(int rank, const ControlMessage& message) override {
    const Uncounted here;
    return model_.send(rank, message);
  }
  int receive(bool& found, int& rank, ControlMessage& message) override {
    const Uncounted here;
    return model_.receive(found, rank, message);
  }
  int send_end(int rank, int tag) override {
    const Uncounted here;
    return model_.send_end(rank, tag);
  }

 private:
  ControlChannel& model_;
};

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// CPU time of work(), and the heap that remains allocated after it.
struct Cost {
  double ns;
  double bytes;
};
template <typename Work>
Cost cost_of(Work work) {
  const auto bytes = heap_bytes;
  const double begin = cpu_ns();
  work();
  return {cpu_ns() - begin, static_cast<double>(heap_bytes - bytes)};
}

void row(const char* what, int processes, const char* role, double ns, double bytes, double messages) {
  fmt::print("{:<34}{:>9}{:>9}{:>14.1f}{:>14.0f}{:>12.1f}\n", what, processes, role, ns / 1e3, bytes, messages);
}

void measure(int universe) {
  const int masters = universe / 64;
  const int slaves = universe - masters;
  const MapShape shape{slaves, masters, 1};

  // Partitions: each process receives one announcement of each, 32 bytes, and makes the table.
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(universe));
  for (int rank = 0; rank < universe; ++rank)
    keys[static_cast<std::size_t>(rank)] = PartitionKey::application_context(rank < slaves ? 0 : 1).bits();
  std::unique_ptr<PartitionTable> table;
  const auto partitions = cost_of([&] { table = std::make_unique<PartitionTable>(keys); });
  row("partitions (32 B of each received)", universe, "each", partitions.ns, partitions.bytes, 2);

  std::vector<int> master_of_slave(static_cast<std::size_t>(slaves));
  std::vector<std::vector<int>> slaves_of_master(static_cast<std::size_t>(masters));
  const auto slave_map = cost_of([&] {
    for (int slave = 0; slave < slaves; ++slave)
      master_of_slave[static_cast<std::size_t>(slave)] = slaves + master_of(MapPolicy::round_robin, slave, shape);
  });
  const auto master_map = cost_of([&] {
    for (int master = 0; master < masters; ++master)
      slaves_of_master[static_cast<std::size_t>(master)] = slaves_of(MapPolicy::round_robin, master, shape);
  });
  row("map, round-robin", universe, "slave", slave_map.ns / slaves, 4, 0);
  row("map, round-robin", universe, "master", master_map.ns / masters, master_map.bytes / masters, 0);

  // Opening: every process sends hello to its peers, and its verdict.
  ModelControl model(universe);
  std::deque<UncountedChannel> channels;
  std::deque<Mailbox> mailboxes;
  for (int rank = 0; rank < universe; ++rank) mailboxes.emplace_back(channels.emplace_back(model.channel(rank)));
  std::vector<std::unique_ptr<Handshake>> handshakes(static_cast<std::size_t>(universe));
  Cost opening[2] = {{0, 0}, {0, 0}};  // slaves, masters
  const auto step = [&](int rank, auto work) {
    auto& cost = opening[rank < slaves ? 0 : 1];
    const auto one = cost_of(work);
    cost.ns += one.ns;
    cost.bytes += one.bytes;
  };
  const auto each_role = [&](auto work) {
    for (const auto& [from, to] : {std::pair{0, slaves}, std::pair{slaves, universe}}) {
      const int first = from;
      const int last = to;
      step(first, [&] {
        for (int rank = first; rank < last; ++rank) work(rank);
      });
    }
  };
  each_role([&](int rank) {
    const bool is_slave = rank < slaves;
    const auto peers = is_slave ? std::vector{master_of_slave[static_cast<std::size_t>(rank)]}
                                : slaves_of_master[static_cast<std::size_t>(rank - slaves)];
    auto& handshake = handshakes[static_cast<std::size_t>(rank)];
    handshake = std::make_unique<Handshake>(mailboxes[static_cast<std::size_t>(rank)], peers,
                                            StreamTerms{4096, {!is_slave, is_slave}, 16});
    (void)handshake->start();
  });
  for (int open = universe; open > 0;) {
    open = 0;
    each_role([&](int rank) {
      auto& handshake = *handshakes[static_cast<std::size_t>(rank)];
      bool has_news = false;
      if (!handshake.done()) (void)handshake.advance(has_news);
      open += handshake.done() ? 0 : 1;
    });
  }
  std::uint64_t sent_by_masters = 0;
  for (int rank = slaves; rank < universe; ++rank) sent_by_masters += model.messages_sent(rank);
  row("opening (32 B a message sent)", universe, "slave", opening[0].ns / slaves, opening[0].bytes / slaves,
      static_cast<double>(model.messages_sent(0)));
  row("opening (32 B a message sent)", universe, "master", opening[1].ns / masters, opening[1].bytes / masters,
      static_cast<double>(sent_by_masters) / masters);

  // The stream: each slave lends four blocks, each master takes what comes.
  constexpr int kBlocksEach = 4;
  constexpr std::size_t kBlock = 4096;
  ModelNetwork network;
  std::vector<std::unique_ptr<Transport>> transports(static_cast<std::size_t>(universe));
  std::vector<std::unique_ptr<Stream>> streams(static_cast<std::size_t>(universe));
  const auto make = [&](int rank) {
    const bool is_slave = rank < slaves;
    const auto i = static_cast<std::size_t>(rank);
    StreamOptions options;
    options.block_bytes = kBlock;
    options.balance = Balance::round_robin;
    options.gives_way = false;
    streams[i] = std::make_unique<Stream>(*transports[i], handshakes[i]->endpoints(), Mode{!is_slave, is_slave}, 16,
                                          options, static_cast<std::uint64_t>(rank));
  };
  for (int rank = 0; rank < universe; ++rank) transports[static_cast<std::size_t>(rank)] = network.process(rank);
  const auto slave_stream = cost_of([&] {
    for (int rank = 0; rank < slaves; ++rank) make(rank);
  });
  const auto master_stream = cost_of([&] {
    for (int rank = slaves; rank < universe; ++rank) make(rank);
  });
  std::vector<std::byte> block(kBlock);
  const auto writing = cost_of([&] {
    for (int rank = 0; rank < slaves; ++rank) {
      for (int i = 0; i < kBlocksEach; ++i) (void)streams[static_cast<std::size_t>(rank)]->lend(block.data(), kBlock);
    }
  });
  std::int64_t taken = 0;
  const auto reading = cost_of([&] {
    for (int rank = slaves; rank < universe; ++rank) {
      auto& stream = *streams[static_cast<std::size_t>(rank)];
      void* memory = nullptr;
      std::size_t bytes = 0;
      const auto expected = static_cast<std::int64_t>(slaves_of_master[static_cast<std::size_t>(rank - slaves)].size());
      for (std::int64_t i = 0; i < kBlocksEach * expected;) {
        if (stream.take(&memory, &bytes, nullptr, false) != 1) continue;
        stream.release(memory);
        ++i;
        ++taken;
      }
    }
  });
  const double blocks = static_cast<double>(slaves) * kBlocksEach;
  row("stream, made", universe, "slave", slave_stream.ns / slaves, slave_stream.bytes / slaves, 0);
  row("stream, made", universe, "master", master_stream.ns / masters, master_stream.bytes / masters, 0);
  row("stream, one block", universe, "slave", writing.ns / blocks, 0, 1);
  row("stream, one block", universe, "master", reading.ns / blocks, 0, 0);
  if (taken != static_cast<std::int64_t>(blocks)) std::abort();
  fmt::print(
      "bench: scale_open_us_slave={:.2f} scale_open_us_master={:.1f} scale_heap_bytes_slave={:.0f} "
      "scale_heap_bytes_master={:.0f} scale_block_ns={:.0f} processes={}\n",
      opening[0].ns / slaves / 1e3, opening[1].ns / masters / 1e3, (opening[0].bytes + slave_stream.bytes) / slaves,
      (opening[1].bytes + master_stream.bytes) / masters, (writing.ns + reading.ns) / blocks, universe);
}

}  // namespace

int main() {
  fmt::print("{:<34}{:>9}{:>9}{:>14}{:>14}{:>12}\n", "what", "processes", "of a", "CPU, us", "heap, bytes", "messages");
  for (const int universe : {4096, 65536}) measure(universe);
  return 0;
}
