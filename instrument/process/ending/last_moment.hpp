// What a process that has died tells of its last moment: how it ended, the last calls of each thread, the call that it
// was in and where. By the survivor, when all threads have died; the recorder's locks are free (force_unlock()).
#pragma once

#include <cstdint>

#include "instrument/process/ending/end_note.hpp"
#include "instrument/process/session/session.hpp"

namespace ardoise::instrument {

// Queues the definitions. wait_status: as waitpid(2) gives it, -1: not known. tick: of now.
void define_last_moment(Session& of, const EndNote& note, int wait_status, std::uint64_t tick);

}  // namespace ardoise::instrument
