// What the processes of a replay tell each other before they begin, so that none waits for what does not come.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/replay/archive_world.hpp"
#include "tools/replay/script_compiler.hpp"

namespace ardoise::replay {

struct Agreement {
  // Of channels whose ends do not have as many messages: so many are sent and received.
  std::map<Channel, std::uint64_t> most_sends, most_receives;
  std::uint64_t left_out = 0;  // ends of messages of this process
  std::string example;         // of a channel, or ""
};

// Collective over MPI_COMM_WORLD. Throws ReplayError in all processes where members of a communicator take part in
// different numbers of its collectives.
[[nodiscard]] Agreement agree(const ArchiveWorld& world, std::int32_t rank, const ScriptSummary& summary);

// Collective. An error of any process is thrown in all of them: that of the first one.
void agree_on_errors(const std::string& error);

}  // namespace ardoise::replay
