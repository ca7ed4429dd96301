// See call_contexts.hpp.
#include "instrument/sampling/call_contexts.hpp"

#include <algorithm>

namespace ardoise::instrument {

// Writes down what a walk depends on, from `first` on.
class CallContexts::Recording final : public WalkWitness {
 public:
  explicit Recording(Witness* first) : first_(first) {}
  void depends_on(std::uint64_t address, std::uint64_t value) noexcept override {
    if (count_ < kWitnessesPerEntry) first_[count_++] = {address, value};
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  Witness* const first_;
  std::uint32_t count_ = 0;
};

void CallContexts::put_out(Entry& entry) noexcept {
  const CallSums sums = entry.sums;
  entry.sums = {};
  if (sums.calls == 0 && sums.bytes_received == 0) return;
  const PackClass record_class = entry.function > kPosixCalls ? PackClass::kPosix : PackClass::kMpi;
  const auto function = static_cast<std::uint16_t>(entry.function - 1);
  // Two entries often have one context: different stack pointers. Looked for among the latest only.
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

std::uint32_t CallContexts::add_new(const ObservedFrame& frame, const CallSums& sums, const StackBounds& stack,
                                    Unwinder& unwinder, CallingContexts& contexts,
                                    python::Interpreter::Scratch* scratch) noexcept {
  if (used_witnesses_ + kWitnessesPerEntry > kWitnesses) {
    // All entries lose their witnesses at once: simpler than a free list, and as rare as the table is too small.
    used_witnesses_ = 0;
    forget();
  }
  Recording recording(&witnesses_[used_witnesses_]);
  const WalkResult walk = unwinder.walk(frame.registers, stack, frames_, &recording);
  // The wrapper's own frames are not the program's.
  const auto end = frames_.begin() + static_cast<std::ptrdiff_t>(walk.frames);
  const auto call = std::find(frames_.begin(), end, frame.return_address);
  const std::array alone{frame.return_address};
  std::span<const std::uint64_t> path = alone;
  if (call != end) path = {call, end};
  if (frame.python != 0 && scratch != nullptr) {
    python::Interpreter* const interpreter = python::interpreter.load(std::memory_order_acquire);
    path = interpreter->merge(path, *scratch, frame.function <= kPosixCalls).frames;
  }
  const std::uint32_t context = contexts.find_or_add(path, 0).context;

  Entry& entry = entries_[index(frame)];
  if (entry.context != context || entry.function != frame.function) {
    if (entry.function != 0) put_out(entry);
    entry.sums = {};
  }
  entry.return_address = frame.return_address;
  entry.pc = frame.registers.pc;
  entry.sp = frame.registers.sp;
  entry.rbp = frame.registers.rbp;
  entry.rbx = frame.registers.rbx;
  entry.python = frame.python;
  entry.generation = generation_.load(std::memory_order_relaxed);
  entry.first = used_witnesses_;
  entry.count = recording.count() | (walk.used_rbp ? kUsedRbp : 0) | (walk.used_rbx ? kUsedRbx : 0);
  entry.context = context;
  entry.function = frame.function;
  used_witnesses_ += recording.count();
  add(entry, sums);
  return context;
}

void CallContexts::add_unknown(const ObservedFrame& frame, const CallSums& sums) noexcept {
  Entry& entry = entries_[index(frame)];
  if (entry.context != 0 || entry.function != frame.function) {
    if (entry.function != 0) put_out(entry);
    entry = {};
    entry.function = frame.function;  // generation 0: never found
  }
  add(entry, sums);
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
