#include "knowledge_sources/plugins/snapshots/program_watch.hpp"

#include <chrono>
#include <span>
#include <utility>

namespace ardoise::knowledge_sources {

ProgramWatch::Conditions::Conditions(const std::vector<std::string>& all, bool of_program) {
  for (std::uint32_t number = 0; number < all.size(); ++number) {
    Condition condition(all[number]);
    if (condition.is_of_program() != of_program) continue;
    conditions.push_back(std::move(condition));
    numbers.push_back(number);
  }
}

ProgramWatch::ProgramWatch(const AnalysisContext& context)
    : level_(context.level),
      partition_(context.partition),
      of_ranks_(context.snapshots.watched, false),
      of_program_(context.snapshots.watched, true),
      becomes_true_(context.snapshots.becomes_true),
      balances_(context.ranks, of_program_.conditions,
                [this, tell = context.snapshots.becomes_true_of_program](std::size_t condition,
                                                                         std::span<const std::uint32_t> differing) {
                  tell(of_program_.numbers[condition], partition_, differing);
                }),
      load_{balances_.names(),
            [this](const Load& load) {
              if (loads_.is_own(key_)) return add(load);
              loads_.send(key_, load);
            }},
      key_(std::hash<std::string>()(context.level)) {}

void ProgramWatch::attach(LevelSources& sources) {
  loads_.attach(sources, "loads", level_, [this](const Load& load) { add(load); });
}

Watch ProgramWatch::of_rank(std::uint32_t rank) {
  return {of_ranks_.conditions,
          [this, rank](std::uint32_t condition) { becomes_true_(of_ranks_.numbers[condition], partition_, rank); },
          balances_.names().empty() ? nullptr : &load_};
}

void ProgramWatch::add(const Load& load) {
  const std::scoped_lock guard(mutex_);
  balances_.add(load);
}

void ProgramWatch::send() {
  constexpr std::int64_t kOften = 50'000'000;
  if (balances_.names().empty()) return;
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  if (now - sent_.load(std::memory_order_relaxed) < kOften) return;
  sent_.store(now, std::memory_order_relaxed);
  loads_.flush();
}

}  // namespace ardoise::knowledge_sources
