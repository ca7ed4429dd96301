#include "knowledge_sources/plugins/waits/unreceived.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "knowledge_sources/calls/functions.hpp"

namespace ardoise::knowledge_sources {

void contribute_unreceived(const Messages& messages, const ProgramRanks& program, const Resolver& resolver,
                           std::vector<reports::UnreceivedMessages>& out) {
  struct Sent {
    std::uint64_t messages = 0;
    std::tuple<std::uint32_t, std::int32_t> least{0xFFFFFFFF, 0};  // rank and tag
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Sent> calls;  // by function and call site
  messages.for_each_send([&](const Channel& channel, const Part& part) {
    if (!program.has(part.rank)) return;
    Sent& sent = calls[{part.function, part.call_site}];
    ++sent.messages;
    sent.least = std::min(sent.least, std::tuple(part.rank - program.first, channel.tag));
  });
  for (const auto& [call, sent] : calls) {
    const Location& location = resolver.call_site(call.second);
    out.push_back({function_info(instrument::PackClass::kMpi, call.first).name, location.symbol, location.source_file,
                   location.line, location.module, location.offset, sent.messages, std::get<0>(sent.least),
                   std::get<1>(sent.least)});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &reports::UnreceivedMessages::messages);
}

}  // namespace ardoise::knowledge_sources
