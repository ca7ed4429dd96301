// Call sites: return addresses become 32-bit ids that are equal in all processes of a program, whatever its address
// space looks like. The fast path is a thread's own cache; this is what answers its misses.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "instrument/buffer/definition_queue.hpp"
#include "instrument/machine/modules.hpp"

namespace ardoise::instrument {

inline constexpr std::uint32_t kNoCallSite = 0;   // nobody knows
inline constexpr std::uint32_t kMpiCallSite = 1;  // inside MPI or this library; never in a record
[[nodiscard]] constexpr std::uint32_t site_for_record(std::uint32_t id) {
  return id == kMpiCallSite ? kNoCallSite : id;
}

// Thread safe. A module that is unloaded unseen (see forget()) is remembered: an address of a later one at the same
// place is taken for it.
class CallSites {
 public:
  explicit CallSites(DefinitionQueue& definitions) : definitions_(definitions) {}

  // The id of a return address, with module and call site defined at its first appearance. kMpiCallSite for addresses
  // in MPI's own objects.
  [[nodiscard]] std::uint32_t id_of(const void* return_address);

  struct Place {
    std::uint32_t module = kNoModule;  // ModuleDefinition::module
    std::uint64_t offset = 0;          // in the module's own addresses; without a module the address itself
  };
  static constexpr std::uint32_t kNoModule = 0xFFFFFFFFu;
  // Where an address lies, with its module defined at its first appearance.
  [[nodiscard]] Place place_of(std::uint64_t address);

  // Nothing is loaded in [begin, end) any more: what is next there is something else.
  void forget(std::uint64_t begin, std::uint64_t end);

 private:
  struct Known {
    Module module;
    std::uint32_t number;
    bool is_mpi;
  };
  [[nodiscard]] const Known* known_module(std::uint64_t address) const;
  [[nodiscard]] const Known* add_module(std::optional<Module> loaded);

  DefinitionQueue& definitions_;
  std::mutex lock_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;  // by address; guarded by lock_, as modules_
  std::vector<Known> modules_;                            // that are loaded
  std::uint32_t next_module_ = 0;
};

// FNV-1a of file name, build id and offset, kept away from the reserved ids.
[[nodiscard]] std::uint32_t call_site_id(const std::string& file_name, const std::string& build_id,
                                         std::uint64_t offset);

}  // namespace ardoise::instrument
