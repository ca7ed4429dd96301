// The time of one thread in regions of its program: exact, by calling context, as samples whose weights are that time.
// Time in MPI and I/O calls belongs to the calling region. Also the thread's calls by context, including those of
// threads without region times.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/packs/made_packs.hpp"
#include "knowledge_sources/otf2/packs/traced_program.hpp"

namespace ardoise::knowledge_sources {

// A thread's calling contexts: places, each with a caller. Not thread safe.
class TracedContexts {
 public:
  static constexpr std::uint32_t kMost = 1u << 20;  // beyond it, a callee is merged into its caller

  // 0: the root.
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, CodePlace place);
  // Sends contexts that have not been sent.
  void send(MadePacks& packs, std::uint32_t thread);

 private:
  struct Key {
    std::uint32_t parent, code, line;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return ((std::uint64_t{key.parent} << 32 | key.code) ^ (std::uint64_t{key.line} << 21)) * 0x9E3779B97F4A7C15u;
    }
  };
  std::unordered_map<Key, std::uint32_t, Hash> numbers_;
  std::vector<instrument::ContextRecord> new_;
};

// Function keys: MPI function + 1, or an I/O function with kPosixFunction.
inline constexpr std::uint32_t kPosixFunction = 1u << 16;

// Sums of a thread's calls. Not thread safe.
class ContextCalls {
 public:
  // context: 0 is unknown, and not counted.
  void add(std::uint32_t context, std::uint32_t function, std::uint64_t ticks, std::uint64_t sent,
           std::uint64_t received);
  // Sends the sums since the last call. Their contexts have been sent.
  void send(MadePacks& packs, std::uint32_t thread);

 private:
  std::unordered_map<std::uint64_t, instrument::ContextTotalsRecord> sums_;  // by function and context
};

class RegionTime {
 public:
  // ns_per_tick: of the program's ticks; span: ticks, the interval of sending. counts: whether time counts at all; call
  // pass() before it changes.
  RegionTime(TracedContexts& contexts, double ns_per_tick, std::uint64_t span, const bool& counts)
      : contexts_(contexts), ns_per_tick_(ns_per_tick), span_(span), counts_(counts) {}

  void enter(std::uint64_t tick, CodePlace region) {
    pass(tick);
    outer_.push_back(context_);
    context_ = contexts_.child(context_, region);
  }
  void leave(std::uint64_t tick) {
    if (outer_.empty()) return;
    pass(tick);
    context_ = outer_.back();
    outer_.pop_back();
  }
  void begin_call(std::uint64_t tick, std::uint32_t function) {
    pass(tick);
    function_ = function;
  }
  void end_call(std::uint64_t tick) {
    pass(tick);
    function_ = 0;
  }
  [[nodiscard]] std::uint32_t context() const { return context_; }  // 0: none
  // Adds the time up to the tick to the current context.
  void pass(std::uint64_t tick) {
    if (counts_ && context_ != 0 && tick > last_) times_[std::uint64_t{function_} << 32 | context_] += tick - last_;
    last_ = std::max(last_, tick);
  }
  // False: too early to send.
  [[nodiscard]] bool is_due(std::uint64_t tick) const { return !times_.empty() && tick >= told_ + span_; }
  void send(MadePacks& packs, std::uint32_t thread);

 private:
  TracedContexts& contexts_;
  const double ns_per_tick_;
  const std::uint64_t span_;
  const bool& counts_;
  std::vector<std::uint32_t> outer_;
  std::uint32_t context_ = 0, function_ = 0;
  std::uint64_t last_ = 0, told_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> times_;  // ticks, by function and context
  std::unordered_map<std::uint64_t, double> rests_;         // unsent fractions in ns, by function and context
};

}  // namespace ardoise::knowledge_sources
