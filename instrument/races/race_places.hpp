// The key (format/race_tokens.hpp) of a call: its function, its call site, and the size of its communicator, which
// identifies communicators across runs. One for each thread and stream; not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "instrument/format/race_tokens.hpp"
#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {

class RacePlaces {
 public:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  // The stored number of a call's place: kUnknown at first.
  [[nodiscard]] std::uint32_t& number(const vmpi::Call& call) {
    const Place place{call.return_address, size_of(call.comm), static_cast<std::uint32_t>(call.function)};
    if (last_ != nullptr && place == last_place_) [[likely]]
      return *last_;
    last_place_ = place;
    last_ = &numbers_.try_emplace(place, kUnknown).first->second;
    return *last_;
  }

  // May wait: calls the loader.
  [[nodiscard]] static RaceKey describe(const vmpi::Call& call);

 private:
  struct Place {
    const void* address = nullptr;
    std::int32_t comm_size = 0;
    std::uint32_t function = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Hash {
    std::size_t operator()(const Place& place) const {
      return (reinterpret_cast<std::uintptr_t>(place.address) * 31 + place.function) * 31 +
             static_cast<std::uint32_t>(place.comm_size);
    }
  };
  [[nodiscard]] static std::int32_t size_of(MPI_Comm comm) {
    int size = 0;
    if (comm != MPI_COMM_NULL) PMPI_Comm_size(comm, &size);
    return size;
  }

  std::unordered_map<Place, std::uint32_t, Hash> numbers_;  // references stay valid
  Place last_place_;
  std::uint32_t* last_ = nullptr;
};

}  // namespace ardoise::instrument
