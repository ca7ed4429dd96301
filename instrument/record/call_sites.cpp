// See call_sites.hpp.
#include "instrument/record/call_sites.hpp"

#include <string_view>

namespace ardoise::instrument {

std::uint32_t call_site_id(const std::string& file_name, const std::string& build_id, std::uint64_t offset) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001B3u; };
  for (const std::string_view text : {std::string_view(file_name), std::string_view(build_id)}) {
    for (const char letter : text) add(static_cast<unsigned char>(letter));
    add(0);
  }
  for (unsigned shift = 0; shift < 64; shift += 8) add(static_cast<unsigned char>(offset >> shift));
  const auto id = static_cast<std::uint32_t>(hash ^ hash >> 32);
  return id > kMpiCallSite ? id : id + 2;
}

const CallSites::Known* CallSites::known_module(std::uint64_t address) const {
  for (const Known& known : modules_) {
    if (address - known.module.base < known.module.size) return &known;
  }
  return nullptr;
}

// nullptr: out of memory. lock_ is held.
const CallSites::Known* CallSites::add_module(std::optional<Module> loaded) {
  const bool is_mpi = is_mpi_module(loaded->path);
  modules_.push_back({*std::move(loaded), next_module_++, is_mpi});
  const Known& known = modules_.back();
  const Module& module = known.module;
  if (definitions_.add(ModuleDefinition{known.number, 0, module.base, module.size}, std::string_view(module.path),
                       std::string_view(module.build_id))) {
    return &known;
  }
  modules_.pop_back();
  return nullptr;
}

CallSites::Place CallSites::place_of(std::uint64_t address) {
  const auto place = [&](const Known& known) { return Place{known.number, address - known.module.base}; };
  {
    const std::lock_guard guard(lock_);
    if (const Known* const known = known_module(address)) return place(*known);
  }
  // The loader's lock is taken with ours open, as in id_of().
  std::optional<Module> loaded = find_module(reinterpret_cast<const void*>(address));
  const std::lock_guard guard(lock_);
  const Known* known = known_module(address);
  if (known == nullptr && loaded) known = add_module(std::move(loaded));
  return known != nullptr ? place(*known) : Place{kNoModule, address};
}

void CallSites::forget(std::uint64_t begin, std::uint64_t end) {
  const std::lock_guard guard(lock_);
  std::erase_if(modules_, [&](const Known& known) { return known.module.base - begin < end - begin; });
  std::erase_if(ids_, [&](const auto& entry) { return entry.first - begin < end - begin; });
}

std::uint32_t CallSites::id_of(const void* return_address) {
  if (return_address == nullptr) return kNoCallSite;
  const auto address = reinterpret_cast<std::uint64_t>(return_address);
  bool module_known = false;
  {
    const std::lock_guard guard(lock_);
    if (const auto found = ids_.find(address); found != ids_.end()) return found->second;
    module_known = known_module(address) != nullptr;
  }
  // The loader's lock is taken with ours open: a constructor run by dlopen() holds it and may want ours.
  std::optional<Module> loaded;
  if (!module_known) loaded = find_module(return_address);

  const std::lock_guard guard(lock_);
  if (const auto found = ids_.find(address); found != ids_.end()) return found->second;
  const Known* known = known_module(address);
  if (known == nullptr && loaded) {
    known = add_module(std::move(loaded));
    if (known == nullptr) return kNoCallSite;
  }
  if (known != nullptr && known->is_mpi) return ids_[address] = kMpiCallSite;

  CallSiteDefinition site{0, 0xFFFFFFFFu, address};
  if (known == nullptr) {
    site.call_site = call_site_id("", "", address);
  } else {
    site.module = known->number;
    site.offset = address - known->module.base;
    site.call_site = call_site_id(file_name_of(known->module.path), known->module.build_id, site.offset);
  }
  if (!definitions_.add(site)) return kNoCallSite;
  return ids_[address] = site.call_site;
}

}  // namespace ardoise::instrument
