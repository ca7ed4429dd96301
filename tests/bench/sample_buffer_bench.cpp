// The hierarchical buffer: storing one sample (amortised over bins, without unwinding, memory touched before), dropping
// half of a full buffer of 100 MB, and the paper's model of four hours with its figure 6.
// sample_buffer_bench [FIGURE.svg]; `store` instead: only the loop of stores, for counting instructions.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "instrument/buffer/hierarchical_buffer.hpp"
#include "instrument/buffer/sample_store.hpp"
#include "tests/bench/figure6.hpp"

namespace {

using namespace ardoise;
using instrument::BinPool;
using instrument::PackClass;

// CPU time of this thread, without that of other programs.
double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double seconds_since(double begin) { return cpu_seconds() - begin; }

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// ns for one sample, into a buffer of 16 MiB that overflows again and again.
double store_samples(std::uint64_t samples) {
  BinPool pool(std::size_t{16} << 20, 65536);
  instrument::Ledger ledger;
  const std::atomic<bool> stream_full = false;
  instrument::SampleStore store(pool, ledger, stream_full);
  instrument::SamplingPlan plan;
  plan.base_hertz = 0;  // no lowest rate, so that it may overflow as often as it likes
  plan.share = 0;
  (void)store.start(0, plan, 0);
  instrument::SampleRecord record{};
  const auto run = [&] {
    const auto begin = cpu_seconds();
    for (std::uint64_t i = 0; i < samples; ++i) {
      record.tick = i;
      (void)store.store(record, 1000, 0, {});
    }
    return seconds_since(begin) * 1e9 / static_cast<double>(samples);
  };
  run();  // the kernel allocates each page at its first touch, once in a process
  return run();
}

struct Drop {
  double microseconds;
  std::uint32_t bins;
  std::uint64_t records;
};
Drop drop_half() {
  BinPool pool(instrument::kModelBudget, instrument::kModelBin);
  instrument::HierarchicalBuffer buffer(pool, PackClass::kSamples);
  buffer.open(0, instrument::HierarchicalBuffer::kMaxLevels);
  for (std::uint64_t n = 1; buffer.room(instrument::level_of(n), 48, n) != nullptr; ++n) {
  }
  const auto begin = cpu_seconds();
  const auto dropped = buffer.drop_lowest();
  return {seconds_since(begin) * 1e6, dropped.bins, dropped.records};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view argument = argc > 1 ? argv[1] : "figure6.svg";
  if (argument == "store") {
    fmt::print("{:.2f} ns\n", store_samples(1'000'000));
    return 0;
  }
  std::vector<double> stores, drops;
  Drop drop{};
  for (int i = 0; i < 9; ++i) {
    stores.push_back(store_samples(1'000'000));
    drop = drop_half();
    drops.push_back(drop.microseconds);
  }
  fmt::print("store one sample: {:.1f} ns\n", median(stores));
  fmt::print("drop half of 100 MB ({} bins, {} samples): {:.2f} us; published: 10 ms, a flush 500 ms\n", drop.bins,
             drop.records, median(drops));
  std::vector<bench::Panel> panels;
  for (const auto& scenario : instrument::kModelScenarios) {
    const auto begin = cpu_seconds();
    panels.push_back({scenario, instrument::run_model(scenario, 20)});
    const auto& result = panels.back().result;
    fmt::print("scenario {}: {} halvings, {} Hz at the end, MPI events {}; {:.2f} s for {} samples offered\n",
               scenario.name, result.halvings, result.hertz,
               result.mpi_removed == 0 ? std::string("kept")
                                       : fmt::format("aggregated after {:.1f} min", result.mpi_removed / 60),
               seconds_since(begin), result.offered);
  }
  if (!bench::draw_figure6(std::string(argument), panels)) {
    fmt::print(stderr, "Cannot write {}.\n", argument);
    return 1;
  }
  fmt::print("figure 6: {}\n", argument);
  fmt::print("bench: sample_store_ns={:.1f} drop_half_us={:.2f} drop_half_published_ratio={:.0f}\n", median(stores),
             median(drops), 10'000 / median(drops));
  return 0;
}
