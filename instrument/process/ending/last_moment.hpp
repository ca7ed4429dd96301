// Describes the last moment of a dead process: its end, the last calls of each thread, and the open call with its
// stack. Called by the survivor when all threads are dead and the recorder's locks are free (force_unlock()).
#pragma once

#include <cstdint>

#include "instrument/process/ending/end_note.hpp"
#include "instrument/process/session/session.hpp"

namespace ardoise::instrument {

// Queues the definitions. wait_status: in the format of waitpid(2), -1: not known. tick: the present.
void define_last_moment(Session& of, const EndNote& note, int wait_status, std::uint64_t tick);

}  // namespace ardoise::instrument
