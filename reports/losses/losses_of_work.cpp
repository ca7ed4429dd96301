// Work on the critical path beyond the mean work of a rank: uneven work, or work of ranks that depend on each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "reports/findings/extra_work.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/round_shape.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kIsLate = 0.5;          // of the latest rank's excess
constexpr double kExplained = 0.7;       // of the variance of work over ranks
constexpr double kNearlyAll = 0.9;       // of the work in a function
constexpr double kOrder = 0.5;           // of the waiting at a site is for messages in the wrong order
constexpr double kMuch = 0.03;           // of the run
constexpr double kExplainsLoss = 0.5;    // waiting of a rank ÷ loss
constexpr double kUsualSpread = 0.12;    // of a rank's rounds: noise of machines
constexpr double kOneSender = 0.9;       // of the waiting at a site
constexpr double kOfAllWaits = 0.3;      // waiting at a site ÷ all
constexpr double kOrderOfOne = 0.1;      // of the run: the messages are of one sender
constexpr double kBothWork = 1.2;        // ranks that work at a time: more than one, of two
constexpr double kWaitsAtOnce = 0.9;     // of the time between start and end is in the wait
constexpr double kOneAtATime = 2;        // blocks: only one rank works
constexpr double kNoChain = 20;          // blocks by the path ÷ those by calls
constexpr double kLittleMore = 1.5;      // work on the path ÷ mean
constexpr double kDisturbed = 0.25;      // lack of a processor ÷ imbalance: rounds are judged by CPU time
constexpr double kSlowProcessor = 1.25;  // work of a rank ÷ mean of the others: differences between processors
constexpr double kOtherWork = 2;         // likewise in one function: other work, or other data
constexpr double kPermission = 64;       // bytes: a message without data
constexpr double kCanBeDivided = 1024;   // bytes: data of several steps of work
constexpr std::size_t kNamed = 2;

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

bool is_for_sender(const WaitSite& site) { return site.pattern == "late_sender" || site.pattern == "wrong_order"; }

// Waiting by what is waited for, rank-seconds.
struct WaitKinds {
  double sender = 0, rooted = 0, locks = 0, all = 0;
  const WaitSite* message = nullptr;  // the site with most waiting for senders, in the function with most of it
  const WaitSite* lock = nullptr;     // likewise for locks of windows
  explicit WaitKinds(const Application& a) {
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
};

bool has_name(const PathWork& work) { return !work.part->symbol.empty() || !work.part->source_file.empty(); }

// The functions with most of the excess work on the path: "refine_cells (amr.c:47) and move (amr.c:80)".
std::string places_of_excess(const RunView& view) {
  std::string text;
  std::size_t named = 0;
  const double most = view.work.empty() ? 0 : view.work[0].excess();
  for (const PathWork& work : view.work) {
    if (named == kNamed || work.excess() <= 0 || work.excess() < 0.3 * most) break;
    if (!has_name(work)) continue;
    text += (named == 0 ? "" : " and ") + name_of_work(view.app, work);
    ++named;
  }
  if (!text.empty() || view.work.empty()) return text;
  return has_name(view.work[0]) ? name_of_work(view.app, view.work[0]) : "code without a name";
}

class UnevenWork {
 public:
  UnevenWork(const RunView& view, std::vector<Loss>& out)
      : view_(view), a_(view.app), out_(out), waits_(a_), shape_(round_shape(a_)) {
    for (const RankTime& time : view.times) useful_.push_back(time.computing);
    slowest_ = static_cast<std::uint32_t>(std::ranges::max_element(useful_) - useful_.begin());
    if (shape_ && !std::ranges::binary_search(shape_->in_step, slowest_)) shape_.reset();
    if (shape_ && view.path.processor > kDisturbed * shape_->imbalance) judge_by_cpu();
    if (shape_ && shape_->series->ranks_per_group > 1) keep_late_ranks(shape_->ranks);
  }

  void find() {
    double left = view_.imbalance();
    if (left <= 0 || a_.ranks < 2) return;
    left -= take(messages_in_wrong_order(left));
    left -= take(one_late_message(left));
    if (waits_.locks > 0.5 * waits_.all) return depends(left);  // who works is who has the lock
    if (const CallSite* const counter = counter_of_tasks()) return last_tasks(*counter, left);
    if (is_farm()) {
      if (hands_out_tasks()) farm(left);
      return;
    }
    // Uneven work of ranks that wait for each other after each round; the rest is dependence.
    const double of_totals = std::max(0.0, useful_[slowest_] - view_.mean_work);
    const double uneven = std::min(left, shape_ ? shape_->imbalance : of_totals);
    const double dependence = left - uneven;
    if (uneven >= dependence) {
      late(view_.share(dependence) > kMuch ? uneven : left);
      if (view_.share(dependence) > kMuch) depends(dependence);
    } else {
      depends(view_.share(uneven) > kMuch ? dependence : left);
      if (view_.share(uneven) > kMuch) late(uneven);
    }
  }

 private:
  // Ranks lack processors: which one is late, and when, may be due to other programs.
  void judge_by_cpu() {
    if (shape_->shape == Shape::periodic) return;  // load is not so regular
    if (std::optional<RoundShape> by_cpu = round_shape(a_, RoundTime::cpu)) {
      by_cpu->imbalance = shape_->imbalance;
      shape_ = std::move(by_cpu);
      return;
    }
    if (view_.path.processor < shape_->imbalance) return;
    if (shape_->shape == Shape::changed || shape_->shape == Shape::growing) shape_->shape = Shape::steady;
    if (shape_->shape == Shape::moving) shape_->shape = Shape::random;
  }
  void add(std::string code, double ceiling, std::vector<std::uint32_t> ranks, std::string text) {
    out_.push_back({.code = std::move(code), .ceiling = ceiling, .text = std::move(text), .ranks = std::move(ranks)});
  }
  double take(std::optional<Loss> loss) {
    if (!loss) return 0;
    out_.push_back(std::move(*loss));
    return out_.back().ceiling;
  }

  [[nodiscard]] bool is_farm() const {
    constexpr double kFewestTasks = 4;
    return view_.hub && view_.hub->messages_per_rank >= kFewestTasks;
  }

  // The atomic operation by which all ranks draw their tasks; nullptr: none.
  [[nodiscard]] const CallSite* counter_of_tasks() const {
    constexpr double kFewestTasks = 8;  // of a rank
    for (const CallSite& site : a_.call_sites) {
      const bool is_atomic = site.function == "MPI_Fetch_and_op" || site.function == "MPI_Compare_and_swap" ||
                             site.function == "MPI_Get_accumulate";
      if (is_atomic && site.ranks == a_.ranks && static_cast<double>(site.calls) >= kFewestTasks * a_.ranks)
        return &site;
    }
    return nullptr;
  }
  void last_tasks(const CallSite& counter, double left) {
    add("hub.tail", left, {},
        fmt::format("Ranks draw tasks in {}, called from {}, and wait for the last ones, in {}{}",
                    in_sentence(counter.function), in_sentence(name_of(counter)), places_of_excess(view_),
                    where_others_wait(a_, false)));
  }

  // The same number of bytes to and from all others, in large messages, is a collective made by hand:
  // losses_of_calls.cpp.
  [[nodiscard]] bool hands_out_tasks() const {
    constexpr double kTask = 64 * 1024;  // bytes
    double bytes = 0, messages = 0, least = 1e300, most = 0;
    for (const Edge& edge : a_.edges) {
      if (edge.source == edge.target || edge.messages == 0) continue;
      bytes += static_cast<double>(edge.bytes);
      messages += static_cast<double>(edge.messages);
      least = std::min(least, static_cast<double>(edge.bytes));
      most = std::max(most, static_cast<double>(edge.bytes));
    }
    return bytes < kTask * messages || most > 2 * least;
  }

  void farm(double left) {
    constexpr double kOrderOfRun = 0.1;
    const std::uint32_t master = view_.hub->rank;
    double for_master = 0;  // waiting of a worker
    for (const WaitSite& site : a_.waiting.call_sites) {
      if (is_for_sender(site) && site.awaited == master) for_master += site.awaited_seconds / (a_.ranks - 1);
    }
    double of_master = 0;  // its own waiting for workers
    const WaitSite* most = nullptr;
    for (const WaitSite& site : a_.waiting.call_sites) {
      if (!is_for_sender(site) || site.waiters != 1 || site.first_waiter != master) continue;
      of_master += site.waiting_seconds;
      if (most == nullptr || site.waiting_seconds > most->waiting_seconds) most = &site;
    }
    if (for_master > kExplainsLoss * left && of_master > for_master && view_.share(for_master) > kOrderOfRun) {
      add("order.recv", left, {master},
          fmt::format("{} waits for the results of certain workers, for {} in {}, while others are done and wait for "
                      "their next task, for {} each",
                      capitalised(ranks_in_words(a_, {master})), human_seconds(of_master), name_of_site(*most),
                      human_seconds(for_master)));
    } else if (for_master > kExplainsLoss * left) {
      add("hub.master", left, {master},
          fmt::format("{} hands out work to the others and cannot keep up: it works for {} in {}{}",
                      capitalised(ranks_in_words(a_, {master})), human_seconds(useful_[master]),
                      places_of_excess(view_), where_others_wait(a_, true)));
    } else {
      const double task = view_.mean_work / std::max(1.0, view_.hub->messages_per_rank / 2);
      left = std::min(left, useful_[slowest_] - view_.mean_work);
      if (left < 1.5 * task) return;  // a task is the smallest part
      add("hub.tail", left, {slowest_},
          fmt::format("The last tasks end late: {} works for {} in all, in {}, the mean of the workers is {}",
                      ranks_in_words(a_, {slowest_}), human_seconds(useful_[slowest_]), places_of_excess(view_),
                      human_seconds(view_.mean_work)));
    }
  }

  // Messages that lay there while the rank waited for others.
  [[nodiscard]] std::optional<Loss> messages_in_wrong_order(double left) const {
    const auto worst = std::ranges::find(a_.waiting.call_sites, "wrong_order", &WaitSite::pattern);
    if (worst == a_.waiting.call_sites.end()) return {};
    double at_site = 0;
    for (const WaitSite& site : a_.waiting.call_sites) {
      if (site.function == worst->function && site.symbol == worst->symbol && site.line == worst->line)
        at_site += site.waiting_seconds;
    }
    const double of_rank = worst->waiting_seconds / std::max(worst->waiters, 1u), ceiling = std::min(left, of_rank);
    if (worst->waiting_seconds < kOrder * at_site || view_.share(ceiling) < kMuch ||
        (worst->awaited_seconds > kOneSender * worst->waiting_seconds &&
         (view_.share(ceiling) < kOrderOfOne || worst->waiting_seconds < kOfAllWaits * waits_.all)))  // else a chain
      return {};
    return Loss{
        .code = "order.recv",
        .ceiling = ceiling,
        .text = fmt::format("{} {} for {} in {}, while other messages are already there", capitalised(waiters(*worst)),
                            worst->waiters == 1 ? "waits" : "wait", human_seconds(of_rank), name_of_site(*worst)),
        .evidence = {{"wrong_order_seconds", worst->waiting_seconds}}};
  }

  // A rank waits for the last of several messages, then works on all of them.
  [[nodiscard]] std::optional<Loss> one_late_message(double left) const {
    std::optional<Loss> best;
    for (const WaitSite& site : a_.waiting.call_sites) {
      if (site.function != "MPI_Waitall" || site.pattern != "late_sender" || site.waiters == 0 ||
          site.awaited_seconds > kOneSender * site.waiting_seconds || 2 * site.waiters >= a_.ranks)
        continue;
      double work = 0;  // of a waiting rank in the function that waits
      for (const PathWork& each : view_.work) {
        if (each.part->symbol == site.symbol) work += each.seconds;
      }
      const double of_rank = site.waiting_seconds / site.waiters, ceiling = std::min({left, of_rank, work});
      if (view_.share(ceiling) < kMuch || (best && best->ceiling >= ceiling)) continue;
      best = Loss{.code = "msg.head",
                  .ceiling = ceiling,
                  .text = fmt::format("{} {} for the last of several messages for {} in {}, and works on them only "
                                      "then, for {}",
                                      capitalised(waiters(site)), site.waiters == 1 ? "waits" : "wait",
                                      human_seconds(of_rank), name_of_site(site), human_seconds(work))};
    }
    return best;
  }

  [[nodiscard]] std::string waiters(const WaitSite& site) const {
    if (site.waiters == 1) return ranks_in_words(a_, {site.first_waiter});
    if (site.waiters == a_.ranks) return ranks_in_words(a_, {});
    return fmt::format("{} ranks", site.waiters);
  }

  // The ranks with more useful time than most.
  [[nodiscard]] std::vector<std::uint32_t> late_ranks() const {
    const double mean = sum(useful_) / static_cast<double>(useful_.size()), most = useful_[slowest_];
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < useful_.size(); ++rank) {
      if (useful_[rank] - mean >= kIsLate * (most - mean)) ranks.push_back(rank);
    }
    return ranks;
  }

  // Part of the variance of work that is between groups of ranks.
  [[nodiscard]] double between(const auto& group_of) const {
    std::map<std::uint32_t, std::pair<double, double>> groups;  // sum, ranks
    for (std::uint32_t rank = 0; rank < useful_.size(); ++rank) {
      auto& [seconds, ranks] = groups[group_of(rank)];
      seconds += useful_[rank];
      ++ranks;
    }
    const double mean = sum(useful_) / static_cast<double>(useful_.size());
    double all = 0, explained = 0;
    for (const double each : useful_) all += (each - mean) * (each - mean);
    for (const auto& [number, group] : groups)
      explained += group.second * (group.first / group.second - mean) * (group.first / group.second - mean);
    return all > 0 && groups.size() > 1 && groups.size() < useful_.size() ? explained / all : 0;
  }

  void late(double ceiling) {
    const bool steady = !shape_ || shape_->shape == Shape::steady;
    const bool periodic = shape_ && shape_->shape == Shape::periodic;
    if (runs_alone() && (steady ? waited_for_alone() : periodic ? waits_.rooted : 0) > 0.5 * waits_.all) {
      return add("serial.rank", ceiling, {slowest_}, work_of({slowest_}) + where_others_wait(a_, true));
    }
    if (shape_) {
      if (shape_->shape == Shape::moving || shape_->shape == Shape::random) return late_in_turn(ceiling);
      if (shape_->shape != Shape::steady) return late_over_time(ceiling);
    }
    const std::vector<std::uint32_t> ranks = shape_ && !shape_->ranks.empty() ? shape_->ranks : late_ranks();
    if (!runs_alone() && late_on_host(ceiling)) return;
    const bool one = ranks.size() == 1;
    const std::string work = work_of(ranks);
    const bool group =
        ranks.size() > 1 && 4 * ranks.size() >= a_.ranks && 4 * ranks.size() < 3 * std::size_t{a_.ranks} &&
        between([&](std::uint32_t rank) { return std::ranges::binary_search(ranks, rank) ? 1u : 0u; }) > 0.9;
    add(group ? "late.group" : "late.static", ceiling, ranks, work + where_others_wait(a_, one));
    if (one && !runs_alone() && is_alone_on_host())
      out_.back().text += fmt::format(". It is the only rank of {}, which may be slower than other hosts",
                                      in_sentence(a_.hosts[a_.per_rank.host[slowest_]]));
    // A few ranks have less than the rest: parts of work may not be divisible.
    if (4 * ranks.size() >= 3 * std::size_t{a_.ranks}) out_.back().is_usual = true;
    may_be_a_processor(ranks);
  }

  // The last loss is that of ranks that need longer for the same functions: so do slower processors, and neighbours on
  // a host take turns in slowing each other down.
  void may_be_a_processor(const std::vector<std::uint32_t>& late) {
    const auto extra = extra_work(a_, slowest_);
    if (runs_alone() || (extra && extra->own > kOtherWork * extra->mean)) return;
    double others = sum(useful_);
    for (const std::uint32_t rank : late) others -= useful_[rank];
    others /= std::max(1.0, static_cast<double>(useful_.size() - late.size()));
    if (useful_[slowest_] < kSlowProcessor * others) out_.back().is_usual = true;
    out_.back().advice =
        "Run again: if other ranks are late then, the late ones have slower or shared processors. If not, give them "
        "less of this work.";
  }

  // The late ones of groups of ranks.
  void keep_late_ranks(std::vector<std::uint32_t>& ranks) const {
    const std::vector<std::uint32_t> late = late_ranks();
    std::erase_if(ranks, [&](std::uint32_t rank) { return !std::ranges::binary_search(late, rank); });
    if (ranks.empty()) ranks = late;
  }

  // "Rank 2 works for 509 ms, the mean is 326 ms. Only rank 2 runs boundary_cells (heat.c:44): 209 ms of CPU time".
  [[nodiscard]] std::string work_of(const std::vector<std::uint32_t>& ranks) const {
    const bool one = ranks.size() == 1;
    std::string text =
        fmt::format("{} {} longer than the others in every round: {}{}, the mean is {}",
                    capitalised(ranks_in_words(a_, ranks)), one ? "works" : "work", human_seconds(useful_[slowest_]),
                    one ? "" : " at most", human_seconds(sum(useful_) / static_cast<double>(useful_.size())));
    // Only where rounds are known one by one.
    if (!shape_ || rounds_in(*shape_->series) > shape_->series->seconds.size())
      text.replace(text.find(" in every round"), 15, "");
    if (const std::string sentence = one ? extra_work_sentence(a_, slowest_) : ""; !sentence.empty())
      return text + "." + sentence.substr(0, sentence.size() - 1);
    if (const std::string places = more_work_of(slowest_); !places.empty()) text += ", more in " + places;
    return text;
  }
  // The place in which the rank has more work than the others: by its samples, of which the path has few.
  [[nodiscard]] std::string more_work_of(std::uint32_t rank) const {
    const auto extra = extra_work(a_, rank);
    return extra ? in_sentence(name_and_place(a_.samples, extra->function)) : places_of_excess(view_);
  }

  // Waiting of all others for the slowest rank, as for the root of a broadcast.
  [[nodiscard]] double waited_for_alone() const {
    double seconds = waits_.rooted;
    for (const WaitSite& site : a_.waiting.call_sites) {
      if (site.pattern == "late_sender" && site.awaited == slowest_ && site.waiters + 1 >= a_.ranks)
        seconds += site.awaited_seconds;
    }
    return seconds;
  }

  // The function with most excess on the path is one that only the slowest rank runs.
  [[nodiscard]] bool runs_alone() const {
    if (view_.work.empty()) return false;
    return std::ranges::any_of(a_.samples.functions, [&](const SampledFunction& f) {
      return f.symbol == view_.work[0].part->symbol && f.max_rank == slowest_ &&
             f.rank_max > kNearlyAll * f.rank_mean * a_.ranks;
    });
  }

  // More work, or a slower host?
  [[nodiscard]] bool is_alone_on_host() const {
    const auto& host = a_.per_rank.host;
    return a_.hosts.size() > 1 && slowest_ < host.size() && host[slowest_] < a_.hosts.size() &&
           std::ranges::count(host, host[slowest_]) == 1;
  }

  // All ranks of one host, or the ranks at one position of all hosts.
  [[nodiscard]] bool late_on_host(double ceiling) {
    const auto& host = a_.per_rank.host;
    if (host.size() != useful_.size() || a_.hosts.size() < 2 || is_alone_on_host()) return false;
    std::vector<std::uint32_t> local(host.size()), ranks;
    std::map<std::uint32_t, std::uint32_t> seen;
    for (std::uint32_t rank = 0; rank < host.size(); ++rank) local[rank] = seen[host[rank]]++;
    const bool node = between([&](std::uint32_t rank) { return host[rank]; }) > kExplained;
    if (!node && between([&](std::uint32_t rank) { return local[rank]; }) <= kExplained) return false;
    const std::vector<std::uint32_t>& place = node ? host : local;
    for (std::uint32_t rank = 0; rank < place.size(); ++rank) {
      if (place[rank] == place[slowest_]) ranks.push_back(rank);
    }
    const std::string who =
        !node ? fmt::format("The rank at position {} of every host needs", local[slowest_])
              : fmt::format("All ranks of {} need",
                            host[slowest_] < a_.hosts.size() ? in_sentence(a_.hosts[host[slowest_]]) : "one host");
    add(node ? "late.node" : "late.numa", std::max(ceiling, slower_by(ranks)), ranks,
        fmt::format("{} longer than the others for the same functions, mostly {}{}", who, places_of_excess(view_),
                    where_others_wait(a_, false)));
    return true;
  }

  // Mean work of these ranks above that of the others: the same work would take no longer there.
  [[nodiscard]] double slower_by(const std::vector<std::uint32_t>& ranks) const {
    double own = 0;
    for (const std::uint32_t rank : ranks) own += useful_[rank];
    const auto count = static_cast<double>(ranks.size()), others = static_cast<double>(useful_.size()) - count;
    return own / count - (sum(useful_) - own) / others;
  }

  // Ranks with seconds of lateness, and the place with most of it, in words.
  struct LateRank {
    double seconds = 0, most = 0;
    std::string place;
    void add(double more, const std::string& where) {
      seconds += more;
      if (more <= most) return;
      most = more;
      place = where;
    }
  };
  using LateRanks = std::map<std::uint32_t, LateRank>;
  static constexpr double kOfOneRank = 0.85;  // of the lateness at a place: always the same rank

  [[nodiscard]] LateRanks awaited_at_places() const {
    LateRanks ranks;
    for (const WaitSite& site : a_.waiting.call_sites) {
      if (site.awaited < a_.ranks && site.awaited_seconds >= kOfOneRank * site.waiting_seconds)
        ranks[site.awaited].add(site.awaited_seconds, name_of_site(site));
    }
    return ranks;
  }
  [[nodiscard]] LateRanks on_path_in_places() const {
    LateRanks ranks;
    for (const PathWork& work : view_.work) {
      if (work.excess() > 0 && work.part->rank_seconds >= kOfOneRank * work.part->seconds)
        ranks[work.part->rank].add(work.excess(), name_of_work(a_, work));
    }
    return ranks;
  }

  // Different ranks are late at different places, each always at the same one: their sums are equal, and nothing is
  // random.
  [[nodiscard]] bool late_in_phases(double ceiling, const LateRanks& late, double all, const char* where) {
    constexpr double kLeastOfRun = 0.1;  // a reduction and a broadcast make ranks wait in turn, too
    constexpr double kOfTogether = 0.7, kOfEach = 0.25;
    double together = 0;
    std::string text;
    std::vector<std::uint32_t> ranks;
    for (const auto& [rank, each] : late) {
      if (each.seconds < kOfEach * all) continue;
      together += each.seconds;
      ranks.push_back(rank);
      text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", ranks_in_words(a_, {rank}), where, each.place);
    }
    if (view_.share(ceiling) < kLeastOfRun || ranks.size() < 2 || together < kOfTogether * all) return false;
    add("late.turns", ceiling, ranks,
        fmt::format(
            "Ranks are late in turn, each in its own part, though all work about equally long in the whole run: "
            "{}; most work is in {}",
            text, places_of_excess(view_)));
    return true;
  }
  [[nodiscard]] bool works_in_phases(double ceiling) {
    return late_in_phases(ceiling, on_path_in_places(), view_.imbalance(), "works longer in");
  }
  [[nodiscard]] bool late_in_phases(double ceiling) {
    return late_in_phases(ceiling, awaited_at_places(), waits_.all, "is awaited in") || works_in_phases(ceiling);
  }

  void late_in_turn(double ceiling) {
    if (late_in_phases(ceiling)) return;
    const bool moves = shape_->shape == Shape::moving;
    const double rounds = static_cast<double>(rounds_in(*shape_->series));
    add(moves ? "late.moving" : "late.noise", ceiling, {},
        fmt::format("{} in each {}: the slowest needs {} longer than the mean there, in {}, though all ranks work "
                    "about equally long in the whole run{}",
                    moves ? "The slowest rank changes" : "Another rank is late by chance",
                    round_word(*shape_->series, true), human_seconds(shape_->imbalance / std::max(rounds, 1.0)),
                    places_of_excess(view_), where_others_wait(a_, false)));
    // Every machine has some noise, and no program can be changed for it.
    if (!moves && shape_->spread < kUsualSpread) out_.back().is_usual = true;
  }

  void late_over_time(double ceiling) {
    const SnapshotSeries& series = *shape_->series;
    const bool one = shape_->ranks.size() == 1;
    const std::string ranks = capitalised(ranks_in_words(a_, shape_->ranks));
    const std::string places = more_work_of(
        *std::ranges::max_element(shape_->ranks, {}, [this](std::uint32_t rank) { return useful_[rank]; }));
    const char* const works = one ? "works" : "work";
    std::string text;
    std::string code;
    if (shape_->shape == Shape::periodic) {
      code = "late.periodic";
      text = fmt::format("{} {} longer than the others in {}, in {}", ranks, works,
                         rounds_in_words(series, shape_->rounds), places);
    } else if (shape_->shape == Shape::growing) {
      code = "late.growing";
      text = fmt::format("{} {} longer from {} to {}: {} above the mean in the first tenth, {} in the last, in {}",
                         ranks, works, round_word(series, true), round_word(series, true),
                         human_seconds(std::max(0.0, shape_->before)), human_seconds(shape_->after), places);
    } else {
      code = "late.phase";
      text = fmt::format("{} {} longer than the others {} {} {}: {} above the mean before it, {} from there on, in {}",
                         ranks, works, shape_->after > shape_->before ? "from" : "before", round_word(series, true),
                         first_number(series, shape_->from), human_seconds(std::max(0.0, shape_->before)),
                         human_seconds(std::max(0.0, shape_->after)), places);
    }
    add(code, ceiling, shape_->ranks, text + where_others_wait(a_, one));
    if (shape_->shape == Shape::changed) may_be_a_processor(shape_->ranks);
  }

  // No rank has more work than the others, and the path is longer than the work of a rank.
  void depends(double ceiling) {
    const auto of_a_sender = [](const WaitSite& site) {
      return site.pattern == "late_receiver" ? site.waiting_seconds / std::max(site.waiters, 1u) : 0;
    };
    const auto most = std::ranges::max_element(a_.waiting.call_sites, {}, of_a_sender);
    if (most != a_.waiting.call_sites.end() && of_a_sender(*most) > kExplainsLoss * ceiling) {
      return add("order.late_receiver", ceiling, {},
                 fmt::format("{} {} {} in {} until the receive is posted; the receiving ranks are in {} before",
                             capitalised(waiters(*most)), most->waiters == 1 ? "waits" : "wait",
                             human_seconds(of_a_sender(*most)), name_of_site(*most), places_of_excess(view_)));
    }
    if (waits_.locks > 0.5 * waits_.all) {
      add("rma.lock", ceiling, {},
          fmt::format("{} {} {} in {} while another rank has the lock, and works with it, in {}",
                      capitalised(waiters(*waits_.lock)), waits_.lock->waiters == 1 ? "waits" : "wait",
                      human_seconds(waits_.lock->waiting_seconds / std::max(waits_.lock->waiters, 1u)),
                      name_of_site(*waits_.lock), places_of_excess(view_)));
      out_.back().advice =
          "Do the work before the lock is taken, and hold it for the update alone; or replace lock and update by an "
          "atomic operation (MPI_Fetch_and_op), or spread the data over several ranks.";
      return;
    }
    if (waits_.message == nullptr || waits_.sender < 0.2 * waits_.all) return late_by_chance(ceiling);
    const WaitSite& site = *waits_.message;
    const std::string place = name_of_site(site);
    const std::string working = fmt::format("{:.1f} of {} ranks work at a time, though all have about equal work",
                                            sum(useful_) / std::max(view_.run, 1e-12), a_.ranks);
    const double by_path = blocks_by_path(), by_calls = blocks_between_synchronisations(site);
    // A chain has many ranks' work on the path; delays by chance add little to that of a rank.
    if (by_path > kNoChain * std::max(by_calls, 1.0) && view_.path_work < kLittleMore * view_.mean_work)
      return late_by_chance(ceiling);
    const double blocks = blocks_of_chain(by_path, by_calls);
    // Two ranks that wait for each other: which one works changes, and both work in between.
    if (blocks < kOneAtATime && a_.ranks == 2 && sum(useful_) > kBothWork * view_.run) {
      if (!waits_at_once(site)) return late_by_chance(ceiling);
      return add("prog.false_overlap", ceiling, {},
                 fmt::format("The ranks wait for each other in turn, right after they start their transfers, in {}: "
                             "{:.1f} of 2 ranks work at a time, in {}, though both have about equal work",
                             place, sum(useful_) / view_.run, places_of_excess(view_)));
    }
    const CallSite* const calls = calls_at(site);
    const double bytes = calls == nullptr ? 0 : bytes_of_call(*calls);
    const bool in_turn = blocks < kOneAtATime && bytes <= kPermission && is_closed_cycle();
    if (in_turn && works_in_phases(ceiling)) return;
    if (in_turn) {
      add("chain.token", ceiling, {},
          fmt::format("A message goes round from rank to rank, and only its owner works, in {}: {}. The others wait "
                      "in {}",
                      places_of_excess(view_), working, place));
    } else if (blocks >= kOneAtATime) {
      add("chain.fill", ceiling, {},
          fmt::format("Work goes from rank to rank in {:.0f} blocks, in {}: {}. Ranks wait in {} for the first block, "
                      "and at the end for the last rank",
                      blocks, places_of_excess(view_), working, place));
    } else {
      add("chain.serial", ceiling, {},
          fmt::format("Ranks work one after the other, in {}: {}. They wait for their predecessor in {}{}",
                      places_of_excess(view_), working, place,
                      bytes >= kCanBeDivided ? fmt::format(", for {} each time", human_bytes(bytes)) : ""));
      if (bytes >= kCanBeDivided)
        out_.back().advice =
            "Pass on each part of this data as soon as it is done, so that the next rank can begin earlier; or remove "
            "the dependence of each rank on its predecessor.";
    }
  }

  void late_by_chance(double ceiling) {
    if (late_in_phases(ceiling)) return;
    const std::string places = places_of_excess(view_);
    add("late.noise", ceiling, {},
        fmt::format("Another rank is late each time{}, though all ranks work about equally long in the whole run{}",
                    places.empty() ? "" : fmt::format(", in {}", places), where_others_wait(a_, false)));
    if (shape_ && shape_->spread < kUsualSpread) out_.back().is_usual = true;
  }

  // Nothing is done between the start of transfers and this wait.
  [[nodiscard]] bool waits_at_once(const WaitSite& site) const {
    return site.function.starts_with("MPI_Wait") && std::ranges::any_of(a_.call_sites, [](const CallSite& start) {
             return start.operations > 0 && start.waited_seconds > kWaitsAtOnce * start.flight_seconds;
           });
  }

  // The parts in which work goes from rank to rank; 1: only one rank works at a time.
  [[nodiscard]] static double blocks_of_chain(double by_path, double by_calls) {
    if (by_path > 0 && by_path < kOneAtATime) return 1;
    // Other collectives than the one at the end of the chain are in between.
    if (by_calls < 0.9) return by_path;
    return by_calls < 2 ? 1 : std::min(by_calls, std::max(2.0, by_path));
  }

  // A path through p ranks that work in b blocks has b + p - 1 of them; of a function that works elsewhere, too, more.
  // 0: unknown.
  [[nodiscard]] double blocks_by_path() const {
    if (view_.work.empty()) return 0;
    const PathWork& most = view_.work[0];
    return most.mean > 0 && most.seconds > most.mean ? (a_.ranks - 1) / (most.seconds / most.mean - 1) : 0;
  }

  [[nodiscard]] const CallSite* calls_at(const WaitSite& site) const {
    const auto found = std::ranges::find_if(a_.call_sites, [&](const CallSite& each) {
      return each.function == site.function && each.symbol == site.symbol && each.line == site.line;
    });
    return found == a_.call_sites.end() ? nullptr : &*found;
  }
  [[nodiscard]] double calls_of_rank(const WaitSite& site) const {
    const CallSite* const calls = calls_at(site);
    return calls == nullptr ? 0 : static_cast<double>(calls->calls) / std::max(calls->ranks, 1u);
  }
  // Calls of a rank at the site for each call of the collective in which ranks wait most.
  [[nodiscard]] double blocks_between_synchronisations(const WaitSite& site) const {
    const auto most = std::ranges::find_if(a_.waiting.call_sites, [this](const WaitSite& each) {
      return (each.pattern == "wait_nxn" || each.pattern == "wait_barrier") && calls_of_rank(each) > 0;
    });
    return calls_of_rank(site) / (most == a_.waiting.call_sites.end() ? 1 : calls_of_rank(*most));
  }

  // Every rank waits in this function for its predecessor, the first one for the last.
  [[nodiscard]] bool is_closed_cycle() const {
    std::vector<double> waited(a_.ranks);
    for (const WaitSite& site : a_.waiting.call_sites) {
      if (!is_for_sender(site) || site.symbol != waits_.message->symbol) continue;
      for (std::uint32_t rank = site.first_waiter; site.waiters > 0 && rank <= site.last_waiter; ++rank)
        waited[rank] = std::max(waited[rank], site.waiting_seconds / site.waiters);
    }
    return !waited.empty() &&
           *std::ranges::min_element(waited) > 0.5 * sum(waited) / static_cast<double>(waited.size());
  }

  const RunView& view_;
  const Application& a_;
  std::vector<Loss>& out_;
  WaitKinds waits_;
  std::optional<RoundShape> shape_;
  std::vector<double> useful_;
  std::uint32_t slowest_ = 0;
};

}  // namespace

void find_uneven_work(const RunView& view, std::vector<Loss>& out) { UnevenWork(view, out).find(); }

}  // namespace ardoise::reports
