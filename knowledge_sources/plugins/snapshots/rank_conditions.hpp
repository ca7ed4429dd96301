// Evaluates conditions (condition.hpp) for a rank, call by call in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/plugins/snapshots/condition.hpp"
#include "knowledge_sources/snapshot_files/call_sums.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class RankConditions {
 public:
  // Conditions on ranks: Condition::is_of_program() is false. They outlive this object.
  explicit RankConditions(std::span<const Condition> conditions);

  [[nodiscard]] bool is_empty() const { return states_.empty(); }
  [[nodiscard]] std::int64_t times_held(std::uint32_t condition) const { return states_[condition].times; }
  // A call has ended; is_in_world: a collective on MPI_COMM_WORLD. taken(i): condition i has become true.
  template <class Taken>
  void call(std::uint64_t key, std::int64_t end, const CallSums& sums, bool is_in_world, Taken&& taken) {
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      if (add(i, key, end, sums, is_in_world)) taken(i);
    }
  }
  template <class Taken>
  void value(std::uint32_t name, double x, std::int64_t time, Taken&& taken) {
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      if (tell(i, name, x, time)) taken(i);
    }
  }

  // More events of a name were counted.
  template <class Taken>
  void counted(std::uint32_t name, std::uint64_t events, std::int64_t time, Taken&& taken) {
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      if (count(i, name, events, time)) taken(i);
    }
  }

  void write(ByteWriter& out) const;
  void read(ByteReader& in);

 private:
  struct State {
    std::vector<double> values;
    std::int64_t last = 0;   // last snapshot; ns
    std::int64_t times = 0;  // number of times it became true
    bool held = false;
  };
  [[nodiscard]] bool add(std::uint32_t at, std::uint64_t key, std::int64_t end, const CallSums& sums, bool is_in_world);
  [[nodiscard]] bool tell(std::uint32_t at, std::uint32_t name, double x, std::int64_t time);
  [[nodiscard]] bool count(std::uint32_t at, std::uint32_t name, std::uint64_t events, std::int64_t time);
  [[nodiscard]] bool looks(std::uint32_t at, std::int64_t time);

  std::span<const Condition> conditions_;
  std::vector<State> states_;
};

}  // namespace ardoise::knowledge_sources
