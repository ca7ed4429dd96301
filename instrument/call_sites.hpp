// Call sites: return addresses become 32-bit ids that are equal in all processes of a program, whatever its address
// space looks like. The fast path is a thread's own cache; this is what answers its misses.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "instrument/definition_queue.hpp"
#include "instrument/modules.hpp"

namespace ardoise::instrument {

inline constexpr std::uint32_t kNoCallSite = 0;   // nobody knows
inline constexpr std::uint32_t kMpiCallSite = 1;  // inside MPI or this library; never in a record

// Thread safe. A module that is unloaded is remembered: an address of a later one at the same place is taken for it.
class CallSites {
 public:
  explicit CallSites(DefinitionQueue& definitions) : definitions_(definitions) {}

  // The id of a return address, with module and call site defined at its first appearance. kMpiCallSite for addresses
  // in MPI's own objects.
  [[nodiscard]] std::uint32_t id_of(const void* return_address);

 private:
  struct Known {
    Module module;
    std::uint32_t number;
    bool is_mpi;
  };
  [[nodiscard]] const Known* known_module(std::uint64_t address) const;

  DefinitionQueue& definitions_;
  std::mutex lock_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;  // by address; guarded by lock_, as modules_
  std::vector<Known> modules_;
};

// FNV-1a of file name, build id and offset, kept away from the reserved ids.
[[nodiscard]] std::uint32_t call_site_id(const std::string& file_name, const std::string& build_id,
                                         std::uint64_t offset);

}  // namespace ardoise::instrument
