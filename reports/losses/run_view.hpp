// The critical path of a run by activity, beside the time that all ranks spent in each activity: the input of all rules
// on losses.
// The path is as long as the run, so
//
//   run time - mean useful work of a rank = (work on the path - mean work) + everything else on the path,
//
// and each second on the right is one that a loss can have as its ceiling (Böhme et al., IPDPS 2012: critical-path
// imbalance). Built once for all rules; pointers are into the application.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/findings/efficiency.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// Work of a function on the path.
struct PathWork {
  const PathPart* part = nullptr;
  double seconds = 0;  // on the path
  double mean = 0;     // of the ranks' first threads, over all ranks
  [[nodiscard]] double excess() const { return seconds - mean; }
};

// MPI calls of a call site on the path.
struct PathCall {
  const PathPart* part = nullptr;  // of several call sites, if these have no names
  double share = 1;                // of the part: an estimate if there are several
  const CallSite* site = nullptr;  // nullptr: its row is not in the table
  double seconds = 0;              // on the path, without the part in which ranks lacked a processor
  double waiting = 0;              // rank-seconds of waiting in its calls
  std::string pattern{};           // of most of it
  double calls_per_rank = 0, bytes_per_call = 0;
  double wait_free = 0;  // rank-seconds in its calls without waiting
};

// One rank exchanges messages with all others, in both directions, and these hardly with each other.
struct Hub {
  std::uint32_t rank = 0;
  double messages_per_rank = 0;  // between the hub and another rank
};

// Time on the path outside of MPI that no sample covers.
struct OutsideTimes {
  double io = 0, processor = 0, asleep = 0, kernel = 0;
  double missing = 0;  // single records are missing there
};

struct RunView {
  explicit RunView(const Application& application);

  const Application& app;
  bool known = false;        // false: there is no path, or much of it is unknown; then only the next three are set
  bool waits_known = false;  // false: the path cannot follow waits; it is the time of one rank after another
  double run = 0;            // s
  double unknown_waits = 0;  // share of calls and ends of messages whose waiting is not known
  std::vector<RankTime> times;
  // s asleep outside MPI, by rank, where most ranks are: a device works for them, or they pause. Part of `computing`.
  // Empty: few are, or they wait for their threads, or between tests for messages.
  std::vector<double> on_device;
  double mean_on_device = 0;                // of the workers
  std::vector<std::uint32_t> workers;       // the ranks over which means are taken: without a hub that hardly works
  std::vector<PathWork> work;               // by excess, descending
  std::vector<PathCall> calls;              // by seconds, descending
  double path_work = 0, mean_work = 0;      // s; work that only tests for messages is not included
  double polling = 0;                       // such work and its tests on the path
  std::vector<std::uint32_t> polled_sites;  // indices into calls
  OutsideTimes path;
  double mean_io = 0, mean_kernel = 0;  // of a rank
  std::optional<Hub> hub;

  [[nodiscard]] double share(double seconds) const { return run > 0 ? seconds / run : 0; }
  // s; at least a tenth of the run.
  [[nodiscard]] double run_without_load() const { return std::max(run - path.processor, 0.1 * run); }
  // Much of the ranks' work is that of devices.
  [[nodiscard]] bool devices_work() const { return share(mean_on_device) > 0.1; }
  // s of work that the path has more than a rank: at most the time that ranks have without work and file I/O.
  [[nodiscard]] double imbalance() const;
};

// Calls of one function from one line: call sites, waits and parts of the path.
template <class Place, class Other>
[[nodiscard]] bool is_same_place(const Place& a, const Other& b) {
  return a.function == b.function && a.symbol == b.symbol && a.source_file == b.source_file && a.line == b.line;
}

// Other threads use about as much CPU time as the first ones.
[[nodiscard]] bool other_threads_work(const Application& application);

// s of all ranks: file I/O in threads other than the first; 0: not known.
[[nodiscard]] double io_of_other_threads(const Application& application);

// The calls with most tests for messages, if about as many ranks test often as sleep, and transfers are incomplete for
// much of the sleep; else nullptr. asleep: number of ranks; seconds: of all.
[[nodiscard]] const CallSite* tests_between_sleep(const Application& application, std::size_t asleep, double seconds);

// Mean bytes of its calls.
[[nodiscard]] double bytes_of_call(const CallSite& site);

// MPI_Test…, MPI_Iprobe, MPI_Improbe: ranks that wait for messages may call it again and again.
[[nodiscard]] bool tests_for_messages(const std::string& function);

}  // namespace ardoise::reports
