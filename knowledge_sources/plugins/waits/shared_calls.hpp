// Calls that complete several operations, mainly MPI_Waitall, wait for the last of them: of the waits for each, which
// become known at different times, the longest is the call's; a late sender is preferred to another wait of about the
// same length. Memory: calls with unknown waits, at most kMostCalls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/matching/patterns.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class SharedCalls {
 public:
  static constexpr std::size_t kMostCalls = std::size_t{1} << 20;

  // The call's wait, if this was its last unknown operation.
  std::optional<Wait> add(const Wait& wait) { return add(wait, 1); }
  template <class Use>
  void merge(const SharedCalls& other, Use&& use) {
    other.calls_.for_each([&](std::uint64_t, const Call& call) {
      if (const auto done = add(call.greatest, call.known)) use(*done);
    });
  }

  void write(ByteWriter& out) const;
  void read(ByteReader& in, std::uint32_t ranks);  // into an empty one

 private:
  struct Call {
    Wait greatest;
    std::uint32_t known;  // known operations
  };
  static std::uint64_t key(const Wait& wait) { return std::uint64_t{wait.waiter} << 32 | wait.call; }
  std::optional<Wait> add(const Wait& wait, std::uint32_t known);

  FlatTable<std::uint64_t, Call> calls_;
};

}  // namespace ardoise::knowledge_sources
