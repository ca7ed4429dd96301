// Between the blackboards of one launch: carries an entry with a key to the board that owns the key
// (Blackboard::submit_keyed). The boards know no more than this of each other; the analyzer implements it over MPI,
// LocalTransport in one process.
#pragma once

#include <cstdint>

#include "blackboard/data_entry.hpp"

namespace ardoise::blackboard {

class Transport {
 public:
  virtual ~Transport() = default;
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // The same on all boards; self() is one of 0 … boards() - 1.
  [[nodiscard]] virtual unsigned boards() const noexcept = 0;
  [[nodiscard]] virtual unsigned self() const noexcept = 0;

  // Has an entry of the same type and bytes submitted on another board. Never waits; any thread. The entry counts on
  // its board's byte limit until it has left, so that who submits obeys the limit of what is on its way, too.
  virtual void send(unsigned board, EntryRef entry) = 0;
};

// The board of 0 … boards - 1 that owns a key. Neighbouring keys go to different boards.
[[nodiscard]] constexpr unsigned owner_of(std::uint64_t key, unsigned boards) noexcept {
  // The finalizer of MurmurHash3, then the high bits.
  key = (key ^ key >> 33) * 0xFF51AFD7ED558CCDu;
  key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53u;
  return static_cast<unsigned>((key >> 32) * boards >> 32);
}

}  // namespace ardoise::blackboard
