// Vector clock of a thread: for each thread, the number of its choices that happened before. For causal_order.hpp.
//
// Counts only events that decide races: receives and probes with MPI_ANY_SOURCE, and posts in processes with several
// threads. So a program has one component for each thread that chooses: a master with a thousand workers has one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ardoise::launcher {

inline constexpr std::uint32_t kNoComponent = UINT32_MAX;

// Copies share their values until one of them changes. A message in flight costs only a pointer if its sender has
// learned nothing since its previous message. Not thread safe, nor are copies.
class VectorClock {
 public:
  // Components that were never set are 0.
  [[nodiscard]] std::uint32_t at(std::size_t component) const {
    return values_ != nullptr && component < values_->size() ? (*values_)[component] : 0;
  }
  void set(std::size_t component, std::uint32_t value) { own(component + 1)[component] = value; }
  // Takes the maximum of each component.
  void join(const VectorClock& other) {
    if (other.values_ == values_ || other <= *this) return;
    if (*this <= other) {
      values_ = other.values_;
      return;
    }
    const auto& theirs = *other.values_;
    auto& values = own(theirs.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) values[i] = std::max(values[i], theirs[i]);
  }

 private:
  using Values = std::vector<std::uint32_t>;
  friend bool operator<=(const VectorClock& a, const VectorClock& b) {
    if (a.values_ == nullptr) return true;
    for (std::size_t i = 0; i < a.values_->size(); ++i) {
      if ((*a.values_)[i] > b.at(i)) return false;
    }
    return true;
  }
  // Makes the values unshared, with at least `least` components.
  Values& own(std::size_t least) {
    if (values_ == nullptr) {
      values_ = std::make_shared<Values>(least);
    } else if (values_.use_count() > 1) {
      values_ = std::make_shared<Values>(*values_);
    }
    if (values_->size() < least) values_->resize(least);
    return *values_;
  }

  std::shared_ptr<Values> values_;
};

// The post of a receive, or the probe that chose its message.
struct CausalPoint {
  bool is_probe = false, is_reached = false;
  std::uint32_t component = kNoComponent, number = 0;  // number among the thread's choices; kNoComponent: not needed
  VectorClock clock;
  std::optional<std::uint64_t> waiting;  // the location whose receive waits for it
};

}  // namespace ardoise::launcher
