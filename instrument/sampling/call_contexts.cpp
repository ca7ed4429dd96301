#include "instrument/sampling/call_contexts.hpp"

#include <algorithm>

namespace ardoise::instrument {

void CallContexts::put_out(Entry& entry) noexcept {
  const CallSums sums = entry.sums;
  entry.sums = {};
  if (sums.calls == 0 && sums.bytes_received == 0) return;
  const PackClass record_class = entry.function > kPosixCalls ? PackClass::kPosix : PackClass::kMpi;
  const auto function = static_cast<std::uint16_t>(entry.function - 1);
  // Two entries often have one context, with different stack pointers. Only the latest are searched.
  const std::size_t from = evicted_count_ > 8 ? evicted_count_ - 8 : 0;
  const std::span recent(evicted_.data() + from, evicted_count_ - from);
  const auto same = std::find_if(recent.begin(), recent.end(), [&](const ContextTotalsRecord& record) {
    return record.context == entry.context && record.function == function &&
           record.record_class == static_cast<std::uint16_t>(record_class);
  });
  ContextTotalsRecord* record = same != recent.end() ? &*same : nullptr;
  if (record == nullptr) {
    record = &evicted_[evicted_count_++];
    *record = {entry.context, static_cast<std::uint16_t>(record_class), function, 0, 0, 0, 0};
  }
  record->calls += sums.calls;
  record->ticks += sums.ticks;
  record->bytes_sent += sums.bytes_sent;
  record->bytes_received += sums.bytes_received;
}

void CallContexts::remove(std::uint32_t place) noexcept {
  Entry& entry = entries_[place];
  if (entry.function == 0) return;
  std::uint32_t* link = &chains_[entry.chain];
  while (*link != place + 1) link = &entries_[*link - 1].next;
  *link = entry.next;
  put_out(entry);
  entry.function = 0;
}

CallContexts::Entry& CallContexts::make(const ObservedFrame& frame) noexcept {
  const std::uint32_t place = next_entry_;
  next_entry_ = (next_entry_ + 1) % kEntries;
  remove(place);
  Entry& entry = entries_[place];
  entry = {};
  entry.function = frame.function;
  entry.chain = chain_of(frame);
  entry.next = chains_[entry.chain];
  chains_[entry.chain] = place + 1;
  return entry;
}

std::uint32_t CallContexts::context_of_trail(const ObservedFrame& frame, CallingContexts& contexts,
                                             python::Interpreter::Scratch* scratch) noexcept {
  // The wrapper's own frames do not belong to the program.
  std::size_t call = 0;
  while (call < trail_.size() && (trail_.level(call).is_hidden || trail_.level(call).pc != frame.return_address))
    ++call;
  if (call == trail_.size()) return contexts.find_or_add(std::array{frame.return_address}, 0).context;

  const bool is_python = frame.python != 0 && scratch != nullptr;
  // The contexts of outer levels are known from the last walk, unless the path begins elsewhere.
  std::size_t known = call;
  while (known < trail_.size() && trail_.level(known).context == TrailLevel::kNoContext) ++known;
  if (!is_python && !trail_.is_cut()) {
    std::uint32_t context = known == trail_.size() ? 0 : trail_.level(known).context;
    bool has_room = true;
    for (std::size_t number = known; number-- > call && has_room;) {
      TrailLevel& level = trail_.level(number);
      if (!level.is_hidden) {
        const std::uint32_t child = contexts.child_of(context, level.pc);
        has_room = child != 0;
        if (!has_room) break;
        context = child;
      }
      level.context = context;
    }
    return context;
  }
  std::size_t count = 0;
  for (std::size_t number = call; number < trail_.size(); ++number) {
    if (!trail_.level(number).is_hidden) frames_[count++] = trail_.level(number).pc;
  }
  std::span<const std::uint64_t> path(frames_.data(), count);
  if (is_python) {
    python::Interpreter* const interpreter = python::interpreter.load(std::memory_order_acquire);
    path = interpreter->merge(path, *scratch, frame.function <= kPosixCalls).frames;
  }
  return contexts.find_or_add(path, 0).context;
}

std::uint32_t CallContexts::add_new(const ObservedFrame& frame, const CallSums& sums, const StackBounds& stack,
                                    Unwinder& unwinder, CallingContexts& contexts,
                                    python::Interpreter::Scratch* scratch) noexcept {
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (std::exchange(trail_generation_, generation) != generation) trail_.clear();
  (void)unwinder.walk(frame.registers, stack, trail_);
  const std::uint32_t context = context_of_trail(frame, contexts, scratch);

  Entry& entry = make(frame);
  // The witnesses of one entry are contiguous.
  const std::size_t offset = used_witnesses_ % kWitnesses;
  if (offset + kWitnessesPerEntry > kWitnesses) used_witnesses_ += kWitnesses - offset;
  entry.first = used_witnesses_;
  Witness* const first = &witnesses_[entry.first % kWitnesses];
  std::uint32_t count = 0;
  trail_.dependencies([&](std::uint64_t address, std::uint64_t value) {
    first[count] = {address, value};
    return ++count < kWitnessesPerEntry;
  });
  used_witnesses_ += count;
  entry.return_address = frame.return_address;
  entry.pc = frame.registers.pc;
  entry.sp = frame.registers.sp;
  entry.rbp = frame.registers.rbp;
  entry.rbx = frame.registers.rbx;
  entry.python = frame.python;
  entry.generation = generation;
  entry.count = count;
  if (trail_.size() != 0) {
    const TrailLevel& wrapper = trail_.level(0);
    entry.count |= (wrapper.needs_rbp ? kUsedRbp : 0) | (wrapper.needs_rbx ? kUsedRbx : 0);
  }
  entry.context = context;
  add(entry, sums);
  return context;
}

void CallContexts::add_unknown(const ObservedFrame& frame, const CallSums& sums) noexcept {
  std::uint32_t link = chains_[chain_of(frame)];
  for (std::uint32_t looks = 0; link != 0 && looks < kLongestSearch; ++looks) {
    Entry& entry = entries_[link - 1];
    if (entry.generation == 0 && entry.function == frame.function) return add(entry, sums);
    link = entry.next;
  }
  add(make(frame), sums);  // generation 0, context 0
}

std::size_t CallContexts::drain(std::span<ContextTotalsRecord> records) noexcept {
  std::size_t count = 0;
  const auto hand_out = [&] {
    const std::size_t more = std::min(evicted_count_, records.size() - count);
    std::copy_n(evicted_.begin(), more, records.begin() + static_cast<std::ptrdiff_t>(count));
    std::copy(evicted_.begin() + static_cast<std::ptrdiff_t>(more),
              evicted_.begin() + static_cast<std::ptrdiff_t>(evicted_count_), evicted_.begin());
    evicted_count_ -= more;
    count += more;
  };
  hand_out();
  for (Entry& entry : entries_) {
    if (count == records.size()) return count;
    if (entry.function == 0) continue;
    put_out(entry);
    hand_out();
  }
  return count;
}

}  // namespace ardoise::instrument
