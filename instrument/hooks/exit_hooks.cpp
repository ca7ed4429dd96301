// Hooks of the direct exits of a process; exit() runs a handler of preload.cpp.
#include "instrument/hooks/real_function.hpp"
#include "instrument/process/ending/end_note.hpp"

namespace ardoise::instrument {

ARDOISE_HOOK(void, _exit, int status) {
  note_exit(EndCause::kImmediate, status);
  real__exit(status);
}
ARDOISE_HOOK(void, _Exit, int status) {
  note_exit(EndCause::kImmediate, status);
  real__Exit(status);
}

}  // namespace ardoise::instrument
