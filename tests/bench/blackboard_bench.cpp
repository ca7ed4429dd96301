// Jobs per second of the blackboard beside a oneTBB flow graph of the same shape, with jobs that only count: the cost
// of scheduling. Run by tools/bench; prints a table of nanoseconds and ratios.
//
//   one stage   source → f                 three stages   source → f → g → h
//   join        source ⇉ (a, b) → f        fed            this thread, outside → f
//   1 us jobs   source → f, which computes for about a microsecond: whether workers share work that is worth it
//
// The source is a node in both: each run of it makes one item and itself again (TBB's input_node does the same), it is
// counted as one job of the item. TBB's messages are ints by value, the blackboard's are counted entries with an int as
// payload, as in the product. Both have the same number of threads: "fed" has one more for the feeder. Runs of the two
// are interleaved, figures are medians.
#include <fmt/core.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include "blackboard/blackboard.hpp"

namespace {

using namespace ardoise::blackboard;
namespace flow = tbb::flow;

constexpr int kItems = 100'000;
constexpr int kRounds = 15;

constexpr EntryType kTick = entry_type("bench", "tick");
constexpr EntryType kA = entry_type("bench", "a");
constexpr EntryType kB = entry_type("bench", "b");
constexpr EntryType kC = entry_type("bench", "c");

// The last stage on both sides; it proves that all items arrived.
struct alignas(64) Slot {
  long count = 0;
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check(long count, const char* who) {
  if (count == kItems) return;
  fmt::print(stderr, "{} ran {} of {} jobs: the figures would mean nothing.\n", who, count, kItems);
  std::exit(1);
}

// ---- the blackboard ----

Operation forward(EntryType to) {
  return [to](const Context& context, std::span<EntryRef> entries) {
    context.board.submit(make_entry_of(to, entries[0].as<int>() + 1));
  };
}

Operation finish(std::vector<Slot>& slots) {
  return [&slots](const Context& context, std::span<EntryRef>) { ++slots[context.worker].count; };
}

void add_source(Blackboard& board, std::vector<EntryType> makes) {
  board.add({"source", {kTick}, [makes](const Context& context, std::span<EntryRef> entries) {
               const int left = entries[0].as<int>();
               for (const EntryType type : makes) context.board.submit(make_entry_of(type, left));
               if (left > 1) context.board.submit(make_entry_of(kTick, left - 1));
             }});
}

double run_board(unsigned workers, const std::function<void(Blackboard&, std::vector<Slot>&)>& shape,
                 const std::function<void(Blackboard&)>& start) {
  Blackboard board({.workers = workers, .on_failure = {}});
  std::vector<Slot> slots(board.workers());
  shape(board, slots);
  const double seconds = seconds_of([&] {
    start(board);
    board.drain();
  });
  long total = 0;
  for (const Slot& slot : slots) total += slot.count;
  check(total, "The blackboard");
  return seconds;
}

void tick(Blackboard& board) { board.submit(make_entry_of(kTick, kItems)); }

double board_one_stage(unsigned workers) {
  return run_board(
      workers,
      [](Blackboard& board, std::vector<Slot>& slots) {
        add_source(board, {kA});
        board.add({"f", {kA}, finish(slots)});
      },
      tick);
}

double board_three_stages(unsigned workers) {
  return run_board(
      workers,
      [](Blackboard& board, std::vector<Slot>& slots) {
        add_source(board, {kA});
        board.add({"f", {kA}, forward(kB)});
        board.add({"g", {kB}, forward(kC)});
        board.add({"h", {kC}, finish(slots)});
      },
      tick);
}

double board_join(unsigned workers) {
  return run_board(
      workers,
      [](Blackboard& board, std::vector<Slot>& slots) {
        add_source(board, {kA, kB});
        board.add({"f", {kA, kB}, finish(slots)});
      },
      tick);
}

// A chain of multiplications that no compiler shortens.
std::uint64_t compute(int seed) {
  auto value = static_cast<std::uint64_t>(seed) | 1u;
  for (int i = 0; i < 1000; ++i) value = value * 0x9e3779b97f4a7c15u + (value >> 32);
  return value;
}
std::atomic<std::uint64_t> never_read{0};
void compute_and_tell(int seed) {
  const std::uint64_t value = compute(seed);
  if (value == 42) never_read.store(value, std::memory_order_relaxed);
}

double board_busy(unsigned workers) {
  return run_board(
      workers,
      [](Blackboard& board, std::vector<Slot>& slots) {
        add_source(board, {kA});
        board.add({"f", {kA}, [&slots](const Context& context, std::span<EntryRef> entries) {
                     compute_and_tell(entries[0].as<int>());
                     ++slots[context.worker].count;
                   }});
      },
      tick);
}

double board_fed(unsigned workers) {
  return run_board(
      workers,
      [](Blackboard& board, std::vector<Slot>& slots) {
        board.add({"f", {kA}, finish(slots)});
      },
      [](Blackboard& board) {
        for (int i = 0; i < kItems; ++i) board.submit(make_entry_of(kA, i));
      });
}

// ---- oneTBB ----

// A counter for each thread, like the blackboard's slots.
std::vector<Slot>& tbb_slots() {
  static std::vector<Slot> slots(64);
  return slots;
}
void tbb_finish() { ++tbb_slots()[static_cast<std::size_t>(tbb::this_task_arena::current_thread_index())].count; }

struct CountDown {
  int left = kItems;
  int operator()(tbb::flow_control& control) {
    if (left == 0) {
      control.stop();
      return 0;
    }
    return left--;
  }
};

flow::function_node<int> tbb_last(flow::graph& graph) {
  return {graph, flow::unlimited, [](int) {
            tbb_finish();
            return flow::continue_msg{};
          }};
}

// `threads` with this one among them.
double run_tbb(unsigned threads, const std::function<double(flow::graph&)>& run) {
  std::fill(tbb_slots().begin(), tbb_slots().end(), Slot{});
  tbb::task_arena arena(static_cast<int>(threads), 1);
  double seconds = 0;
  arena.execute([&] {
    flow::graph graph;
    seconds = run(graph);
  });
  long total = 0;
  for (const Slot& slot : tbb_slots()) total += slot.count;
  check(total, "TBB");
  return seconds;
}

double activate_and_wait(flow::graph& graph, flow::input_node<int>& source) {
  return seconds_of([&] {
    source.activate();
    graph.wait_for_all();
  });
}

double tbb_one_stage(unsigned threads) {
  return run_tbb(threads, [](flow::graph& graph) {
    flow::input_node<int> source(graph, CountDown{});
    auto f = tbb_last(graph);
    flow::make_edge(source, f);
    return activate_and_wait(graph, source);
  });
}

double tbb_three_stages(unsigned threads) {
  return run_tbb(threads, [](flow::graph& graph) {
    const auto forward_int = [](int value) { return value + 1; };
    flow::input_node<int> source(graph, CountDown{});
    flow::function_node<int, int> f(graph, flow::unlimited, forward_int);
    flow::function_node<int, int> g(graph, flow::unlimited, forward_int);
    auto h = tbb_last(graph);
    flow::make_edge(source, f);
    flow::make_edge(f, g);
    flow::make_edge(g, h);
    return activate_and_wait(graph, source);
  });
}

double tbb_join(unsigned threads) {
  return run_tbb(threads, [](flow::graph& graph) {
    using Pair = std::tuple<int, int>;
    flow::input_node<int> source(graph, CountDown{});
    flow::join_node<Pair, flow::queueing> join(graph);
    flow::function_node<Pair> f(graph, flow::unlimited, [](const Pair&) {
      tbb_finish();
      return flow::continue_msg{};
    });
    flow::make_edge(source, flow::input_port<0>(join));
    flow::make_edge(source, flow::input_port<1>(join));
    flow::make_edge(join, f);
    return activate_and_wait(graph, source);
  });
}

double tbb_busy(unsigned threads) {
  return run_tbb(threads, [](flow::graph& graph) {
    flow::input_node<int> source(graph, CountDown{});
    flow::function_node<int> f(graph, flow::unlimited, [](int value) {
      compute_and_tell(value);
      tbb_finish();
      return flow::continue_msg{};
    });
    flow::make_edge(source, f);
    return activate_and_wait(graph, source);
  });
}

double tbb_fed(unsigned threads) {
  // This thread feeds from outside of the arena, in which `threads` others may work.
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads + 1);
  std::fill(tbb_slots().begin(), tbb_slots().end(), Slot{});
  tbb::task_arena arena(static_cast<int>(threads), 0);
  std::unique_ptr<flow::graph> graph;
  arena.execute([&] { graph = std::make_unique<flow::graph>(); });
  auto f = tbb_last(*graph);
  const double seconds = seconds_of([&] {
    for (int i = 0; i < kItems; ++i) f.try_put(i);
    graph->wait_for_all();
  });
  long total = 0;
  for (const Slot& slot : tbb_slots()) total += slot.count;
  check(total, "TBB");
  return seconds;
}

// ---- the table ----

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Shape {
  const char* name;
  int jobs;  // an item, the source's included
  double (*board)(unsigned);
  double (*tbb)(unsigned);
  bool empty = true;
};
constexpr Shape kShapes[] = {{"one stage", 2, board_one_stage, tbb_one_stage},
                             {"three stages", 4, board_three_stages, tbb_three_stages},
                             {"join", 2, board_join, tbb_join},
                             {"fed", 1, board_fed, tbb_fed},
                             {"1 us jobs", 1, board_busy, tbb_busy, false}};

// Prints a row, returns how many times faster the blackboard is.
double measure(const Shape& shape, unsigned workers) {
  std::vector<double> board, tbb;
  for (int round = 0; round < kRounds; ++round) {
    board.push_back(shape.board(workers));
    tbb.push_back(shape.tbb(workers));
  }
  const double per_job = 1e9 / (static_cast<double>(kItems) * shape.jobs);
  const double ratio = median(tbb) / median(board);
  fmt::print("{:<14}{:>9}{:>14.1f}{:>12.1f}{:>12.2f}{:>10.2f}\n", shape.name, workers, median(board) * per_job,
             median(tbb) * per_job, 1e3 / (median(board) * per_job), ratio);
  return ratio;
}

}  // namespace

int main() {
  fmt::print("{:<14}{:>9}{:>14}{:>12}{:>12}{:>10}\n", "shape", "workers", "board ns/job", "TBB ns/job", "Mjobs/s",
             "ratio");
  double worst[2] = {1e9, 1e9};
  for (const unsigned workers : {1u, 2u}) {
    for (const Shape& shape : kShapes) {
      const double ratio = measure(shape, workers);
      if (shape.empty) worst[workers - 1] = std::min(worst[workers - 1], ratio);
    }
  }
  // The worst shape with empty jobs, not a mean.
  fmt::print("bench: blackboard_jobs_ratio_1w={:.2f} blackboard_jobs_ratio_2w={:.2f}\n", worst[0], worst[1]);
}
