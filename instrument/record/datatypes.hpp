// Datatypes as definitions: numbers in this process, each with a text of its construction. Used only if arguments of
// calls are recorded. Does not depend on MPI: mpi_queries.cpp describes the datatypes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "blackboard/threads/mutex.hpp"
#include "instrument/buffer/definition_queue.hpp"

namespace ardoise::instrument {

struct DatatypeFacts {
  std::string text;                                    // "MPI_INT", "vector(10,1,20;;MPI_DOUBLE)"
  std::int64_t size = 0, lower_bound = 0, extent = 0;  // bytes
};

// Thread safe.
class Datatypes {
 public:
  static constexpr std::uint32_t kNone = 0;
  static constexpr std::size_t kMost = 65536;  // the most definitions

  Datatypes(DefinitionQueue& definitions, DatatypeFacts (*describe)(std::int64_t word))
      : definitions_(definitions), describe_(describe) {}

  // word: of a valid handle, or of MPI_DATATYPE_NULL. kNone: that one, or the table is full.
  [[nodiscard]] std::uint32_t number(std::int64_t word);
  // A handle was freed and may be reused for another datatype.
  void forget_handles();

 private:
  DefinitionQueue& definitions_;
  DatatypeFacts (*const describe_)(std::int64_t word);
  Mutex lock_;
  std::unordered_map<std::int64_t, std::uint32_t> by_handle_ GUARDED_BY(lock_);
  std::unordered_map<std::string, std::uint32_t> by_text_ GUARDED_BY(lock_);
};

}  // namespace ardoise::instrument
