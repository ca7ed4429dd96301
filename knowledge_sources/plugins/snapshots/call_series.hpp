// The calls of a rank over time, in bounded memory, so that any loop of call sites can later be cut into its
// iterations, once the loop is known: a list of *pieces*. Each piece ends with a visit of a call site, begins where the
// call before it ended, and has the sums of that time: most loops compute, then communicate. Sites that begin no pieces
// belong to the piece before.
//
//   calls    a  b c b c b c  d  a  b c b c b c  d  …          every visit begins a piece at first
//   pieces   a  bcbcbc       d  a  bcbcbc       d             c, then b, were visited most, and begin none any more
//
// When memory is short, one call site of the loop with most pieces (sites visited equally often) begins no pieces any
// more, and its pieces join the previous ones. If it is the last site of its loop, it is thinned out: 2, 4, 8 … visits
// per piece. Only times are lost: the sums over all pieces stay those of the rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/snapshot_files/call_sums.hpp"

namespace ardoise::knowledge_sources {

// Times in ns on the program's time axis. Not thread safe.
class CallSeries {
 public:
  static constexpr std::size_t kMostSites = 4096;  // further ones share one that begins no pieces
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint64_t kFurtherSites = ~std::uint64_t{0};  // key of sites beyond kMostSites

  struct Site {
    std::uint64_t key = 0;  // as passed to add()
    std::uint64_t visits = 0;
    std::int64_t first_begin = 0, last_end = 0;  // of its calls
    std::uint32_t shift = 0;    // every 2^shift-th visit begins a piece
    std::uint32_t begins = 1;   // 0: no visit begins a piece
  };
  struct Piece {
    std::int64_t begin;   // end of the call before; of the first piece, begin of its call
    std::int64_t call;    // begin of its call
    std::uint32_t site;   // index in sites(); kNone: before the first visit
    std::uint32_t first;  // first cell
  };
  struct Cell {
    std::uint32_t site, next;  // next: of the same piece; kNone: none
    CallSums sums;
  };

  // most: limit of pieces and cells together, of some 24 and 32 bytes.
  explicit CallSeries(std::size_t most) : most_(most) {}

  // A call of the followed thread, in the order of its calls.
  void visit(std::uint64_t key, std::int64_t begin, const CallSums& sums);
  // Any other call, which begins no piece: added to the piece of its time.
  void add(std::uint64_t key, std::int64_t begin, const CallSums& sums);

  [[nodiscard]] const std::vector<Site>& sites() const { return sites_; }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  // Calls use(site, sums) for the calls of a piece.
  template <class Use>
  void for_each_call(const Piece& piece, Use&& use) const {
    for (std::uint32_t at = piece.first; at != kNone; at = cells_[at].next) use(cells_[at].site, cells_[at].sums);
  }
  // Calls use(key, sums) for all calls so far.
  template <class Use>
  void for_each_sum(Use&& use) const {
    for (const Piece& piece : pieces_) {
      for_each_call(piece, [&](std::uint32_t site, const CallSums& sums) { use(sites_[site].key, sums); });
    }
    for (const auto& [key, sums] : pending_) use(key, sums);
  }
  [[nodiscard]] std::int64_t last_begin() const { return last_begin_; }  // of all visits

  // Pending sums join the last piece.
  void finish();
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

 private:
  struct Place {  // position of a site's cell in the latest piece
    std::uint32_t piece = kNone, cell = kNone;
  };
  [[nodiscard]] std::uint32_t number_of(std::uint64_t key);
  using Pending = std::pair<std::uint64_t, CallSums>;
  void join_pending();
  void take_pending();
  void add_to(std::uint32_t piece, std::uint32_t site, const CallSums& sums);
  void make_room();
  [[nodiscard]] std::uint32_t site_of_most_pieces() const;
  [[nodiscard]] std::uint32_t last_of_its_loop(std::uint32_t site) const;
  void join_pieces(std::uint32_t thinned);

  std::size_t most_;
  std::vector<Site> sites_;
  std::vector<Place> places_;  // by site
  FlatTable<std::uint64_t, std::uint32_t> numbers_;
  std::vector<Piece> pieces_;
  std::vector<Cell> cells_;
  std::int64_t last_begin_ = 0, latest_end_ = 0;  // of all visits
  // Since the latest visit ended: they belong to the next piece, if one begins.
  std::vector<Pending> pending_;
};

}  // namespace ardoise::knowledge_sources
