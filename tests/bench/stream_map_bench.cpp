// The cost of a map for one process: the three policies that are computed locally, at sizes beyond any test machine.
// The rival is the lower bound: writing the list of counterparts. stream.cmake builds it.
#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

#include "vmpi/streams/map_policy.hpp"

using namespace ardoise::vmpi;

namespace {

std::int64_t sink = 0;  // keeps results alive

template <typename Work>
double nanoseconds_each(int times, Work work) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) sink += work(i);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / times;
}

}  // namespace

int main() {
  const char* names[] = {"round-robin", "random", "fixed"};
  fmt::print("{:<12}{:>8}{:>9}{:>18}{:>18}{:>18}\n", "policy", "slaves", "masters", "ns per slave", "ns per master",
             "bare list, ns");
  for (const auto& [slaves, masters] : {std::pair{4096, 64}, {65536, 64}, {65536, 1024}}) {
    const int share = slaves / masters;
    const double bare = nanoseconds_each(masters, [&](int master) {
      std::vector<int> list(static_cast<std::size_t>(share));
      std::iota(list.begin(), list.end(), master);
      return list.back();
    });
    for (const auto policy : {MapPolicy::round_robin, MapPolicy::random, MapPolicy::fixed}) {
      const MapShape shape{slaves, masters, 1};
      const double slave = nanoseconds_each(slaves, [&](int s) { return master_of(policy, s, shape); });
      const double master = nanoseconds_each(masters, [&](int m) { return slaves_of(policy, m, shape).back(); });
      fmt::print("{:<12}{:>8}{:>9}{:>18.1f}{:>18.0f}{:>18.0f}\n", names[static_cast<int>(policy)], slaves, masters,
                 slave, master, bare);
      if (slaves == 4096)
        fmt::print("bench: map_ns_per_master={:.0f} policy={} slaves={} masters={}\n", master,
                   names[static_cast<int>(policy)], slaves, masters);
    }
  }
  return sink == 42 ? 1 : 0;
}
