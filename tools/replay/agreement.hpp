// Agreement of the processes of a replay before it begins, so that none waits for a message or collective that never
// comes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/replay/archive_world.hpp"
#include "tools/replay/script_compiler.hpp"

namespace ardoise::replay {

struct Agreement {
  // Limits for channels whose ends have different numbers of messages.
  std::map<Channel, std::uint64_t> most_sends, most_receives;
  std::uint64_t left_out = 0;  // ends of messages of this process
  std::string example;         // a channel, or ""
};

// Collective over MPI_COMM_WORLD. Throws ReplayError in all processes if members of a communicator have different
// numbers of its collectives.
[[nodiscard]] Agreement agree(const ArchiveWorld& world, std::int32_t rank, const ScriptSummary& summary);

// Collective. Throws the first error of any process in all of them.
void agree_on_errors(const std::string& error);

}  // namespace ardoise::replay
