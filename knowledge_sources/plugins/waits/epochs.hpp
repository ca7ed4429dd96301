// Matches the halves of epochs: the n-th MPI_Win_post of a target that names an origin belongs to the n-th
// MPI_Win_start of that origin that names the target, on one window.
//
//   origin:  Win_start ~~~~~~| Put   Put        Win_complete
//   target:         Win_post |  Win_wait ~~~~~~~~|
//                             ^ late_post          ^ early_wait up to the end of the last Put, then late_complete
//
// Memory: unmatched halves, and exposures with missing origins, at most kMostParts each; further ones are counted as
// unresolved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>

#include "knowledge_sources/plugins/waits/wait_sums.hpp"
#include "knowledge_sources/plugins/waits/window_parts.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class Epochs {
 public:
  static constexpr std::size_t kMostParts = std::size_t{1} << 18;  // 264 bytes each: some 70 MB

  void add(const Access& access, WaitSums& sums) { add_half(access, sums); }
  void add(const Exposure& exposure, WaitSums& sums) { add_half(exposure, sums); }
  // Counts unmatched halves as unknown.
  void add_alone(WaitSums& sums) const;

 private:
  // The last of an exposure's matched origins to complete.
  struct Ending {
    double complete, last_end;
    float clock_error;
    std::uint32_t rank;
    Stretch to_last, after_last;
    std::uint32_t known;  // number of origins
  };
  template <class Half>
  void add_half(const Half& half, WaitSums& sums);
  void join(const Access& access, const Exposure& exposure, WaitSums& sums);
  void end_exposure(const Access& access, const Exposure& exposure, WaitSums& sums);

  std::map<EpochKey, std::variant<Access, Exposure>> alone_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Ending> endings_;  // by rank and serial of the exposure
};

}  // namespace ardoise::knowledge_sources
