// Bytes that a call sends and receives, as pure arithmetic: no MPI, tested alone. docs/reference/mpi_functions.md
// describes the rules. `sent` is this process's contribution, `received` what it gets, counted once for each peer; a
// rooted collective includes the root's own part, and MPI_IN_PLACE changes nothing.
//
// Callables return byte counts and are only called where the standard makes the arguments behind them significant:
// other arguments may be null or garbage.
#pragma once

#include <cstdint>

namespace ardoise::vmpi {

struct Volume {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  friend bool operator==(const Volume&, const Volume&) = default;
};

namespace byte_rules {

// Role of this process in a rooted collective.
enum class Part {
  kRoot,
  kLeaf,
  kBystander,  // in the root's group of an intercommunicator, but not the root
};

// The processes of a collective.
struct Sides {
  bool inter = false;      // an intercommunicator: peers are the remote group, and no process sends to itself
  std::int64_t peers = 1;  // processes of the communicator, or of the remote group
  int rank = 0;            // in the own group
};

constexpr std::int64_t bytes(std::int64_t count, std::int64_t type_size) {
  return count > 0 && type_size > 0 ? count * type_size : 0;
}

// sum of bytes_of(0) ... bytes_of(n - 1)
constexpr std::int64_t sum(std::int64_t n, auto&& bytes_of) {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += bytes_of(i);
  return total;
}

constexpr Volume bcast(Part part, std::int64_t all) {
  return part == Part::kRoot ? Volume{all, 0} : part == Part::kLeaf ? Volume{0, all} : Volume{};
}

constexpr Volume reduce(Part part, const Sides& sides, std::int64_t all) {
  if (part == Part::kBystander) return {};
  if (part == Part::kLeaf) return {all, 0};
  return {sides.inter ? 0 : all, all};
}

constexpr Volume exscan(const Sides& sides, std::int64_t all) { return {all, sides.rank == 0 ? 0 : all}; }

// from_all: bytes that arrive at the root; own: this process's contribution; own_in_place: the same from the receive
// arguments (root only).
constexpr Volume gather(Part part, const Sides& sides, bool in_place, auto&& own, auto&& own_in_place,
                        auto&& from_all) {
  if (part == Part::kBystander) return {};
  if (part == Part::kLeaf) return {own(), 0};
  if (sides.inter) return {0, from_all()};
  return {in_place ? own_in_place() : own(), from_all()};
}

constexpr Volume scatter(Part part, const Sides& sides, bool in_place, auto&& own, auto&& own_in_place, auto&& to_all) {
  if (part == Part::kBystander) return {};
  if (part == Part::kLeaf) return {0, own()};
  if (sides.inter) return {to_all(), 0};
  return {to_all(), in_place ? own_in_place() : own()};
}

constexpr Volume allgather(bool in_place, auto&& own, auto&& own_in_place, auto&& from_all) {
  return {in_place ? own_in_place() : own(), from_all()};
}

constexpr Volume alltoall(bool in_place, auto&& to_all, auto&& from_all) {
  const std::int64_t received = from_all();
  return {in_place ? received : to_all(), received};
}

}  // namespace byte_rules
}  // namespace ardoise::vmpi
