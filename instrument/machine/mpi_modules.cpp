#include "instrument/machine/mpi_modules.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace ardoise::instrument {
namespace {

namespace fs = std::filesystem;

struct Object {
  std::uint64_t base = 0, end = 0;
  std::string path, soname;  // path: empty for the program
  std::vector<std::string> needs;
  bool is_core = false;  // MPI itself, by name and folder
  bool is_binding = false;  // for a language, above MPI: what it needs is no inner part
  bool by_program = false, by_mpi = false;

  [[nodiscard]] std::string_view file() const { return std::string_view(path).substr(path.rfind('/') + 1); }
};
using Objects = std::vector<Object>;

void read_needs(Object& object, const ElfW(Dyn) * dynamic) {
  const ElfW(Dyn)* names = nullptr;
  for (const auto* entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) names = entry;
  }
  if (names == nullptr) return;
  // glibc has relocated it, unless the section is read-only.
  const std::uint64_t place = names->d_un.d_ptr < object.base ? object.base + names->d_un.d_ptr : names->d_un.d_ptr;
  const auto* const text = reinterpret_cast<const char*>(place);
  for (const auto* entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) object.needs.emplace_back(text + entry->d_un.d_val);
    if (entry->d_tag == DT_SONAME) object.soname = text + entry->d_un.d_val;
  }
}

int add_object(dl_phdr_info* info, std::size_t, void* objects_untyped) {
  Object object;
  object.base = info->dlpi_addr;
  if (info->dlpi_name != nullptr) object.path = info->dlpi_name;
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type == PT_LOAD)
      object.end = std::max<std::uint64_t>(object.end, object.base + segment.p_vaddr + segment.p_memsz);
    if (segment.p_type == PT_DYNAMIC)
      read_needs(object, reinterpret_cast<const ElfW(Dyn)*>(object.base + segment.p_vaddr));
  }
  static_cast<Objects*>(objects_untyped)->push_back(std::move(object));
  return 0;
}

Object* find_by_address(Objects& objects, const void* address) {
  const auto place = reinterpret_cast<std::uint64_t>(address);
  const auto found = std::find_if(objects.begin(), objects.end(),
                                  [&](const Object& object) { return place >= object.base && place < object.end; });
  return found != objects.end() ? &*found : nullptr;
}

template <class Visit>
void for_each_needed(Objects& objects, const Object& object, Visit visit) {
  for (Object& other : objects) {
    if (other.path.empty()) continue;
    const bool needed = std::any_of(object.needs.begin(), object.needs.end(), [&](const std::string& name) {
      return name == other.soname || name == other.file() || name == other.path;
    });
    if (needed) visit(other);
  }
}

// Marks all that `object` needs, directly or indirectly. The search from the program stops at MPI.
void mark(Objects& objects, const Object& object, bool Object::*mark_of) {
  for_each_needed(objects, object, [&](Object& other) {
    if (other.*mark_of || (mark_of == &Object::by_program && other.is_core)) return;
    other.*mark_of = true;
    mark(objects, other, mark_of);
  });
}

fs::path folder_of(const std::string& path) {
  std::error_code error;
  return fs::canonical(path, error).parent_path();
}

// The language bindings and parts of the library beside it, and plug-ins below it (Open MPI's mca_*.so).
bool belongs_to(const Object& object, const fs::path& mpi_folder) {
  const auto begins = [file = object.file()](std::string_view prefix) { return file.starts_with(prefix); };
  if (begins("mca_")) return folder_of(object.path).native().starts_with(mpi_folder.native() + '/');
  return (begins("libmpi") || begins("libopen-") || begins("libmca_")) && folder_of(object.path) == mpi_folder;
}

void mark_all(Objects& objects) {
  // A function that neither this library nor a second copy of it defines.
  Object* const mpi = find_by_address(objects, ::dlsym(RTLD_NEXT, "PMPI_Wtick"));
  Object* const ours = find_by_address(objects, reinterpret_cast<const void*>(&mpi_modules));
  const bool linked_statically = mpi == nullptr || mpi->path.empty();
  if (!linked_statically) {
    const fs::path folder = folder_of(mpi->path);
    for (Object& object : objects) {
      object.is_core = &object == mpi || belongs_to(object, folder);
      object.is_binding = object.is_core && &object != mpi && object.file().starts_with("libmpi");
    }
  }
  if (ours != nullptr && !ours->path.empty()) ours->is_core = true;
  for (const Object& object : objects) {
    if (object.is_core && !object.is_binding && &object != ours) mark(objects, object, &Object::by_mpi);
    if (object.path.empty()) mark(objects, object, &Object::by_program);
  }
  // Objects that were opened later: a plug-in of a transport if it needs an inner part of MPI, otherwise the program's.
  for (Object& object : objects) {
    if (object.path.empty() || object.is_core || object.by_program || object.by_mpi) continue;
    bool plugs_into_mpi = false;
    for_each_needed(objects, object, [&](const Object& other) {
      plugs_into_mpi = plugs_into_mpi || (other.by_mpi && !other.by_program && !other.is_core);
    });
    const auto mark_of = plugs_into_mpi ? &Object::by_mpi : &Object::by_program;
    object.*mark_of = true;
    mark(objects, object, mark_of);
  }
}

}  // namespace

std::vector<std::uint64_t> mpi_modules() {
  Objects objects;
  ::dl_iterate_phdr(add_object, &objects);
  mark_all(objects);
  std::vector<std::uint64_t> bases;
  for (const Object& object : objects) {
    if (object.is_core || (object.by_mpi && !object.by_program)) bases.push_back(object.base);
  }
  return bases;
}

}  // namespace ardoise::instrument
