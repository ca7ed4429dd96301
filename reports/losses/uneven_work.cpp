#include "reports/losses/uneven_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/findings/findings.hpp"
#include "reports/losses/costly_calls.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kIsLate = 0.5;      // of the latest rank's excess
constexpr double kDisturbed = 0.25;  // lack of a processor ÷ imbalance: rounds are judged by CPU time
constexpr double kSameTotals = 0.5;  // work of the slowest rank beyond the mean ÷ uneven work of all rounds
constexpr std::size_t kNamed = 2;

bool has_name(const PathWork& work) {
  return (!work.part->symbol.empty() && work.part->symbol != "(ardoise)") || !work.part->source_file.empty() ||
         work.part->kind == "other";
}

// The late ones of groups of ranks.
void keep_late_ranks(std::vector<std::uint32_t>& ranks, const std::vector<std::uint32_t>& late) {
  std::erase_if(ranks, [&](std::uint32_t rank) { return !std::ranges::binary_search(late, rank); });
  if (ranks.empty()) ranks = late;
}

// Most waiting for messages is for the rank with most work.
bool waits_for_slowest(const UnevenWork& work) {
  const WaitSite* const site = work.waits.message;
  return site != nullptr && site->awaited == work.slowest &&
         site->awaited_seconds > kExplainsLoss * site->waiting_seconds;
}

// The longest waiting of a rank for receives to be posted, at one call site.
double waits_for_receivers(const UnevenWork& work) {
  double longest = 0;
  for (const WaitSite& site : work.app.waiting.call_sites) {
    if (site.pattern == "late_receiver") longest = std::max(longest, site.waiting_seconds / std::max(site.waiters, 1u));
  }
  return longest;
}

// Ranks have less work than the one whose windows they access, since their operations wait for it.
bool name_awaited_target(const UnevenWork& work, double ceiling) {
  for (const CallSite& site : work.app.call_sites) {
    if (!awaits_target(site) || site.seconds < kExplainsLoss * ceiling * work.app.ranks) continue;
    work.add("rma.progress", ceiling, {},
             fmt::format("{}: {} to {}, called from {}{}", kAwaitTarget,
                         human_counted(static_cast<double>(site.calls), "call"), in_sentence(site.function),
                         in_sentence(name_of(site)), durations(site)));
    return true;
  }
  return false;
}

}  // namespace

bool is_for_sender(const WaitSite& site) { return site.pattern == "late_sender" || site.pattern == "wrong_order"; }

WaitKinds::WaitKinds(const Application& a) {
  std::map<std::string, double> of_functions;
  for (const WaitSite& site : a.waiting.call_sites) {
    if (is_for_sender(site)) of_functions[site.symbol] += site.waiting_seconds;
  }
  const auto most = std::ranges::max_element(of_functions, {}, [](const auto& each) { return each.second; });
  for (const WaitSite& site : a.waiting.call_sites) {
    all += site.waiting_seconds;
    if (is_for_sender(site)) {
      sender += site.waiting_seconds;
      if (site.symbol != most->first) continue;
      if (message == nullptr || site.waiting_seconds > message->waiting_seconds) message = &site;
    } else if (site.pattern == "late_broadcast") {
      rooted += site.waiting_seconds;
    } else if (site.pattern == "lock") {
      locks += site.waiting_seconds;
      if (lock == nullptr || site.waiting_seconds > lock->waiting_seconds) lock = &site;
    }
  }
}

UnevenWork::UnevenWork(const RunView& of, const PythonObjects& of_python, std::vector<Loss>& losses)
    : view(of), objects(of_python), app(of.app), out(losses), waits(app), shape(round_shape(app)) {
  for (const RankTime& time : view.times) useful.push_back(time.computing);
  slowest = static_cast<std::uint32_t>(std::ranges::max_element(useful) - useful.begin());
  if (shape && !std::ranges::binary_search(shape->in_step, slowest)) shape.reset();
  if (shape && !view.devices_work() && view.path.processor > kDisturbed * shape->imbalance) judge_by_cpu();
  if (shape && shape->series->ranks_per_group > 1) keep_late_ranks(shape->ranks, late_ranks());
}

// Ranks lack processors: which one is late, and when, may be due to other programs.
void UnevenWork::judge_by_cpu() {
  if (shape->shape == Shape::periodic) return;  // load is not so regular
  if (std::optional<RoundShape> by_cpu = round_shape(app, RoundTime::cpu)) {
    by_cpu->imbalance = shape->imbalance;
    shape = std::move(by_cpu);
    return;
  }
  if (view.path.processor < shape->imbalance) return;
  if (shape->shape == Shape::changed || shape->shape == Shape::growing) shape->shape = Shape::steady;
  if (shape->shape == Shape::moving) shape->shape = Shape::random;
}

void UnevenWork::add(std::string code, double ceiling, std::vector<std::uint32_t> ranks, std::string text) const {
  out.push_back({.code = std::move(code), .ceiling = ceiling, .text = std::move(text), .ranks = std::move(ranks)});
}

std::vector<std::uint32_t> UnevenWork::late_ranks() const {
  const double mean = sum(useful) / static_cast<double>(useful.size()), most = useful[slowest];
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < useful.size(); ++rank) {
    if (useful[rank] - mean >= kIsLate * (most - mean)) ranks.push_back(rank);
  }
  return ranks;
}

const CallSite* UnevenWork::calls_at(const WaitSite& site) const {
  const auto found =
      std::ranges::find_if(app.call_sites, [&](const CallSite& each) { return is_same_place(each, site); });
  return found == app.call_sites.end() ? nullptr : &*found;
}

std::string UnevenWork::waiters(const WaitSite& site) const {
  if (site.waiters == 1) return ranks_in_words(app, {site.first_waiter});
  if (site.waiters == app.ranks) return ranks_in_words(app, {});
  return fmt::format("{} ranks", site.waiters);
}

std::string UnevenWork::places_of_excess(std::optional<std::uint32_t> of_rank) const {
  const auto is_of_rank = [&](const PathWork& work) {
    if (!of_rank) return true;
    const bool is_asleep = work.part->kind == "other";
    return work.part->rank == *of_rank && (!is_asleep || view.on_device[*of_rank] > 0.3 * view.mean_on_device);
  };
  const auto first = std::ranges::find_if(view.work, is_of_rank);
  if (first == view.work.end()) return view.work.empty() ? "" : places_of_excess();
  std::string text;
  std::size_t named = 0;
  for (const PathWork& work : view.work) {
    if (named == kNamed || work.excess() <= 0 || work.excess() < 0.3 * first->excess()) break;
    if (!has_name(work) || !is_of_rank(work)) continue;
    text += (named == 0 ? "" : " and ") + name_of_work(app, work);
    ++named;
  }
  if (!text.empty()) return text;
  return has_name(*first) ? name_of_work(app, *first) : "code without a name";
}

void find_uneven_work(const RunView& view, const PythonObjects& objects, std::vector<Loss>& out) {
  const UnevenWork work(view, objects, out);
  double left = view.imbalance();
  if (work.app.ranks < 2) return;
  if (left <= 0) {  // workers may wait for a master who works less than they do
    if (view.hub) (void)name_tasks(work, 0);
    return;
  }
  left -= name_order_of_messages(work, left);
  // With a lock, who works is who has it.
  if (work.waits.locks > 0.5 * work.waits.all) return name_dependence(work, left, false);
  if (name_awaited_target(work, left) || name_tasks(work, left)) return;
  // Uneven work of ranks that wait for each other after each round; the rest is dependence.
  const double of_totals = std::max(0.0, work.useful[work.slowest] - view.mean_work);
  double uneven = std::min(left, work.shape ? work.shape->imbalance : of_totals);
  if (of_totals < kSameTotals * uneven) {  // the slowest rank changes, or works while the others wait for its data
    if (waits_for_receivers(work) > kExplainsLoss * left) return name_dependence(work, left, false);
    if (work.shape->shape == Shape::steady) uneven = of_totals;
  }
  const double dependence = left - uneven;
  if (uneven >= dependence) {
    name_late_ranks(work, view.share(dependence) > kWorthNaming ? uneven : left);
    // That they wait for the late rank has been said.
    if (view.share(dependence) > kWorthNaming && !waits_for_slowest(work)) name_dependence(work, dependence, true);
  } else {
    name_dependence(work, view.share(uneven) > kWorthNaming ? dependence : left, false);
    if (view.share(uneven) > kWorthNaming) name_late_ranks(work, uneven);
  }
}

}  // namespace ardoise::reports
