#include "knowledge_sources/plugins/endings/rank_endings.hpp"

#include <span>
#include <variant>

namespace ardoise::knowledge_sources {

using instrument::RecentCall;
using instrument::StackFrame;

void RankEndings::add(std::uint32_t rank, const instrument::Definition& definition) {
  if (const auto* const end = std::get_if<instrument::DecodedEnd>(&definition)) {
    endings_[rank].end = end->fixed;
  } else if (const auto* const recent = std::get_if<instrument::DecodedRecentCalls>(&definition)) {
    endings_[rank].threads[recent->fixed.thread].calls.assign(recent->calls.begin(), recent->calls.end());
  } else if (const auto* const stack = std::get_if<instrument::DecodedStack>(&definition)) {
    ThreadEnding& thread = endings_[rank].threads[stack->fixed.thread];
    auto& frames = stack->fixed.of == instrument::StackOf::kEnd      ? thread.at_end
                   : stack->fixed.of == instrument::StackOf::kSample ? thread.sampled
                                                                     : thread.in_call;
    frames.assign(stack->frames.begin(), stack->frames.end());
  }
}

void RankEndings::merge(const RankEndings& other) {
  for (const auto& [rank, ending] : other.endings_) endings_.try_emplace(rank, ending);
}

void RankEndings::write(ByteWriter& out) const {
  out.put_count(endings_.size());
  for (const auto& [rank, ending] : endings_) {
    out.put(rank);
    out.put(static_cast<std::uint8_t>(ending.end.has_value()));
    if (ending.end) out.put(*ending.end);
    out.put_count(ending.threads.size());
    for (const auto& [number, thread] : ending.threads) {
      out.put(number);
      out.put_array(std::span<const RecentCall>(thread.calls));
      out.put_array(std::span<const StackFrame>(thread.in_call));
      out.put_array(std::span<const StackFrame>(thread.at_end));
      out.put_array(std::span<const StackFrame>(thread.sampled));
    }
  }
}

void RankEndings::read(ByteReader& in) {
  for (auto left = in.get_count(sizeof(std::uint32_t)); left != 0; --left) {
    const auto rank = in.get<std::uint32_t>();
    in.check(rank < ranks_, "has the end of a rank that does not exist");
    RankEnding& ending = endings_[rank];
    if (in.get<std::uint8_t>() != 0) ending.end = in.get<instrument::EndDefinition>();
    for (auto threads = in.get_count(sizeof(std::uint32_t)); threads != 0; --threads) {
      ThreadEnding& thread = ending.threads[in.get<std::uint32_t>()];
      thread.calls = in.get_array<RecentCall>();
      thread.in_call = in.get_array<StackFrame>();
      thread.at_end = in.get_array<StackFrame>();
      thread.sampled = in.get_array<StackFrame>();
    }
  }
}

}  // namespace ardoise::knowledge_sources
