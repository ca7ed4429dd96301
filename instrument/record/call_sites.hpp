// Call sites: return addresses become 32-bit ids that are equal in all processes of a program, whatever the address
// space layout. The fast path is each thread's own cache; this table answers its misses.
//
//   address ──modules_, lock-free──▶ place in a module ──hash──▶ id ──push list──▶ define_new() ──▶ DefinitionQueue
//                └─ unknown: learn() asks the loader, where that is allowed
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "blackboard/threads/mutex.hpp"
#include "instrument/buffer/definition_queue.hpp"
#include "instrument/buffer/push_list.hpp"
#include "instrument/machine/modules.hpp"

namespace ardoise::instrument {

inline constexpr std::uint32_t kNoCallSite = 0;   // unknown
inline constexpr std::uint32_t kMpiCallSite = 1;  // inside MPI or this library; never in a record
[[nodiscard]] constexpr std::uint32_t site_for_record(std::uint32_t id) {
  return id == kMpiCallSite ? kNoCallSite : id;
}

// Thread safe. A module that is unloaded unnoticed (see forget()) stays: an address of a later module at the same place
// is attributed to it.
class CallSites final : public DefinitionSource {
 public:
  static constexpr std::size_t kMaxSites = 32768;   // further addresses have no call site
  static constexpr std::size_t kMaxModules = 4096;  // that were ever loaded; further modules are unknown

  explicit CallSites(DefinitionQueue& definitions);
  ~CallSites();
  CallSites(const CallSites&) = delete;
  CallSites& operator=(const CallSites&) = delete;

  // The id of a return address, or of a place in a Python function (python/codes.hpp). kMpiCallSite for addresses in
  // MPI's own objects. kNoCallSite if its module is not known yet (learn_wanted() then finds it), or if the table is
  // full. Async-signal-safe.
  [[nodiscard]] std::uint32_t find(std::uint64_t address) noexcept;
  // The same, but finds unknown modules. May wait.
  [[nodiscard]] std::uint32_t id_of(std::uint64_t address);
  // Finds the modules of addresses that find() did not know. May wait.
  void learn_wanted();
  // Finds all loaded modules. May wait.
  void learn_all();

  struct Place {
    std::uint32_t module = kNoModule;  // ModuleDefinition::module
    std::uint64_t offset = 0;          // in the module's own addresses; without a module the address itself
  };
  static constexpr std::uint32_t kNoModule = 0xFFFFFFFFu;
  // The place of an address; defines its module at the first use. May wait.
  [[nodiscard]] Place place_of(std::uint64_t address);

  // The same without waiting; for an unknown module, the address itself.
  [[nodiscard]] Place known_place_of(std::uint64_t address) const noexcept;

  // For use when all other threads have died: finds a module that the program opened after its last call.
  void learn_after_death(std::uint64_t address);

  // The modules in [begin, end) were unloaded; later ones there are different. May wait.
  void forget(std::uint64_t begin, std::uint64_t end);

  void define_new(DefinitionQueue& definitions) override;

  // For use when all other threads have died, maybe inside this class.
  void force_unlock() { lock_.force_unlock(); }

 private:
  static constexpr std::size_t kSlots = 2 * kMaxSites;
  static constexpr std::uint64_t kErased = 1;  // no valid address

  struct Known {  // all but `size` is constant
    std::uint64_t base = 0;
    std::atomic<std::uint64_t> size = 0;  // 0: unloaded. Release and acquire: the other members are set
    std::uint64_t name_hash = 0;          // of file name and build id
    bool is_mpi = false;
  };
  struct Slot {
    std::atomic<std::uint64_t> address;  // 0: free; the thread that sets it fills the rest
    PushList::Link link;
    std::uint32_t id, module;  // before it is pushed, as offset
    std::uint64_t offset;
  };
  [[nodiscard]] const Known* known_module(std::uint64_t address) const noexcept;
  [[nodiscard]] std::uint32_t number_of(const Known& known) const {
    return static_cast<std::uint32_t>(&known - modules_.data());
  }
  struct New {
    std::uint64_t address, offset, name_hash;
    std::uint32_t module;
  };
  [[nodiscard]] std::uint32_t add(std::uint64_t address, const Known* known) noexcept;
  [[nodiscard]] std::uint32_t add_python(std::uint64_t address) noexcept;
  [[nodiscard]] std::uint32_t add(const New& site) noexcept;
  [[nodiscard]] const Known* learn(std::uint64_t address);
  const Known* add_module(const Module& module) REQUIRES(lock_);

  DefinitionQueue& definitions_;
  Slot* slots_;  // a mapping with kSlots slots: only used pages are allocated
  std::atomic<std::uint32_t> site_count_ = 0;
  std::atomic<std::uint64_t> wanted_ = 0;  // an address that find() did not know
  PushList new_;
  // Read without a lock up to module_count_; written under the lock, in the order of their numbers.
  std::array<Known, kMaxModules> modules_{};
  std::atomic<std::uint32_t> module_count_ = 0;
  Mutex lock_;
};

// FNV-1a of file name, build id and offset; never one of the reserved ids.
[[nodiscard]] std::uint32_t call_site_id(std::string_view file_name, std::string_view build_id, std::uint64_t offset);

}  // namespace ardoise::instrument
