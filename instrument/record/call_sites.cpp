#include "instrument/record/call_sites.hpp"

#include <optional>
#include <vector>

#include "instrument/machine/mapped_memory.hpp"
#include "instrument/python/interpreter.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::uint64_t kHashStart = 0xCBF29CE484222325u;

constexpr std::uint64_t hash_on(std::uint64_t hash, unsigned char byte) noexcept {
  return (hash ^ byte) * 0x100000001B3u;
}

std::uint64_t name_hash(std::string_view file_name, std::string_view build_id) noexcept {
  std::uint64_t hash = kHashStart;
  for (const std::string_view text : {file_name, build_id}) {
    for (const char letter : text) hash = hash_on(hash, static_cast<unsigned char>(letter));
    hash = hash_on(hash, 0);
  }
  return hash;
}

std::uint32_t id_at(std::uint64_t name_hash, std::uint64_t offset) noexcept {
  std::uint64_t hash = name_hash;
  for (unsigned shift = 0; shift < 64; shift += 8) hash = hash_on(hash, static_cast<unsigned char>(offset >> shift));
  const auto id = static_cast<std::uint32_t>(hash ^ hash >> 32);
  return id > kMpiCallSite ? id : id + 2;
}

}  // namespace

std::uint32_t call_site_id(std::string_view file_name, std::string_view build_id, std::uint64_t offset) {
  return id_at(name_hash(file_name, build_id), offset);
}

CallSites::CallSites(DefinitionQueue& definitions)
    : definitions_(definitions), slots_(static_cast<Slot*>(map_memory(kSlots * sizeof(Slot)))) {
  definitions.add_source(*this);
}

CallSites::~CallSites() {
  if (slots_ != nullptr) unmap_memory(slots_, kSlots * sizeof(Slot));
}

const CallSites::Known* CallSites::known_module(std::uint64_t address) const noexcept {
  const std::uint32_t count = module_count_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Known& known = modules_[i];
    if (address - known.base < known.size.load(std::memory_order_acquire)) return &known;
  }
  return nullptr;
}

// known: nullptr for code without a module (generated at run time).
std::uint32_t CallSites::add(std::uint64_t address, const Known* known) noexcept {
  if (known != nullptr && known->is_mpi) return kMpiCallSite;
  if (known == nullptr) return add({address, address, name_hash("", ""), kNoModule});
  return add({address, address - known->base, known->name_hash, number_of(*known)});
}

std::uint32_t CallSites::add_python(std::uint64_t address) noexcept {
  const python::Interpreter* const interpreter = python::interpreter.load(std::memory_order_acquire);
  const std::uint64_t hash = interpreter != nullptr ? interpreter->hash_of(python::code_of(address)) : 0;
  if (hash == 0) return kNoCallSite;
  return add({address, address & ~python::kAddressBit, hash, kPythonModule});
}

std::uint32_t CallSites::add(const New& site) noexcept {
  const std::uint64_t address = site.address;
  // A Python function's hash includes its start; its number differs between processes.
  const std::uint32_t id = id_at(site.name_hash, site.module == kPythonModule ? site.offset & UINT32_MAX : site.offset);
  if (slots_ == nullptr) return kNoCallSite;
  for (std::uint64_t i = address * 0x9E3779B97F4A7C15u >> 32;; ++i) {
    const std::uint64_t place = i % kSlots;
    Slot& slot = slots_[place];
    std::uint64_t there = slot.address.load(std::memory_order_relaxed);
    if (there == address) return id;
    if (there != 0) continue;
    if (site_count_.load(std::memory_order_relaxed) >= kMaxSites) return kNoCallSite;
    if (!slot.address.compare_exchange_strong(there, address, std::memory_order_relaxed)) {
      if (there == address) return id;
      continue;
    }
    site_count_.fetch_add(1, std::memory_order_relaxed);
    slot.module = site.module;
    slot.offset = site.offset;
    slot.id = id;
    new_.push(static_cast<std::uint32_t>(place) + 1, slot.link);
    return id;
  }
}

std::uint32_t CallSites::find(std::uint64_t address) noexcept {
  if (address == 0) return kNoCallSite;
  if (python::is_python(address)) return add_python(address);
  if (const Known* const known = known_module(address)) return add(address, known);
  wanted_.store(address, std::memory_order_relaxed);
  return kNoCallSite;
}

std::uint32_t CallSites::id_of(std::uint64_t address) {
  if (address == 0) return kNoCallSite;
  if (python::is_python(address)) return add_python(address);
  const Known* const known = known_module(address);
  return add(address, known != nullptr ? known : learn(address));
}

void CallSites::learn_wanted() {
  if (wanted_.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  const std::uint64_t address = wanted_.exchange(0, std::memory_order_relaxed);
  if (address != 0 && known_module(address) == nullptr) (void)learn(address);
}

void CallSites::learn_all() {
  const std::vector<Module> loaded = describe_modules();
  const MutexLock guard(lock_);
  for (const Module& module : loaded) {
    if (known_module(module.base + module.size - 1) == nullptr) (void)add_module(module);
  }
}

// nullptr: no module there, or the table is full. The loader's lock is taken without this class's lock: a constructor
// run by dlopen() holds the loader's lock and may want this one.
const CallSites::Known* CallSites::learn(std::uint64_t address) {
  assert_may_wait();
  const std::optional<Module> loaded = find_module(reinterpret_cast<const void*>(address));
  if (!loaded) return nullptr;
  const MutexLock guard(lock_);
  const Known* const known = known_module(address);
  return known != nullptr ? known : add_module(*loaded);
}

void CallSites::learn_after_death(std::uint64_t address) {
  if (python::is_python(address) || known_module(address) != nullptr) return;
  const std::optional<Module> loaded = find_module_without_lock(address);
  const MutexLock guard(lock_);
  if (loaded) (void)add_module(*loaded);
}

const CallSites::Known* CallSites::add_module(const Module& module) {
  const std::uint32_t number = module_count_.load(std::memory_order_relaxed);
  if (number == kMaxModules) return nullptr;
  if (!definitions_.add(ModuleDefinition{number, 0, module.base, module.size}, std::string_view(module.path),
                        std::string_view(module.build_id))) {
    return nullptr;
  }
  Known& known = modules_[number];
  known.base = module.base;
  known.name_hash = name_hash(file_name_of(module.path), module.build_id);
  known.is_mpi = module.is_mpi;
  known.size.store(module.size, std::memory_order_release);
  module_count_.store(number + 1, std::memory_order_release);
  return &known;
}

CallSites::Place CallSites::known_place_of(std::uint64_t address) const noexcept {
  if (python::is_python(address)) return {kPythonModule, address & ~python::kAddressBit};
  const Known* const known = known_module(address);
  return known != nullptr ? Place{number_of(*known), address - known->base} : Place{kNoModule, address};
}

CallSites::Place CallSites::place_of(std::uint64_t address) {
  if (!python::is_python(address) && known_module(address) == nullptr) (void)learn(address);
  return known_place_of(address);
}

void CallSites::forget(std::uint64_t begin, std::uint64_t end) {
  assert_may_wait();
  const MutexLock guard(lock_);
  const std::uint32_t count = module_count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (modules_[i].base - begin < end - begin) modules_[i].size.store(0, std::memory_order_release);
  }
  for (std::size_t i = 0; slots_ != nullptr && i < kSlots; ++i) {
    const std::uint64_t address = slots_[i].address.load(std::memory_order_relaxed);
    if (address != 0 && address - begin < end - begin) slots_[i].address.store(kErased, std::memory_order_relaxed);
  }
}

void CallSites::define_new(DefinitionQueue& definitions) {
  assert_may_wait();
  for (std::uint32_t place = new_.take_all(); place != PushList::kEnd;) {
    const Slot& slot = slots_[place - 1];
    (void)definitions.add(CallSiteDefinition{slot.id, slot.module, slot.offset});
    place = slot.link.load(std::memory_order_relaxed);
  }
}

}  // namespace ardoise::instrument
