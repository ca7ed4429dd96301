// Uneven work and dependence of ranks on each other: the facts that their rules share, and the rules. Each rule charges
// at most `ceiling` seconds of the critical path to one cause.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "reports/losses/loss.hpp"
#include "reports/losses/python_objects.hpp"
#include "reports/losses/round_shape.hpp"
#include "reports/losses/run_view.hpp"

namespace ardoise::reports {

inline constexpr double kWorthNaming = 0.03;  // of the run
inline constexpr double kExplainsLoss = 0.5;  // waiting of a rank ÷ loss
inline constexpr double kOneSender = 0.9;     // of the waiting at a site

[[nodiscard]] inline double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}
[[nodiscard]] bool is_for_sender(const WaitSite& site);

// Waiting by what is waited for, rank-seconds.
struct WaitKinds {
  double sender = 0, rooted = 0, locks = 0, all = 0;
  const WaitSite* message = nullptr;  // the site with most waiting for senders, in the function with most of it
  const WaitSite* lock = nullptr;     // likewise for locks of windows
  explicit WaitKinds(const Application& application);
};

struct UnevenWork {
  UnevenWork(const RunView& of, const PythonObjects& of_python, std::vector<Loss>& losses);

  const RunView& view;
  const PythonObjects& objects;
  const Application& app;
  std::vector<Loss>& out;
  WaitKinds waits;
  std::optional<RoundShape> shape;
  std::vector<double> useful;  // s, by rank
  std::uint32_t slowest = 0;   // the rank with most of it

  // The ranks with more useful time than most.
  [[nodiscard]] std::vector<std::uint32_t> late_ranks() const;
  // The row of the call site at which these ranks wait; nullptr: it is not in the table.
  [[nodiscard]] const CallSite* calls_at(const WaitSite& site) const;
  // "Rank 2", "5 ranks"
  [[nodiscard]] std::string waiters(const WaitSite& site) const;
  // The functions with most of the excess work on the path, or of that of one rank: "refine_cells (amr.c:47) and move
  // (amr.c:80)".
  [[nodiscard]] std::string places_of_excess(std::optional<std::uint32_t> of_rank = {}) const;
  void add(std::string code, double ceiling, std::vector<std::uint32_t> ranks, std::string text) const;

 private:
  void judge_by_cpu();
};

// Some ranks work longer than others: late.*, serial.rank.
void name_late_ranks(const UnevenWork& work, double ceiling);
// Others each time, by chance; `beside`: a late rank was named before.
void name_chance(const UnevenWork& work, double ceiling, bool beside);
// Ranks work longer in turn, each in its own part. Returns whether they do, and are named.
bool name_phases_of_work(const UnevenWork& work, double ceiling);
// Or they are awaited at places of their own.
bool name_late_in_phases(const UnevenWork& work, double ceiling);
// No rank has more work than the others, and the path is longer than the work of a rank: chain.*, order.late_receiver,
// rma.lock, prog.false_overlap, late.noise.
void name_dependence(const UnevenWork& work, double ceiling, bool beside_late_rank);
// Work is handed out in tasks: hub.*, order.recv. Returns whether it is.
bool name_tasks(const UnevenWork& work, double ceiling);
// Messages that lay there while their rank waited for others: order.recv, msg.head. Returns the seconds charged.
double name_order_of_messages(const UnevenWork& work, double ceiling);

}  // namespace ardoise::reports
