#include "instrument/record/datatypes.hpp"

namespace ardoise::instrument {

std::uint32_t Datatypes::number(std::int64_t word) {
  {
    const MutexLock guard(lock_);
    if (const auto found = by_handle_.find(word); found != by_handle_.end()) return found->second;
  }
  const DatatypeFacts facts = describe_(word);
  if (facts.text.empty()) return kNone;
  const MutexLock guard(lock_);
  const bool is_known = by_text_.contains(facts.text);
  if (!is_known && by_text_.size() >= kMost) return kNone;
  const auto number = is_known ? by_text_.at(facts.text) : static_cast<std::uint32_t>(by_text_.size() + 1);
  if (!is_known) {
    if (!definitions_.add(DatatypeDefinition{number, 0, facts.size, facts.lower_bound, facts.extent}, facts.text))
      return kNone;
    by_text_.emplace(facts.text, number);
  }
  by_handle_.emplace(word, number);
  return number;
}

void Datatypes::forget_handles() {
  const MutexLock guard(lock_);
  by_handle_.clear();
}

}  // namespace ardoise::instrument
