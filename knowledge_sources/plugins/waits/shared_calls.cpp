#include "knowledge_sources/plugins/waits/shared_calls.hpp"

#include <tuple>

namespace ardoise::knowledge_sources {
namespace {

// When a rank exchanges messages with a late one, its send and its receive both wait, and the longer wait is random:
// then it counts as a late sender.
constexpr double kAsLong = 0.95;

double weight_of(const Wait& wait) {
  return static_cast<double>(wait.ns) / (wait.pattern == WaitPattern::kLateSender ? kAsLong : 1);
}

// A deterministic choice among equal ones, whatever the order of arrival.
bool is_greater(const Wait& wait, const Wait& other) {
  return std::tuple(weight_of(wait), wait.ns, other.awaited, other.pattern) >
         std::tuple(weight_of(other), other.ns, wait.awaited, wait.pattern);
}

}  // namespace

std::optional<Wait> SharedCalls::add(const Wait& wait, std::uint32_t known) {
  Call* call = calls_.find(key(wait));
  if (call == nullptr) {
    if (calls_.size() >= kMostCalls) return std::nullopt;
    call = calls_.insert(key(wait), Call{wait, 0}).first;
  }
  call->known += known;
  if (is_greater(wait, call->greatest)) call->greatest = wait;
  if (call->known < wait.operations) return std::nullopt;
  const Wait greatest = call->greatest;
  calls_.erase(call);
  return greatest;
}

void SharedCalls::write(ByteWriter& out) const {
  out.put_count(calls_.size());
  calls_.for_each([&](std::uint64_t, const Call& call) { out.put(call); });
}

void SharedCalls::read(ByteReader& in, std::uint32_t ranks) {
  for (auto left = in.get_count(sizeof(Call)); left != 0; --left) {
    const Call call = in.get<Call>();
    in.check(call.greatest.waiter < ranks && (call.greatest.awaited < ranks || call.greatest.awaited == kNobody) &&
                 static_cast<std::size_t>(call.greatest.pattern) < kWaitPatterns,
             "has a wait of a rank or pattern that does not exist");
    (void)calls_.insert(key(call.greatest), call);
  }
}

}  // namespace ardoise::knowledge_sources
