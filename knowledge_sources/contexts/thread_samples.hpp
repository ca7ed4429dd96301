// Samples of one thread of one rank: its calling contexts, sums of samples for each, and exact sums of the MPI and
// POSIX calls made from each. The thread numbers its contexts itself; context_tree.hpp resolves them at the end.
// Memory: about 24 bytes for each context and 56 for each sampled place in it; constant over time.
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

// Of SampleKey::flags: not a sample, but kernel time that came with it. In context 0 it belongs to no known function:
// to MPI or POSIX calls, or to code between them.
inline constexpr std::uint32_t kKernelPart = 256;

// The key by which samples are grouped: place (context, and offset of the instruction from its address), call (number +
// 1, 0: none), and kind of sample (SampleFlags, kKernelPart).
struct SampleKey {
  std::uint32_t context, pc_offset, function, flags;
  friend constexpr auto operator<=>(const SampleKey&, const SampleKey&) = default;
};

// Flags that separate samples; context_tree.cpp interprets them for the stack.
inline constexpr std::uint8_t kStackFlags = instrument::kPartialUnwind | instrument::kInsideTool |
                                            instrument::kTruncatedContext | instrument::kPosixCall |
                                            instrument::kTimerInterrupt;
// The position of samples inside MPI is dropped: fewer entries.
[[nodiscard]] constexpr SampleKey key_of(const instrument::SampleRecord& record) {
  return {record.context, record.function == 0 ? record.pc_offset : 0, record.function,
          static_cast<std::uint32_t>(record.flags & kStackFlags)};
}

struct SampleSums {
  SampleKey key;
  std::uint64_t samples;
  std::uint64_t weight;   // ns or events: the sample's weight times that of its pack
  std::uint64_t squares;  // sum of the squared weights
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
// A received context. If two contradict each other, the smaller is kept, whatever the order.
struct ContextEntry {
  std::uint32_t key;  // its number
  std::uint32_t parent, module, flags;
  std::uint64_t offset;
  void add(const ContextEntry& other) {
    if (other < *this) *this = other;
  }
  friend constexpr auto operator<=>(const ContextEntry&, const ContextEntry&) = default;
};

// Sums of the records.
[[nodiscard]] std::vector<ContextEntry> entries_of(std::span<const instrument::ContextRecord> records);

struct ThreadSamples {
  std::uint32_t thread = 0;
  std::vector<ContextEntry> contexts;  // all four are summed up
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

  // Created if needed; the caller holds the rank's lock.
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
