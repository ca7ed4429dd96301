// Ranks take tasks from a master, or draw them from a counter.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/losses/uneven_work.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

class Tasks {
 public:
  explicit Tasks(const UnevenWork& work) : w_(work) {}

  [[nodiscard]] bool find(double ceiling) {
    if (const CallSite* const counter = counter_of_tasks()) {
      last_tasks(*counter, ceiling);
      return true;
    }
    const bool is_farm = w_.view.hub && w_.view.hub->messages_per_rank >= 4;
    if (is_farm && hands_out_tasks()) farm(ceiling);
    return is_farm;
  }

 private:
  // The atomic operation by which all ranks draw their tasks; nullptr: none.
  [[nodiscard]] const CallSite* counter_of_tasks() const {
    constexpr double kFewestTasks = 8;  // of a rank
    for (const CallSite& site : w_.app.call_sites) {
      const bool is_atomic = site.function == "MPI_Fetch_and_op" || site.function == "MPI_Compare_and_swap" ||
                             site.function == "MPI_Get_accumulate";
      if (is_atomic && site.ranks == w_.app.ranks && static_cast<double>(site.calls) >= kFewestTasks * w_.app.ranks &&
          ends_with_a_task(site))
        return &site;
    }
    return nullptr;
  }

  // Ranks that draw tasks end within about one of them; the one with the longest tasks draws fewer.
  [[nodiscard]] bool ends_with_a_task(const CallSite& counter) const {
    constexpr double kTasks = 2, kFewer = 0.95, kOfEachRound = 3, kSlightly = 0.1;
    const double draws = static_cast<double>(counter.calls) / w_.app.ranks, mean = w_.view.mean_work;
    const double more = w_.useful[w_.slowest] - mean;
    // Several in each round: every round may end with a task.
    const bool in_rounds = w_.shape && draws > kOfEachRound * static_cast<double>(rounds_in(*w_.shape->series));
    if (more < kTasks * mean / draws || (in_rounds && more < kSlightly * mean)) return true;
    const auto map = std::ranges::find(w_.app.density, counter.function, &DensityMap::function);
    if (map == w_.app.density.end() || map->calls.size() != w_.app.ranks) return false;
    const double all = static_cast<double>(std::accumulate(map->calls.begin(), map->calls.end(), std::uint64_t{0}));
    return static_cast<double>(map->calls[w_.slowest]) * w_.app.ranks < kFewer * all;
  }

  void last_tasks(const CallSite& counter, double left) {
    w_.add("hub.tail", left, {},
           fmt::format("Ranks draw tasks in {}, called from {}, and wait for the last ones, in {}{}",
                       in_sentence(counter.function), in_sentence(name_of(counter)), w_.places_of_excess(),
                       where_others_wait(w_.app, false)));
  }

  // The same number of bytes to and from all others, in large messages, is a collective made by hand:
  // costly_messages.cpp.
  [[nodiscard]] bool hands_out_tasks() const {
    constexpr double kTask = 64 * 1024;  // bytes
    double bytes = 0, messages = 0, least = 1e300, most = 0;
    for (const Edge& edge : w_.app.edges) {
      if (edge.source == edge.target || edge.messages == 0) continue;
      bytes += static_cast<double>(edge.bytes);
      messages += static_cast<double>(edge.messages);
      least = std::min(least, static_cast<double>(edge.bytes));
      most = std::max(most, static_cast<double>(edge.bytes));
    }
    return bytes < kTask * messages || most > 2 * least;
  }

  void slow_master(double ceiling) {
    const std::uint32_t master = w_.view.hub->rank;
    w_.add("hub.master", ceiling, {master},
           fmt::format("{} hands out work to the others and cannot keep up: it works for {} in {}{}",
                       capitalised(ranks_in_words(w_.app, {master})), human_seconds(w_.useful[master]),
                       w_.places_of_excess(master), where_others_wait(w_.app, true)));
  }

  void farm(double left) {
    constexpr double kOrderOfRun = 0.1, kInOrder = 0.3;
    const std::uint32_t master = w_.view.hub->rank;
    double for_master = 0;  // waiting of a worker, for its messages or until it takes theirs
    for (const WaitSite& site : w_.app.waiting.call_sites) {
      if ((is_for_sender(site) || site.pattern == "late_receiver") && site.awaited == master)
        for_master += site.awaited_seconds / (w_.app.ranks - 1);
    }
    const double of_worker = (sum(w_.useful) - w_.useful[master]) / (w_.app.ranks - 1);
    const double last = w_.useful[w_.slowest] - of_worker;  // beyond the mean: in its last tasks
    const double busy = w_.useful[master] + w_.view.times[master].io;
    const bool is_busy = busy > kExplainsLoss * for_master && busy > w_.view.times[master].blocked;
    double of_master = 0, in_wrong_order = 0;  // its own waiting for workers
    const WaitSite* most = nullptr;
    for (const WaitSite& site : w_.app.waiting.call_sites) {
      if (!is_for_sender(site) || site.waiters != 1 || site.first_waiter != master) continue;
      of_master += site.waiting_seconds;
      in_wrong_order += site.pattern == "wrong_order" ? site.waiting_seconds : 0;
      if (most == nullptr || site.waiting_seconds > most->waiting_seconds) most = &site;
    }
    if (in_wrong_order > kInOrder * of_master && for_master > kExplainsLoss * left && of_master > for_master &&
        w_.view.share(for_master) > kOrderOfRun) {
      w_.add(
          "order.recv", std::min(left, for_master), {master},
          fmt::format("{} waits for the results of certain workers, for {} in {}, while others are done and wait for "
                      "their next task, for {} each",
                      capitalised(ranks_in_words(w_.app, {master})), human_seconds(of_master), name_of_site(*most),
                      human_seconds(for_master)));
    } else if (is_busy && for_master > std::min(kExplainsLoss * left, last)) {
      slow_master(for_master > kExplainsLoss * left ? std::max(left, for_master) : for_master);
    } else {
      const double task = of_worker / std::max(1.0, w_.view.hub->messages_per_rank / 2);
      left = std::min(left, last);
      if (left < 1.5 * task) return;  // a task is the smallest part
      w_.add("hub.tail", left, {w_.slowest},
             fmt::format("The last tasks end late: {} works for {} in all, in {}, the mean of the workers is {}",
                         ranks_in_words(w_.app, {w_.slowest}), human_seconds(w_.useful[w_.slowest]),
                         w_.places_of_excess(), human_seconds(of_worker)));
    }
  }

  const UnevenWork& w_;
};

}  // namespace

bool name_tasks(const UnevenWork& work, double ceiling) { return Tasks(work).find(ceiling); }

}  // namespace ardoise::reports
