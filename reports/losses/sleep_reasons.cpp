#include "reports/losses/sleep_reasons.hpp"

namespace ardoise::reports {

SleepReasons sleep_reasons(const RankSummary& looks, std::size_t rank) {
  if (rank >= looks.asleep_for_thread.size() || rank >= looks.asleep_outside.size() || looks.asleep_outside[rank] == 0)
    return {};
  const double all = looks.asleep_outside[rank];
  return {looks.asleep_for_thread[rank] / all, looks.asleep_for_time[rank] / all, looks.asleep_for_program[rank] / all,
          looks.asleep_for_file_lock[rank] / all};
}

}  // namespace ardoise::reports
