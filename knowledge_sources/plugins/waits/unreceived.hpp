// Messages that were not received by the end of the run.
#pragma once

#include <vector>

#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/plugins/waits/messages.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// Messages sent by ranks of the program. messages: of all ranks, with all of their receives.
void contribute_unreceived(const Messages& messages, const ProgramRanks& program, const Resolver& resolver,
                           std::vector<reports::UnreceivedMessages>& out);

}  // namespace ardoise::knowledge_sources
