// The function behind api/ardoise.h, .F90 and .py, for programs that run under this library.
#include <bit>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <string_view>

#include "instrument/machine/vfork_child.hpp"
#include "instrument/process/session/session.hpp"

// kind: a MarkKind. number: for kSnapshot; x: for kValue. Must not be called from signal handlers; a call from one that
// interrupts this library counts as dropped.
extern "C" __attribute__((visibility("default"))) void ardoise_mark(int kind, const char* name, long long number,
                                                                    double x) {
  using namespace ardoise::instrument;
  Session* const current = session.load(std::memory_order_acquire);
  if (current == nullptr || name == nullptr || is_vfork_child()) return;
  if (kind < static_cast<int>(MarkKind::kSnapshot) || kind > static_cast<int>(MarkKind::kValue)) return;
  const auto mark = static_cast<MarkKind>(kind);
  const std::uint64_t value = mark == MarkKind::kValue      ? std::bit_cast<std::uint64_t>(x)
                              : mark == MarkKind::kSnapshot ? static_cast<std::uint64_t>(number)
                                                            : 0;
  const int saved = errno;
  try {
    ThreadRecorder* const thread = current->thread();
    if (thread == nullptr) {
      current->recorder.lose_call(PackClass::kMpi);
    } else {
      const ActivityScope scope(thread->activity, Activity::kRecording, current->recorder.active);
      if (scope.refused()) current->recorder.lose_mark();
      if (scope.entered()) {
        const CostTimer timer(*thread, current->recorder.cost);
        current->recorder.mark(*thread, mark, name, value);
      }
    }
  } catch (const std::exception&) {
    switch_off("no memory for a mark of the program; recording ends here.");
  }
  errno = saved;
}
