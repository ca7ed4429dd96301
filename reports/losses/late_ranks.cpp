// Some ranks work longer than others: always, in every n-th round, more and more, in turn, or by chance.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "reports/findings/extra_work.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/losses/uneven_work.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kExplained = 0.7;       // of the variance of work over ranks
constexpr double kNearlyAll = 0.9;       // of the work in a function
constexpr double kUsualSpread = 0.12;    // of a rank's rounds: noise of machines
constexpr double kUsualNoise = 0.2;      // of the run
constexpr double kSlowProcessor = 1.25;  // work of a rank ÷ mean of the others: differences between processors
constexpr double kLeastInTurn = 0.1;     // a reduction and a broadcast make ranks wait in turn, too
constexpr const char* kOfItsOwn = "Spread this work over all ranks, or do less of it: only this rank has it.";
constexpr double kOtherWork = 2;  // likewise in one function: other work, or other data

class Lateness {
 public:
  explicit Lateness(const UnevenWork& work) : w_(work) {}

  void late(double ceiling) {
    const bool steady = !w_.shape || w_.shape->shape == Shape::steady;
    const bool periodic = w_.shape && w_.shape->shape == Shape::periodic;
    if (runs_alone() && (steady ? waited_for_alone() : periodic ? w_.waits.rooted : 0) > 0.5 * w_.waits.all) {
      return w_.add("serial.rank", ceiling, {w_.slowest}, work_of({w_.slowest}) + where_others_wait(w_.app, true));
    }
    if (w_.shape) {
      if (w_.shape->shape == Shape::moving || w_.shape->shape == Shape::random) return late_in_turn(ceiling);
      if (w_.shape->shape != Shape::steady) return late_over_time(ceiling);
    }
    const std::vector<std::uint32_t> ranks = w_.shape && !w_.shape->ranks.empty() ? w_.shape->ranks : w_.late_ranks();
    if (!runs_alone() && late_on_host(ceiling)) return;
    const bool one = ranks.size() == 1;
    const std::string work = work_of(ranks);
    const bool group =
        ranks.size() > 1 && 4 * ranks.size() >= w_.app.ranks && 4 * ranks.size() < 3 * std::size_t{w_.app.ranks} &&
        between([&](std::uint32_t rank) { return std::ranges::binary_search(ranks, rank) ? 1u : 0u; }) > 0.9;
    w_.add(group ? "late.group" : "late.static", ceiling, ranks, work + where_others_wait(w_.app, one));
    if (one && !runs_alone() && is_alone_on_host())
      w_.out.back().text += fmt::format(". It is the only rank of {}, which may be slower than other hosts",
                                        in_sentence(w_.app.hosts[w_.app.per_rank.host[w_.slowest]]));
    // A few ranks have less than the rest: parts of work may not be divisible.
    if (4 * ranks.size() >= 3 * std::size_t{w_.app.ranks}) w_.out.back().is_usual = true;
    if (one && runs_alone()) {
      w_.out.back().advice = kOfItsOwn;
    } else {
      may_be_a_processor(ranks);
    }
  }

  void late_by_chance(double ceiling, bool beside) {
    if (!beside && late_in_phases(ceiling)) return;
    const std::string places = w_.places_of_excess();
    w_.add("late.noise", ceiling, {},
           fmt::format("Another rank is late each time{}, {}{}", places.empty() ? "" : fmt::format(", in {}", places),
                       beside ? "beside that" : "though all ranks work about equally long in the whole run",
                       where_others_wait(w_.app, false)));
    if (w_.shape && w_.shape->spread < kUsualSpread && w_.view.share(ceiling) < kUsualNoise)
      w_.out.back().is_usual = true;
  }

  [[nodiscard]] bool works_in_phases(double ceiling) {
    return late_in_phases(ceiling, on_path_in_places(), w_.view.imbalance(), "works longer in");
  }

  [[nodiscard]] bool late_in_phases(double ceiling) {
    return works_in_stages(ceiling) || late_in_phases(ceiling, awaited_at_places(), w_.waits.all, "is awaited in") ||
           works_in_phases(ceiling);
  }

 private:
  // Part of the variance of work that is between groups of ranks.
  [[nodiscard]] double between(const auto& group_of) const {
    std::map<std::uint32_t, std::pair<double, double>> groups;  // sum, ranks
    for (std::uint32_t rank = 0; rank < w_.useful.size(); ++rank) {
      auto& [seconds, ranks] = groups[group_of(rank)];
      seconds += w_.useful[rank];
      ++ranks;
    }
    const double mean = sum(w_.useful) / static_cast<double>(w_.useful.size());
    double all = 0, explained = 0;
    for (const double each : w_.useful) all += (each - mean) * (each - mean);
    for (const auto& [number, group] : groups)
      explained += group.second * (group.first / group.second - mean) * (group.first / group.second - mean);
    return all > 0 && groups.size() > 1 && groups.size() < w_.useful.size() ? explained / all : 0;
  }

  // The last loss is that of ranks that need longer for the same functions: so do slower processors, and neighbours on
  // a host take turns in slowing each other down.
  void may_be_a_processor(const std::vector<std::uint32_t>& late) {
    const auto extra = extra_work(w_.app, w_.slowest);
    if (runs_alone() || (extra && extra->own > kOtherWork * extra->mean)) return;
    double others = sum(w_.useful);
    for (const std::uint32_t rank : late) others -= w_.useful[rank];
    others /= std::max(1.0, static_cast<double>(w_.useful.size() - late.size()));
    if (w_.useful[w_.slowest] < kSlowProcessor * others) w_.out.back().is_usual = true;
    w_.out.back().advice =
        "Run again: if other ranks are late then, the late ones have slower or shared processors. If not, give them "
        "less of this work.";
  }

  // "Rank 2 works for 509 ms, the mean is 326 ms. Only rank 2 runs boundary_cells (heat.c:44): 209 ms of CPU time".
  [[nodiscard]] std::string work_of(const std::vector<std::uint32_t>& ranks) const {
    const bool one = ranks.size() == 1;
    std::string text = fmt::format("{} {} longer than the others in every round: {}{}, the mean is {}",
                                   capitalised(ranks_in_words(w_.app, ranks)), one ? "works" : "work",
                                   human_seconds(w_.useful[w_.slowest]), one ? "" : " at most",
                                   human_seconds(sum(w_.useful) / static_cast<double>(w_.useful.size())));
    // Only where rounds are known one by one.
    if (!w_.shape || rounds_in(*w_.shape->series) > w_.shape->series->seconds.size())
      text.replace(text.find(" in every round"), 15, "");
    if (const std::string sentence = one ? extra_work_sentence(w_.app, w_.slowest) : ""; !sentence.empty())
      return text + "." + sentence.substr(0, sentence.size() - 1);
    if (const std::string places = more_work_of(w_.slowest); !places.empty()) text += ", more in " + places;
    return text;
  }
  // The place in which the rank has more work than the others: by its samples, of which the path has few.
  [[nodiscard]] std::string more_work_of(std::uint32_t rank) const {
    const auto extra = extra_work(w_.app, rank);
    return extra ? in_sentence(name_and_place(w_.app.samples, extra->function)) : w_.places_of_excess();
  }

  // Waiting of all others for the slowest rank, as for the root of a broadcast.
  [[nodiscard]] double waited_for_alone() const {
    double seconds = w_.waits.rooted;
    for (const WaitSite& site : w_.app.waiting.call_sites) {
      if (site.pattern == "late_sender" && site.awaited == w_.slowest && site.waiters + 1 >= w_.app.ranks)
        seconds += site.awaited_seconds;
    }
    return seconds;
  }

  // Only the slowest rank runs the function with most excess on the path.
  [[nodiscard]] bool runs_alone() const {
    if (w_.view.work.empty()) return false;
    const PathWork& most = w_.view.work[0];
    const auto only_one = [&](const SampledFunction& f) {
      return f.max_rank == w_.slowest && f.rank_max > kNearlyAll * f.rank_mean * w_.app.ranks;
    };
    if (most.part->symbol.empty()) {  // samples know it by its module, the path by the line that calls it
      const auto extra = extra_work(w_.app, w_.slowest);
      return extra && extra->own > kExplainsLoss * most.excess() && only_one(w_.app.samples.functions[extra->function]);
    }
    return std::ranges::any_of(w_.app.samples.functions,
                               [&](const SampledFunction& f) { return f.symbol == most.part->symbol && only_one(f); });
  }

  // More work, or a slower host?
  [[nodiscard]] bool is_alone_on_host() const {
    const auto& host = w_.app.per_rank.host;
    return w_.app.hosts.size() > 1 && w_.slowest < host.size() && host[w_.slowest] < w_.app.hosts.size() &&
           std::ranges::count(host, host[w_.slowest]) == 1;
  }

  // All ranks of one host, or the ranks at one position of all hosts.
  [[nodiscard]] bool late_on_host(double ceiling) {
    const auto& host = w_.app.per_rank.host;
    if (host.size() != w_.useful.size() || w_.app.hosts.size() < 2 || is_alone_on_host()) return false;
    std::vector<std::uint32_t> local(host.size()), ranks;
    std::map<std::uint32_t, std::uint32_t> seen;
    for (std::uint32_t rank = 0; rank < host.size(); ++rank) local[rank] = seen[host[rank]]++;
    const bool node = between([&](std::uint32_t rank) { return host[rank]; }) > kExplained;
    if (!node && between([&](std::uint32_t rank) { return local[rank]; }) <= kExplained) return false;
    const std::vector<std::uint32_t>& place = node ? host : local;
    for (std::uint32_t rank = 0; rank < place.size(); ++rank) {
      if (place[rank] == place[w_.slowest]) ranks.push_back(rank);
    }
    const std::string who = !node
                                ? fmt::format("The rank at position {} of every host needs", local[w_.slowest])
                                : fmt::format("All ranks of {} need", host[w_.slowest] < w_.app.hosts.size()
                                                                          ? in_sentence(w_.app.hosts[host[w_.slowest]])
                                                                          : "one host");
    w_.add(node ? "late.node" : "late.numa", std::max(ceiling, slower_by(ranks)), ranks,
           fmt::format("{} longer than the others for the same functions, mostly {}{}", who, w_.places_of_excess(),
                       where_others_wait(w_.app, false)));
    return true;
  }

  // Mean work of these ranks above that of the others: the same work would take no longer there.
  [[nodiscard]] double slower_by(const std::vector<std::uint32_t>& ranks) const {
    double own = 0;
    for (const std::uint32_t rank : ranks) own += w_.useful[rank];
    const auto count = static_cast<double>(ranks.size()), others = static_cast<double>(w_.useful.size()) - count;
    return own / count - (sum(w_.useful) - own) / others;
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
  static constexpr double kOfOneRank = 0.7;  // of the lateness at a place: nearly always the same rank

  [[nodiscard]] LateRanks awaited_at_places() const {
    LateRanks ranks;
    for (const WaitSite& site : w_.app.waiting.call_sites) {
      if (site.awaited < w_.app.ranks && site.awaited_seconds >= kOfOneRank * site.waiting_seconds)
        ranks[site.awaited].add(site.awaited_seconds, name_of_site(site));
    }
    return ranks;
  }
  [[nodiscard]] LateRanks on_path_in_places() const {
    LateRanks ranks;
    for (const PathWork& work : w_.view.work) {
      if (work.excess() > 0 && work.part->rank_seconds >= kOfOneRank * work.part->seconds)
        ranks[work.part->rank].add(work.excess(), name_of_work(w_.app, work));
    }
    return ranks;
  }

  // Different ranks are late at different places, each always at the same one: their sums are equal, and nothing is
  // random.
  [[nodiscard]] bool late_in_phases(double ceiling, const LateRanks& late, double all, const char* where) {
    constexpr double kOfTogether = 0.7, kOfEach = 0.25;
    double together = 0;
    std::string text;
    std::vector<std::uint32_t> ranks;
    for (const auto& [rank, each] : late) {
      if (each.seconds < kOfEach * all) continue;
      together += each.seconds;
      ranks.push_back(rank);
      text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", ranks_in_words(w_.app, {rank}), where, each.place);
    }
    if (ceiling < kLeastInTurn * w_.view.run_without_load() || ranks.size() < 2 || together < kOfTogether * all)
      return false;
    w_.add("late.turns", ceiling, ranks,
           fmt::format(
               "Ranks are late in turn, each in its own part, though all work about equally long in the whole run: "
               "{}; most work is in {}",
               text, w_.places_of_excess()));
    return true;
  }

  // Some ranks wait for messages at a place of their own for as long as this costs; the others wait elsewhere: one part
  // works after the other. By chance, all would wait for messages.
  [[nodiscard]] bool works_in_stages(double ceiling) {
    constexpr double kSome = 0.7, kNearlyAllOfSome = 0.8, kFewest = 0.25;
    const bool named = std::ranges::find(w_.out, "order.recv", &Loss::code) != w_.out.end();
    if (named || ceiling < kLeastInTurn * w_.view.run_without_load()) return false;
    double of_some = 0;
    const WaitSite* most = nullptr;
    for (const WaitSite& site : w_.app.waiting.call_sites) {
      if (!is_for_sender(site)) continue;
      const CallSite* const calls = w_.calls_at(site);  // a reduction of objects has messages, too
      if (calls == nullptr || calls->ranks > kSome * w_.app.ranks || w_.objects.include(calls)) continue;
      of_some += site.waiting_seconds;
      if (most == nullptr || site.waiting_seconds > most->waiting_seconds) most = &site;
    }
    if (most == nullptr || most->waiters < kFewest * w_.app.ranks ||
        most->waiting_seconds < kNearlyAllOfSome * of_some ||
        most->waiting_seconds / most->waiters < kExplainsLoss * ceiling ||
        most->waiting_seconds * w_.app.ranks < kExplainsLoss * w_.waits.all * most->waiters)
      return false;
    w_.add("chain.serial", ceiling, {},
           fmt::format("Some ranks work only when others have: {} {} for data in {}, for {}{}; most work is in {}",
                       w_.waiters(*most), most->waiters == 1 ? "waits" : "wait", name_of_site(*most),
                       human_seconds(most->waiting_seconds / most->waiters), most->waiters == 1 ? "" : " each",
                       w_.places_of_excess()));
    w_.out.back().advice =
        "Pass on each part of this data as soon as it is done, so that the next rank can begin earlier; or remove the "
        "dependence.";
    return true;
  }

  void late_in_turn(double ceiling) {
    if (late_in_phases(ceiling)) return;
    const bool moves = w_.shape->shape == Shape::moving;
    const double rounds = static_cast<double>(rounds_in(*w_.shape->series));
    w_.add(moves ? "late.moving" : "late.noise", ceiling, {},
           fmt::format("{} each {}{} the slowest needs {} longer than the mean there, in {}, though all ranks work "
                       "about equally long in the whole run{}",
                       moves ? "The slowest rank changes during the run; in" : "Another rank is late by chance in",
                       round_word(*w_.shape->series, true), moves ? "" : ":",
                       human_seconds(w_.shape->imbalance / std::max(rounds, 1.0)), w_.places_of_excess(),
                       where_others_wait(w_.app, false)));
    // Every machine has some noise, and no program can be changed for it.
    if (!moves && w_.shape->spread < kUsualSpread) w_.out.back().is_usual = true;
  }

  void late_over_time(double ceiling) {
    const SnapshotSeries& series = *w_.shape->series;
    const bool one = w_.shape->ranks.size() == 1;
    const std::string ranks = capitalised(ranks_in_words(w_.app, w_.shape->ranks));
    const std::string places = more_work_of(
        *std::ranges::max_element(w_.shape->ranks, {}, [this](std::uint32_t rank) { return w_.useful[rank]; }));
    const char* const works = one ? "works" : "work";
    std::string text;
    std::string code;
    if (w_.shape->shape == Shape::periodic) {
      code = "late.periodic";
      text = fmt::format("{} {} longer than the others in {}, in {}", ranks, works,
                         rounds_in_words(series, w_.shape->rounds), places);
    } else if (w_.shape->shape == Shape::growing) {
      code = "late.growing";
      text = fmt::format("{} {} longer from {} to {}: {} above the mean in the first tenth, {} in the last, in {}",
                         ranks, works, round_word(series, true), round_word(series, true),
                         human_seconds(std::max(0.0, w_.shape->before)), human_seconds(w_.shape->after), places);
    } else {
      code = "late.phase";
      text = fmt::format("{} {} longer than the others {} {} {}: {} above the mean before it, {} from there on, in {}",
                         ranks, works, w_.shape->after > w_.shape->before ? "from" : "before", round_word(series, true),
                         first_number(series, w_.shape->from), human_seconds(std::max(0.0, w_.shape->before)),
                         human_seconds(std::max(0.0, w_.shape->after)), places);
    }
    w_.add(code, ceiling, w_.shape->ranks, text + where_others_wait(w_.app, one));
    if (one && w_.shape->shape != Shape::growing && runs_alone())  // data that has moved there is no work of its own
      w_.out.back().advice = kOfItsOwn;
    else if (w_.shape->shape == Shape::changed)
      may_be_a_processor(w_.shape->ranks);
  }

  const UnevenWork& w_;
};

}  // namespace

void name_late_ranks(const UnevenWork& work, double ceiling) { Lateness(work).late(ceiling); }
void name_chance(const UnevenWork& work, double ceiling, bool beside) {
  Lateness(work).late_by_chance(ceiling, beside);
}
bool name_phases_of_work(const UnevenWork& work, double ceiling) { return Lateness(work).works_in_phases(ceiling); }
bool name_late_in_phases(const UnevenWork& work, double ceiling) { return Lateness(work).late_in_phases(ceiling); }

}  // namespace ardoise::reports
