// Messages lay there while their rank waited for others.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "reports/findings/findings.hpp"
#include "reports/losses/uneven_work.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kOrder = 0.5;       // of the waiting at a site is for messages in the wrong order
constexpr double kOfAllWaits = 0.3;  // waiting at a site ÷ all
constexpr double kOrderOfOne = 0.1;  // of the run: the messages are of one sender

struct Found {
  double explained = 0;  // s of the path: not all of it can be won
  Loss loss;
};

class Order {
 public:
  explicit Order(const UnevenWork& work) : w_(work) {}

  // Messages that lay there while the rank waited for others.
  [[nodiscard]] std::optional<Found> messages_in_wrong_order(double left) const {
    const auto worst = std::ranges::find(w_.app.waiting.call_sites, "wrong_order", &WaitSite::pattern);
    if (worst == w_.app.waiting.call_sites.end()) return {};
    double at_site = 0;
    for (const WaitSite& site : w_.app.waiting.call_sites) {
      if (is_same_place(site, *worst)) at_site += site.waiting_seconds;
    }
    const double of_rank = worst->waiting_seconds / std::max(worst->waiters, 1u);
    const double ceiling = std::min({left, of_rank, use_of_waiting(*worst)});
    if (worst->waiting_seconds < kOrder * at_site || w_.view.share(ceiling) < kWorthNaming ||
        (worst->awaited_seconds > kOneSender * worst->waiting_seconds &&
         (w_.view.share(ceiling) < kOrderOfOne ||
          worst->waiting_seconds < kOfAllWaits * waits_of(*worst))))  // else a chain
      return {};
    return Found{std::min(left, of_rank),
                 {.code = "order.recv",
                  .ceiling = ceiling,
                  .text = fmt::format("{} {} for {} in {}, while other messages are already there",
                                      capitalised(w_.waiters(*worst)), worst->waiters == 1 ? "waits" : "wait",
                                      human_seconds(of_rank), name_of_site(*worst)),
                  .evidence = {{"wrong_order_seconds", worst->waiting_seconds}}}};
  }

  // Use of the time for the only waiting rank: its own work, and others could go on that wait for its messages; s.
  [[nodiscard]] double use_of_waiting(const WaitSite& site) const {
    if (site.waiters != 1 || site.first_waiter >= w_.useful.size()) return w_.view.run;
    double of_others = 0;
    for (const WaitSite& each : w_.app.waiting.call_sites) {
      if (each.awaited == site.first_waiter && (each.pattern == "late_sender" || each.pattern == "late_receiver"))
        of_others += each.awaited_seconds / std::max(each.waiters, 1u);
    }
    return w_.useful[site.first_waiter] + w_.view.times[site.first_waiter].io + of_others;
  }

  // All waiting; if one rank receives nearly all messages, its own: the others wait for it.
  [[nodiscard]] double waits_of(const WaitSite& site) const {
    constexpr double kOfAll = 0.9;
    const std::vector<double>& seconds = w_.app.waiting.per_rank.waiting_seconds;
    double all = 0, to_it = 0;
    for (const Edge& edge : w_.app.edges) {
      if (edge.source == edge.target) continue;
      all += static_cast<double>(edge.messages);
      to_it += edge.target == site.first_waiter ? static_cast<double>(edge.messages) : 0;
    }
    const bool receives_all = site.waiters == 1 && w_.app.ranks > 2 && to_it > kOfAll * all;
    return receives_all && site.first_waiter < seconds.size() ? seconds[site.first_waiter] : w_.waits.all;
  }

  // A rank waits for the last of several messages, then works on all of them.
  [[nodiscard]] std::optional<Found> one_late_message(double left) const {
    std::optional<Found> best;
    for (const WaitSite& site : w_.app.waiting.call_sites) {
      if (site.function != "MPI_Waitall" || site.pattern != "late_sender" || site.waiters == 0 ||
          site.awaited_seconds > kOneSender * site.waiting_seconds || 2 * site.waiters >= w_.app.ranks)
        continue;
      double work = 0;  // of a waiting rank in the function that waits
      for (const PathWork& each : w_.view.work) {
        if (!site.symbol.empty() && each.part->symbol == site.symbol) work += each.seconds;
      }
      const double of_rank = site.waiting_seconds / site.waiters, ceiling = std::min({left, of_rank, work});
      if (w_.view.share(ceiling) < kWorthNaming || (best && best->loss.ceiling >= ceiling)) continue;
      best = Found{ceiling,
                   {.code = "msg.head",
                    .ceiling = ceiling,
                    .text = fmt::format("{} {} for the last of several messages for {} in {}, and works on them only "
                                        "then, for {}",
                                        capitalised(w_.waiters(site)), site.waiters == 1 ? "waits" : "wait",
                                        human_seconds(of_rank), name_of_site(site), human_seconds(work))}};
    }
    return best;
  }

 private:
  const UnevenWork& w_;
};

}  // namespace

double name_order_of_messages(const UnevenWork& work, double ceiling) {
  const Order order(work);
  double charged = 0;
  for (const auto rule : {&Order::messages_in_wrong_order, &Order::one_late_message}) {
    std::optional<Found> found = (order.*rule)(ceiling - charged);
    if (!found) continue;
    charged += found->explained;
    work.out.push_back(std::move(found->loss));
  }
  return charged;
}

}  // namespace ardoise::reports
