#include "instrument/sampling/context_sender.hpp"

#include <algorithm>
#include <span>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

void ContextSender::send_call_sums(SampledThread& thread, bool beyond_budget) noexcept {
  for (;;) {
    Bin* const bin = beyond_budget ? recorder_.pool.take_beyond_budget(PackClass::kContextTotals)
                                   : recorder_.pool.take(PackClass::kContextTotals);
    if (bin == nullptr) return;
    const std::span room(reinterpret_cast<ContextTotalsRecord*>(bin->payload()),
                         recorder_.pool.payload_bytes() / sizeof(ContextTotalsRecord));
    const std::size_t count = thread.calls.drain(room);
    if (count == 0) return recorder_.pool.give(bin);
    bin->header.pack_class = static_cast<std::uint16_t>(PackClass::kContextTotals);
    bin->header.record_count = static_cast<std::uint32_t>(count);
    bin->header.payload_bytes = static_cast<std::uint32_t>(count * sizeof(ContextTotalsRecord));
    bin->header.thread = thread.number;
    recorder_.sender.submit(bin);
    if (count < room.size()) return;
  }
}

void ContextSender::send_contexts(SampledThread& thread, bool beyond_budget) {
  const MutexLock guard(thread.send_lock);
  while (thread.contexts_sent < thread.contexts.size()) {
    Bin* const bin = beyond_budget ? recorder_.pool.take_beyond_budget(PackClass::kContexts)
                                   : recorder_.pool.take(PackClass::kContexts);
    if (bin == nullptr) return;
    auto* const records = reinterpret_cast<ContextRecord*>(bin->payload());
    const std::size_t room = recorder_.pool.payload_bytes() / sizeof(ContextRecord);
    std::size_t count = 0;
    for (const std::uint32_t end = thread.contexts.size(); thread.contexts_sent < end && count < room; ++count) {
      const std::uint32_t context = thread.contexts_sent++;
      const CallingContexts::Node& node = thread.contexts.node(context);
      const CallSites::Place place = recorder_.call_sites.place_of(node.pc);
      records[count] = {context, node.parent, place.module, node.flags & CallingContexts::kLeaf, place.offset};
    }
    bin->header.pack_class = static_cast<std::uint16_t>(PackClass::kContexts);
    bin->header.record_count = static_cast<std::uint32_t>(count);
    bin->header.payload_bytes = static_cast<std::uint32_t>(count * sizeof(ContextRecord));
    bin->header.thread = thread.number;
    recorder_.sender.submit(bin);
  }
}

void ContextSender::define_totals(SampledThread& thread, std::uint64_t tick) {
  const auto value = [](const SamplerCounts::Counter& counter) { return counter.load(std::memory_order_relaxed); };
  const SamplerCounts& counts = thread.counts;
  // Read in this order: a sample in between is taken but not yet stored or lost, never the other way round.
  const std::uint64_t lost = value(counts.lost), stored_now = thread.recorder->samples.stored();
  const std::uint64_t taken = std::max(value(counts.taken), lost);
  const std::uint64_t stored = std::min(taken - lost, stored_now);
  const std::uint64_t cost = value(counts.handler_ticks) + value(counts.delivery_ticks);
  if (thread.rest_tick != 0) tick = thread.rest_tick;
  (void)recorder_.definitions.add(SamplerTotalsDefinition{thread.number, 0, counts.taken, stored,
                                                          counts.taken - counts.lost - stored, counts.partial,
                                                          counts.lost, cost, tick - thread.start_tick});
}

}  // namespace ardoise::instrument
