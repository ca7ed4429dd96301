// Finds the loaded object that an address belongs to, and describes it in a way that is valid outside this process.
// Used by call_sites.cpp.
#pragma once

#include <link.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ardoise::instrument {

struct Module {
  std::uint64_t base = 0;  // load bias: address - base is the object's own address
  std::uint64_t size = 0;  // from the base to the end of the last segment
  std::string path;
  std::string build_id;  // hex, "" when the object has none
  bool is_mpi = false;   // see mpi_modules.hpp
};

// Takes the loader's lock: call it without any lock of this library, and not from a signal handler.
[[nodiscard]] std::optional<Module> find_module(const void* address);

struct LoadedObject {
  std::uint64_t begin = 0, size = 0;
  const link_map* map = nullptr;  // nullptr: not known
};
// Uses the loader's table that needs no lock (glibc 2.35). Async-signal-safe.
[[nodiscard]] LoadedObject find_object_without_lock(std::uint64_t address) noexcept;

// As find_module(), but without the loader's lock, which a dead thread may hold. Empty if glibc lacks that table or the
// object is the program itself. is_mpi is not set.
[[nodiscard]] std::optional<Module> find_module_without_lock(std::uint64_t address);

// Describes all loaded objects.
[[nodiscard]] std::vector<Module> describe_modules();

// The place of a loaded object and the path it was loaded from.
struct LoadedModule {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string path;

  friend bool operator==(const LoadedModule&, const LoadedModule&) = default;
};
// All loaded objects. Takes the loader's lock, as find_module().
[[nodiscard]] std::vector<LoadedModule> loaded_modules();

[[nodiscard]] std::string file_name_of(const std::string& path);

}  // namespace ardoise::instrument
