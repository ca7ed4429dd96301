// Queries that programs call very often: functions that MPI answers from the process's own memory (MPI_Type_size,
// MPI_Comm_rank ...; the flag !query of the function table). A record of each would cost many times the call itself.
// The first calls from a place are recorded as usual. Later ones are counted, and every 61st is timed and recorded with
// the ones before it, as a sum. The count of calls is exact. The time of calls that were only counted is the shortest
// time measured at the place: a low estimate, since a preempted call must not count sixtyfold. Places whose first calls
// take unequally long (MPI_Pack of many sizes) are not counted but recorded.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ardoise::instrument {

// Owned by one thread, which stays in kRecording. A place is a function and the return address of its call.
class QueryCounts {
 public:
  static constexpr std::uint32_t kRecorded = 1000, kEvery = 61;
  // A call that takes so many times the shortest time, and ticks more, is unlike the others.
  static constexpr std::uint64_t kSeveral = 4, kUnsure = 500;

  struct Place {
    const void* caller = nullptr;
    std::uint32_t function = 0;
    std::uint32_t recorded = 0;   // calls, at most kRecorded
    std::uint32_t pending = 0;    // calls that were counted but not yet recorded
    std::uint32_t long_ones = 0;  // recorded calls that took several times the shortest time until then
    std::uint64_t shortest = ~std::uint64_t{0};
  };

  // A call begins. True: it is counted, and needs no further work.
  [[nodiscard]] bool count(const void* caller, std::uint32_t function) {
    Place* const place = find(caller, function);
    if (place == nullptr || place->recorded < kRecorded || place->pending == kEvery - 1) return false;
    if (place->long_ones > kRecorded / 4) [[unlikely]]
      return false;
    ++place->pending;
    return true;
  }

  // A call that was not counted took so many ticks. Returns its place if counted calls there are to be recorded now, by
  // the caller.
  [[nodiscard]] Place* timed(const void* caller, std::uint32_t function, std::uint64_t ticks) {
    Place* const place = find(caller, function);
    if (place == nullptr) return nullptr;
    place->caller = caller;
    place->function = function;
    place->shortest = std::min(place->shortest, ticks);
    if (place->recorded < kRecorded) {
      ++place->recorded;
      if (ticks > kSeveral * place->shortest + kUnsure) ++place->long_ones;
      return nullptr;
    }
    return place->pending != 0 ? place : nullptr;
  }

  // The places with calls that are not yet recorded, when no further call can follow.
  template <class Tell>
  void for_each_pending(Tell tell) {
    for (Place& place : places_) {
      if (place.pending != 0) tell(place);
    }
  }

 private:
  static constexpr unsigned kIndexBits = 9, kProbes = 8;
  static constexpr std::size_t kPlaces = std::size_t{1} << kIndexBits;

  // The place, or a free one for it; nullptr: the table is full, and calls from there are all recorded.
  [[nodiscard]] Place* find(const void* caller, std::uint32_t function) {
    const std::uint64_t mixed = reinterpret_cast<std::uint64_t>(caller) * 0x9E3779B97F4A7C15u >> (64 - kIndexBits);
    for (std::size_t i = 0; i < kProbes; ++i) {
      Place& place = places_[(mixed + i) % kPlaces];
      if (place.caller == caller && place.function == function) [[likely]]
        return &place;
      if (place.caller == nullptr) return &place;
    }
    return nullptr;
  }
  std::array<Place, kPlaces> places_{};
};

}  // namespace ardoise::instrument
