// Connects the blackboards of one launch: sends an entry with a key to the board that owns the key
// (Blackboard::submit_keyed). The analyzer implements it over MPI, LocalTransport within one process.
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

  // Equal on all boards; self() is one of 0 … boards() - 1.
  [[nodiscard]] virtual unsigned boards() const noexcept = 0;
  [[nodiscard]] virtual unsigned self() const noexcept = 0;

  // Submits an entry of the same type and bytes on another board. Never blocks; any thread. The entry counts on this
  // board's byte limit until it is sent, so that submitters that obey the limit bound the entries in flight too.
  virtual void send(unsigned board, EntryRef entry) = 0;
};

// The board (0 … boards - 1) that owns a key. Consecutive keys go to different boards.
[[nodiscard]] constexpr unsigned owner_of(std::uint64_t key, unsigned boards) noexcept {
  // The finalizer of MurmurHash3, then the high bits.
  key = (key ^ key >> 33) * 0xFF51AFD7ED558CCDu;
  key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53u;
  return static_cast<unsigned>((key >> 32) * boards >> 32);
}

}  // namespace ardoise::blackboard
