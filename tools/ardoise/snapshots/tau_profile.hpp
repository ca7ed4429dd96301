// Snapshots as profiles of TAU, which ParaProf shows over time: an XML file for each rank, with the definitions of its
// functions and, for each snapshot, calls and times so far (cumulative; A. Morris, W. Spear, A. D. Malony, S. Shende,
// Observing performance dynamics using parallel profile snapshots, 2008).
#pragma once

#include <string>

#include "tools/ardoise/snapshots/snapshot_rows.hpp"

namespace ardoise::launcher {

// Files snapshot.RANK.0.0 in the folder. The selected snapshots must be of one series of a program. Throws UsageError.
// Returns the exit status.
[[nodiscard]] int write_tau_profiles(const SnapshotTable& table, const SnapshotSelection& selection,
                                     const std::string& folder);

}  // namespace ardoise::launcher
