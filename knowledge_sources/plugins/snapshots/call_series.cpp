#include "knowledge_sources/plugins/snapshots/call_series.hpp"

#include <algorithm>
#include <span>

namespace ardoise::knowledge_sources {
namespace {

// Sites belong to the same loop if their visit counts differ by no more than this ratio.
constexpr double kSameLoop = 0.8;
constexpr std::uint32_t kMostShift = 60;

}  // namespace

std::uint32_t CallSeries::number_of(std::uint64_t key) {
  if (const std::uint32_t* const known = numbers_.find(key); known != nullptr) return *known;
  if (sites_.size() >= kMostSites && key != kFurtherSites) return number_of(kFurtherSites);
  const auto number = static_cast<std::uint32_t>(sites_.size());
  sites_.push_back({.key = key, .begins = key != kFurtherSites ? 1u : 0u});
  places_.emplace_back();
  (void)numbers_.insert(key, number);
  return number;
}

void CallSeries::add_to(std::uint32_t piece, std::uint32_t site, const CallSums& sums) {
  Place& place = places_[site];
  if (place.piece == piece) {
    cells_[place.cell].sums += sums;
    return;
  }
  const bool is_latest = piece + 1 == pieces_.size();
  for (std::uint32_t at = is_latest ? kNone : pieces_[piece].first; at != kNone; at = cells_[at].next) {
    if (cells_[at].site != site) continue;
    cells_[at].sums += sums;
    return;
  }
  cells_.push_back({site, pieces_[piece].first, sums});
  pieces_[piece].first = static_cast<std::uint32_t>(cells_.size() - 1);
  if (is_latest) place = {piece, pieces_[piece].first};
}

void CallSeries::visit(std::uint64_t key, std::int64_t begin, const CallSums& sums) {
  if (pieces_.size() + cells_.size() >= most_) make_room();
  const std::uint32_t number = number_of(key);
  const auto begins_piece = [](const Site& site) {
    return site.begins != 0 && (site.visits & ((std::uint64_t{1} << site.shift) - 1)) == 0;
  };
  const bool begins = begins_piece(sites_[number]);
  if (begins || pieces_.empty()) {
    const std::int64_t since = pieces_.empty() ? begin : std::clamp(latest_end_, pieces_.back().begin, begin);
    pieces_.push_back({since, begin, begins ? number : kNone, kNone});
  }
  take_pending();
  Site& site = sites_[number];
  if (site.visits++ == 0) site.first_begin = begin;
  const std::int64_t end = begin + static_cast<std::int64_t>(sums.ns);
  site.last_end = std::max(site.last_end, end);
  last_begin_ = std::max(last_begin_, begin);
  latest_end_ = std::max(latest_end_, end);
  add_to(static_cast<std::uint32_t>(pieces_.size() - 1), number, sums);
}

void CallSeries::add(std::uint64_t key, std::int64_t begin, const CallSums& sums) {
  if (pieces_.empty() || begin >= latest_end_) {
    constexpr std::size_t kMostPending = 4096;
    pending_.emplace_back(key, sums);
    if (pending_.size() >= kMostPending) join_pending();
    if (pending_.size() >= kMostPending) finish();
    return;
  }
  if (pieces_.size() + cells_.size() >= most_) make_room();
  std::size_t piece = pieces_.size() - 1;
  if (begin < pieces_.back().begin) {
    const auto after = std::ranges::upper_bound(pieces_, begin, {}, &Piece::begin);
    piece = after == pieces_.begin() ? 0 : static_cast<std::size_t>(after - pieces_.begin()) - 1;
  }
  add_to(static_cast<std::uint32_t>(piece), number_of(key), sums);
}

// One entry for each key.
void CallSeries::join_pending() {
  std::ranges::stable_sort(pending_, {}, &Pending::first);
  std::size_t last = 0;
  for (std::size_t i = 1; i < pending_.size(); ++i) {
    if (pending_[i].first == pending_[last].first) {
      pending_[last].second += pending_[i].second;
    } else {
      pending_[++last] = pending_[i];
    }
  }
  pending_.resize(last + 1);
}

void CallSeries::take_pending() {
  const auto piece = static_cast<std::uint32_t>(pieces_.size() - 1);
  for (const auto& [key, sums] : pending_) add_to(piece, number_of(key), sums);
  pending_.clear();
}

void CallSeries::finish() {
  if (pending_.empty()) return;
  if (pieces_.empty()) pieces_.push_back({0, 0, kNone, kNone});
  take_pending();
}

// Until half of the room is free.
void CallSeries::make_room() {
  while (pieces_.size() + cells_.size() > most_ / 2) {
    const std::uint32_t busiest = site_of_most_pieces();
    if (busiest == kNone) break;
    const std::uint32_t last = last_of_its_loop(busiest);
    const bool thins_out = last == busiest && sites_[busiest].shift < kMostShift;
    if (thins_out) {
      ++sites_[busiest].shift;
    } else {
      sites_[last].begins = 0;
    }
    join_pieces(thins_out ? busiest : kNone);
  }
  // A piece has a cell for each site.
  most_ = std::max(most_, 2 * (pieces_.size() + cells_.size()));
}

// kNone: no site has pieces to remove.
std::uint32_t CallSeries::site_of_most_pieces() const {
  std::vector<std::uint32_t> counts(sites_.size());
  for (const Piece& piece : pieces_) {
    if (piece.site != kNone) ++counts[piece.site];
  }
  const auto most = std::ranges::max_element(counts);
  return pieces_.size() < 2 || most == counts.end() || *most == 0 ? kNone
                                                                  : static_cast<std::uint32_t>(most - counts.begin());
}

// Returns the least visited site of the loop that begins pieces, the latest one of several. The loop's first call,
// which occurs in each iteration, is therefore the last to go.
std::uint32_t CallSeries::last_of_its_loop(std::uint32_t number) const {
  const auto visits = static_cast<double>(sites_[number].visits);
  std::uint32_t last = number;
  for (std::uint32_t other = 0; other < sites_.size(); ++other) {
    const Site& site = sites_[other];
    const auto of_other = static_cast<double>(site.visits);
    if (site.begins == 0 || of_other < kSameLoop * visits || visits < kSameLoop * of_other) continue;
    if (site.visits < sites_[last].visits || (site.visits == sites_[last].visits && other > last)) last = other;
  }
  return last;
}

// Joins pieces of sites that begin none any more, and every other piece of the site that is thinned out, to the
// previous pieces.
void CallSeries::join_pieces(std::uint32_t thinned) {
  std::vector<Piece> pieces;
  std::vector<Cell> cells;
  std::vector<Place> places(sites_.size());
  bool is_odd = true;  // the latest piece of `thinned`
  for (const Piece& piece : pieces_) {
    if (piece.site == thinned) is_odd = !is_odd;
    const bool begins = piece.site != kNone && sites_[piece.site].begins != 0 && !(piece.site == thinned && is_odd);
    if (begins || pieces.empty()) pieces.push_back({piece.begin, piece.call, begins ? piece.site : kNone, kNone});
    const auto into = static_cast<std::uint32_t>(pieces.size() - 1);
    for_each_call(piece, [&](std::uint32_t site, const CallSums& sums) {
      Place& place = places[site];
      if (place.piece != into) {
        cells.push_back({site, pieces.back().first, {}});
        pieces.back().first = static_cast<std::uint32_t>(cells.size() - 1);
        place = {into, pieces.back().first};
      }
      cells[place.cell].sums += sums;
    });
  }
  pieces_ = std::move(pieces);
  cells_ = std::move(cells);
  places_ = std::move(places);
}

void CallSeries::write(ByteWriter& out) const {
  out.put(last_begin_);
  out.put(latest_end_);
  out.put_array(std::span<const Site>(sites_));
  out.put_array(std::span<const Piece>(pieces_));
  out.put_array(std::span<const Cell>(cells_));
}

void CallSeries::read(ByteReader& in) {
  last_begin_ = in.get<std::int64_t>();
  latest_end_ = in.get<std::int64_t>();
  sites_ = in.get_array<Site>();
  in.check(std::ranges::all_of(sites_, [](const Site& each) { return each.shift <= kMostShift; }),
           "has a piece of too many visits");
  places_.resize(sites_.size());
  for (std::uint32_t site = 0; site < sites_.size(); ++site) (void)numbers_.insert(sites_[site].key, site);
  pieces_ = in.get_array<Piece>();
  cells_ = in.get_array<Cell>();
  const auto is_site = [&](std::uint32_t site) { return site < sites_.size(); };
  in.check(std::ranges::all_of(pieces_, [&](const Piece& each) { return each.site == kNone || is_site(each.site); }),
           "has a piece of a call site that does not exist");
  // A later cell comes first in its piece, so lists have no cycles.
  for (std::uint32_t at = 0; at < cells_.size(); ++at) {
    in.check(is_site(cells_[at].site) && (cells_[at].next == kNone || cells_[at].next < at),
             "has a sum without an owner");
  }
  in.check(std::ranges::all_of(pieces_,
                               [&](const Piece& each) { return each.first == kNone || each.first < cells_.size(); }),
           "has a piece without sums");
  in.check(std::ranges::is_sorted(pieces_, {}, &Piece::begin), "has pieces out of order");
  // Later calls find the cells of the latest piece.
  if (pieces_.empty()) return;
  for (std::uint32_t at = pieces_.back().first; at != kNone; at = cells_[at].next)
    places_[cells_[at].site] = {static_cast<std::uint32_t>(pieces_.size() - 1), at};
}

}  // namespace ardoise::knowledge_sources
