// Writes snapshots as profiles of TAU, which ParaProf shows over time. Each rank gets an XML file with the definitions
// of its functions and, for each snapshot, cumulative calls and times (A. Morris, W. Spear, A. D. Malony, S. Shende,
// Observing performance dynamics using parallel profile snapshots, 2008).
#pragma once

#include <string>

#include "tools/ardoise/snapshots/snapshot_rows.hpp"

namespace ardoise::launcher {

// Writes files snapshot.RANK.0.0 into the folder. The selected snapshots must be of one series of a program. Throws
// UsageError. Returns the exit status.
[[nodiscard]] int write_tau_profiles(const SnapshotTable& table, const SnapshotSelection& selection,
                                     const std::string& folder);

}  // namespace ardoise::launcher
