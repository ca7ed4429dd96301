// Sentences on clusters of ranks and their moves; see rank_moves.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/findings/ending_view.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/text/joined.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kMostSentences = 4;

// The word for rounds of a series, without the text of a condition.
std::string word_of_rounds(const SnapshotSeries& s, bool is_one) {
  if (s.trigger == "condition") return is_one ? "snapshot" : "snapshots";
  return round_word(s, is_one);
}

class Sentences {
 public:
  Sentences(const Application& app, const SnapshotSeries& s, const RankMoves& moves)
      : app_(app), s_(s), moves_(moves) {}

  // The move of some points from the first part to this one; "": none.
  [[nodiscard]] std::string move(std::size_t part, std::span<const std::uint32_t> some) const {
    const PlanePoint before = moves_.centre(some, 0), now = moves_.centre(some, part);
    const std::string who = capitalised(subject(0, part, some));
    const bool is_one = !is_plural(some);
    std::string text;
    if (std::abs(now.x - before.x) > RankMoves::kReach * moves_.scale.x) {
      const GrowthOfOthers others = growth_of_others(moves_, part, some);
      const std::string in = part_in_words(s_, moves_.parts[part]);
      text = before.x > 0 ? fmt::format(
                                "{} {} {} times as long outside MPI and I/O in {} as in the first ({} each instead "
                                "of {}){}.",
                                who, is_one ? "takes" : "take", times_in_words(now.x / before.x), in,
                                human_seconds(now.x), human_seconds(before.x), others_in_words(others))
                          : fmt::format("{} {} {} outside MPI and I/O in each of {}, nothing in the first.", who,
                                        is_one ? "takes" : "take", human_seconds(now.x), in);
    }
    if (std::abs(now.y - before.y) > RankMoves::kReach * moves_.scale.y) {
      text += fmt::format("{}{} {} in each {} of the {} tenth, {} in the first.", text.empty() ? "" : " ",
                          text.empty() ? who
                          : is_one     ? "It"
                                       : "They",
                          does(is_one, now.y), word_of_rounds(s_, true), moves_.parts[part].name,
                          in_metric(moves_.metric, before.y));
    }
    return text;
  }

  // "27.8 ms and 1.50 MiB for rank 2 (cluster B)", in the last part.
  [[nodiscard]] std::string state(std::uint32_t cluster) const {
    const std::size_t part = moves_.parts.size() - 1;
    const auto some = moves_.points_of(part, cluster);
    const PlanePoint now = moves_.centre(some, part);
    return fmt::format("{} and {} for {}", human_seconds(now.x), in_metric(moves_.metric, now.y),
                       subject(part, part, some));
  }

 private:
  // "ranks 12–15 (cluster A, then B)"
  [[nodiscard]] std::string subject(std::size_t first, std::size_t then, std::span<const std::uint32_t> some) const {
    const std::string before = letter_of(moves_.parts[first].cluster[some[0]]),
                      now = letter_of(moves_.parts[then].cluster[some[0]]);
    return fmt::format("{} (cluster {}{})", ranks_of_points(app_, s_, moves_, some), before,
                       before == now ? "" : ", then " + now);
  }
  [[nodiscard]] bool is_plural(std::span<const std::uint32_t> some) const {
    return ranks_of_points(app_, s_, moves_, some).starts_with("ranks ");
  }
  // "moves 1.50 MiB in MPI calls"
  [[nodiscard]] std::string does(bool is_one, double value) const {
    const std::string amount = in_metric(moves_.metric, value);
    switch (moves_.metric) {
      case MoveMetric::bytes:
        return fmt::format("{} {} in MPI calls", is_one ? "moves" : "move", amount);
      case MoveMetric::io:
        return fmt::format("{} {} in I/O", is_one ? "takes" : "take", amount);
      case MoveMetric::calls:
        break;
    }
    return fmt::format("{} {} of MPI", is_one ? "makes" : "make", amount);
  }

  const Application& app_;
  const SnapshotSeries& s_;
  const RankMoves& moves_;
};

}  // namespace

GrowthOfOthers growth_of_others(const RankMoves& moves, std::size_t part, std::span<const std::uint32_t> some) {
  GrowthOfOthers growth;
  for (std::uint32_t point = 0; point < moves.groups.size(); ++point) {
    const double before = moves.parts[0].points[point].x, now = moves.parts[part].points[point].x;
    if (std::ranges::binary_search(some, point)) continue;
    const bool stays = std::abs(now - before) <= RankMoves::kReach * moves.scale.x;
    growth.all_stay = growth.all_stay && stays;
    if (!stays || !(before > 0)) continue;
    growth.least = growth.staying == 0 ? now / before : std::min(growth.least, now / before);
    growth.most = std::max(growth.most, now / before);
    ++growth.staying;
  }
  return growth;
}

std::string times_in_words(double ratio) {
  return ratio < 9.95 ? fmt::format("{:.1f}", ratio) : fmt::format("{:.0f}", ratio);
}

std::string others_in_words(const GrowthOfOthers& others) {
  if (others.staying == 0) return "";
  const std::string least = times_in_words(others.least), most = times_in_words(others.most);
  return fmt::format(", {} {}{} times", others.all_stay ? "all others" : "ranks without drift", least,
                     least == most ? "" : " to " + most);
}

std::string part_in_words(const SnapshotSeries& s, const RankMoves::Part& part) {
  return fmt::format("the {} tenth of the {}", part.name, word_of_rounds(s, false));
}

std::string letter_of(std::uint32_t cluster) {
  const std::string letter(1, static_cast<char>('A' + cluster % 26));
  return cluster < 26 ? letter : fmt::format("{}{}", letter, cluster / 26);
}

std::string ranks_of_points(const Application& app, const SnapshotSeries& s, const RankMoves& moves,
                            std::span<const std::uint32_t> some) {
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t point : some) {
    const std::uint32_t first = moves.groups[point] * s.ranks_per_group;
    for (std::uint32_t rank = first; rank < std::min(first + s.ranks_per_group, app.ranks); ++rank)
      ranks.push_back(rank);
  }
  return ranks_in_words(app, ranks);
}

const char* name_of_metric(MoveMetric metric) {
  switch (metric) {
    case MoveMetric::bytes:
      return "bytes in MPI calls";
    case MoveMetric::io:
      return "time in I/O";
    case MoveMetric::calls:
      break;
  }
  return "MPI calls";
}

std::string in_metric(MoveMetric metric, double value) {
  switch (metric) {
    case MoveMetric::bytes:
      return human_bytes(value);
    case MoveMetric::io:
      return human_seconds(value);
    case MoveMetric::calls:
      break;
  }
  return value < 9.95 && value != std::floor(value) ? fmt::format("{:.1f} calls", value) : human_counted(value, "call");
}

std::vector<std::string> moves_in_words(const Application& app, const SnapshotSeries& s, const RankMoves& moves) {
  std::vector<std::string> sentences;
  if (moves.parts.empty()) return sentences;
  const Sentences words(app, s, moves);
  const std::size_t last = moves.parts.size() - 1;
  // Longest moves first. A part before the last one lists only ranks that returned later.
  const auto add_moves = [&](std::size_t part) {
    auto paths = moves.paths;
    std::ranges::stable_sort(paths, std::ranges::greater{}, [&](const auto& each) { return moves.way(each, 0, part); });
    for (const auto& each : paths) {
      if (part != last && moves.way(each, 0, last) > RankMoves::kReach) continue;
      std::string text = words.move(part, each);
      if (!text.empty() && sentences.size() < kMostSentences) sentences.push_back(std::move(text));
    }
  };
  add_moves(last);
  for (std::size_t part = 1; part < last; ++part) add_moves(part);
  if (!sentences.empty()) return sentences;
  std::vector<std::string> states;
  for (const std::uint32_t each : moves.clusters(last)) states.push_back(words.state(each));
  sentences.push_back(fmt::format("In each {} of the last tenth, time outside MPI and I/O and {} are {}.",
                                  word_of_rounds(s, true), name_of_metric(moves.metric), joined(states, ", ")));
  sentences.emplace_back("The clusters do not move.");
  return sentences;
}

}  // namespace ardoise::reports
