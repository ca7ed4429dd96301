// What was sampled in one thread of one rank: its calling contexts, sums of samples for each, and exact sums of the MPI
// and POSIX calls made from each. Numbers of contexts are the thread's own; context_tree.hpp gives them their meaning
// at the end. Memory: about 24 bytes a context and 56 for each place in it that was met; it doesn't grow with time.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/sorted_sums.hpp"

namespace ardoise::knowledge_sources {

__extension__ using Wide = unsigned __int128;

// Of SampleKey::flags: no sample, but the time in the kernel that came with it. In context 0 it is nobody's: MPI or
// POSIX calls may have used it, or what lies between them.
inline constexpr std::uint32_t kKernelPart = 256;

// Which samples belong together: where (context, and distance of the instruction from its address), in which call
// (number + 1, 0: none), and what kind of sample (SampleFlags, kKernelPart).
struct SampleKey {
  std::uint32_t context, pc_offset, function, flags;
  friend constexpr auto operator<=>(const SampleKey&, const SampleKey&) = default;
};

// Flags by which samples are told apart; what they mean for the stack is in context_tree.cpp.
inline constexpr std::uint8_t kStackFlags = instrument::kPartialUnwind | instrument::kInsideTool |
                                            instrument::kTruncatedContext | instrument::kPosixCall |
                                            instrument::kTimerInterrupt;
// Where in MPI a sample fell is not shown: fewer entries.
[[nodiscard]] constexpr SampleKey key_of(const instrument::SampleRecord& record) {
  return {record.context, record.function == 0 ? record.pc_offset : 0, record.function,
          static_cast<std::uint32_t>(record.flags & kStackFlags)};
}

struct SampleSums {
  SampleKey key;
  std::uint64_t samples;
  std::uint64_t weight;   // ns or events: the sample's own times that of its pack
  std::uint64_t squares;  // sum of the squared weights …
  std::uint64_t squares_high;
  void add(const SampleSums& more) {
    samples += more.samples;
    weight += more.weight;
    const Wide sum = wide_squares() + more.wide_squares();
    squares = static_cast<std::uint64_t>(sum);
    squares_high = static_cast<std::uint64_t>(sum >> 64);
  }
  [[nodiscard]] Wide wide_squares() const { return static_cast<Wide>(squares_high) << 64 | squares; }
  [[nodiscard]] static SampleSums one(const SampleKey& key, std::uint64_t weight) {
    const Wide square = static_cast<Wide>(weight) * weight;
    const std::uint64_t samples = (key.flags & kKernelPart) != 0 ? 0 : 1;
    return {key, samples, weight, static_cast<std::uint64_t>(square), static_cast<std::uint64_t>(square >> 64)};
  }
};

struct CounterSums {
  SampleKey key;
  std::array<std::uint64_t, instrument::kMaxCounters> values;
  void add(const CounterSums& more) {
    for (std::size_t i = 0; i < instrument::kMaxCounters; ++i) values[i] += more.values[i];
  }
};

// Calls of one function from one context.
struct CallKey {
  std::uint32_t context;
  std::uint16_t record_class, function;
  friend constexpr auto operator<=>(const CallKey&, const CallKey&) = default;
};
struct ContextCallSums {
  CallKey key;
  std::uint64_t calls, ticks, bytes_sent, bytes_received;
  void add(const ContextCallSums& more) {
    calls += more.calls;
    ticks += more.ticks;
    bytes_sent += more.bytes_sent;
    bytes_received += more.bytes_received;
  }
};
// A context as it came. Of two that contradict each other the smaller one is kept, whichever comes first.
struct ContextEntry {
  std::uint32_t key;  // its number
  std::uint32_t parent, module, flags;
  std::uint64_t offset;
  void add(const ContextEntry& other) {
    if (other < *this) *this = other;
  }
  friend constexpr auto operator<=>(const ContextEntry&, const ContextEntry&) = default;
};

// Summed up.
[[nodiscard]] std::vector<ContextEntry> entries_of(std::span<const instrument::ContextRecord> records);

struct ThreadSamples {
  std::uint32_t thread = 0;
  std::vector<ContextEntry> contexts;  // all four summed up
  std::vector<SampleSums> samples;
  std::vector<CounterSums> counters;  // empty where there are none
  std::vector<ContextCallSums> calls;

  void merge(const ThreadSamples& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);
};

// All threads of all ranks.
class SampledRanks {
 public:
  explicit SampledRanks(std::uint32_t ranks) : ranks_(ranks) {}

  // A new one if need be; the caller holds the rank's lock.
  [[nodiscard]] ThreadSamples& of(std::uint32_t rank, std::uint32_t thread);
  [[nodiscard]] const std::vector<ThreadSamples>& of(std::uint32_t rank) const { return ranks_[rank]; }  // by thread
  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(ranks_.size()); }

  void merge(const SampledRanks& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);

 private:
  std::vector<std::vector<ThreadSamples>> ranks_;
};

}  // namespace ardoise::knowledge_sources
