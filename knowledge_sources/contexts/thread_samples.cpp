#include "knowledge_sources/contexts/thread_samples.hpp"

#include <span>

namespace ardoise::knowledge_sources {

namespace {

template <class Entry>
void read_list(ByteReader& in, std::vector<Entry>& list) {
  list = in.get_array<Entry>();
  in.check(is_summed_up(list), "lists contexts out of order");
}

}  // namespace

void ThreadSamples::merge(const ThreadSamples& other) {
  add_sums(contexts, other.contexts);
  add_sums(samples, other.samples);
  add_sums(counters, other.counters);
  add_sums(calls, other.calls);
}

void ThreadSamples::write(ByteWriter& out) const {
  out.put(thread);
  out.put_array(std::span<const ContextEntry>(contexts));
  out.put_array(std::span<const SampleSums>(samples));
  out.put_array(std::span<const CounterSums>(counters));
  out.put_array(std::span<const ContextCallSums>(calls));
}

void ThreadSamples::read(ByteReader& in) {
  thread = in.get<std::uint32_t>();
  read_list(in, contexts);
  read_list(in, samples);
  read_list(in, counters);
  read_list(in, calls);
}

std::vector<ContextEntry> entries_of(std::span<const instrument::ContextRecord> records) {
  std::vector<ContextEntry> entries;
  entries.reserve(records.size());
  for (const auto& record : records) {
    if (record.context == 0) continue;  // the root
    entries.push_back({record.context, record.parent, record.module, record.flags, record.offset});
  }
  sum_up(entries);
  return entries;
}

ThreadSamples& SampledRanks::of(std::uint32_t rank, std::uint32_t thread) {
  auto& threads = ranks_[rank];
  auto place = std::ranges::lower_bound(threads, thread, {}, &ThreadSamples::thread);
  if (place == threads.end() || place->thread != thread) {
    place = threads.insert(place, ThreadSamples{});
    place->thread = thread;
  }
  return *place;
}

void SampledRanks::merge(const SampledRanks& other) {
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    for (const ThreadSamples& thread : other.ranks_[rank]) of(rank, thread.thread).merge(thread);
  }
}

void SampledRanks::write(ByteWriter& out) const {
  out.put_count(ranks_.size());
  for (const auto& threads : ranks_) {
    out.put_count(threads.size());
    for (const ThreadSamples& thread : threads) thread.write(out);
  }
}

void SampledRanks::read(ByteReader& in) {
  in.check(in.get_count(sizeof(std::uint64_t)) == ranks_.size(), "belongs to a program with another number of ranks");
  for (auto& threads : ranks_) {
    threads.resize(in.get_count(sizeof(std::uint32_t) + 4 * sizeof(std::uint64_t)));
    for (ThreadSamples& thread : threads) thread.read(in);
    in.check(std::ranges::adjacent_find(threads, std::greater_equal{}, &ThreadSamples::thread) == threads.end(),
             "lists threads out of order");
  }
}

}  // namespace ardoise::knowledge_sources
