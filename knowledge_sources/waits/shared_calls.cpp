// See shared_calls.hpp.
#include "knowledge_sources/waits/shared_calls.hpp"

#include <tuple>

namespace ardoise::knowledge_sources {
namespace {

// Of equal ones always the same, in whatever order they become known.
bool is_greater(const Wait& wait, const Wait& other) {
  return std::tuple(wait.ns, other.awaited, other.pattern) > std::tuple(other.ns, wait.awaited, wait.pattern);
}

}  // namespace

std::optional<Wait> SharedCalls::add(const Wait& wait, std::uint32_t known) {
  auto place = calls_.find(key(wait));
  if (place == calls_.end()) {
    if (calls_.size() >= kMostCalls) return std::nullopt;
    place = calls_.emplace(key(wait), Call{wait, 0}).first;
  }
  Call& call = place->second;
  call.known += known;
  if (is_greater(wait, call.greatest)) call.greatest = wait;
  if (call.known < wait.operations) return std::nullopt;
  const Wait greatest = call.greatest;
  calls_.erase(place);
  return greatest;
}

void SharedCalls::write(ByteWriter& out) const {
  out.put_count(calls_.size());
  for (const auto& [key, call] : calls_) out.put(call);
}

void SharedCalls::read(ByteReader& in, std::uint32_t ranks) {
  for (auto left = in.get_count(sizeof(Call)); left != 0; --left) {
    const Call call = in.get<Call>();
    in.check(call.greatest.waiter < ranks && (call.greatest.awaited < ranks || call.greatest.awaited == kNobody) &&
                 static_cast<std::size_t>(call.greatest.pattern) < kWaitPatterns,
             "has a wait of a rank or pattern that is not there");
    calls_.emplace(key(call.greatest), call);
  }
}

}  // namespace ardoise::knowledge_sources
