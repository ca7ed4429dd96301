// Reads what elf_file.hpp promises out of an ELF file.
#include "tools/ardoise/elf_file.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

struct Descriptor {
  explicit Descriptor(const std::string& path) : value(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value;
};

std::vector<std::string> split_paths(std::string_view text, const std::string& origin) {
  std::vector<std::string> paths;
  std::istringstream stream{std::string(text)};
  for (std::string path; std::getline(stream, path, ':');) {
    for (const std::string_view variable : {"${ORIGIN}", "$ORIGIN"}) {
      for (auto at = path.find(variable); at != std::string::npos; at = path.find(variable)) {
        path.replace(at, variable.size(), origin);
      }
    }
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

void read_dynamic(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, const std::string& origin, ElfFile& file) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const auto text = [&](const GElf_Dyn& entry) -> std::string_view {
    const char* string = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    return string == nullptr ? std::string_view{} : string;
  };
  for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL) return;
    if (entry.d_tag == DT_NEEDED) file.needed.emplace_back(text(entry));
    if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) file.runpath = split_paths(text(entry), origin);
  }
}

bool defines_mpi(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return false;
  for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) return false;
    if (symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && std::strcmp(name, "PMPI_Init") == 0) return true;
  }
  return false;
}

void add_configured(const std::string& configuration, std::vector<std::string>& directories, int depth = 0) {
  std::ifstream file(configuration);
  for (std::string line; depth < 4 && std::getline(file, line);) {
    std::istringstream stream(line.substr(0, line.find('#')));
    std::string word;
    if (!(stream >> word)) continue;
    if (word != "include") {
      directories.push_back(word);
      continue;
    }
    while (stream >> word) {
      glob_t found{};
      if (::glob(word.c_str(), 0, nullptr, &found) == 0) {
        for (std::size_t i = 0; i < found.gl_pathc; ++i) add_configured(found.gl_pathv[i], directories, depth + 1);
      }
      ::globfree(&found);
    }
  }
}

std::vector<std::string> standard_directories() {
  std::vector<std::string> directories;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) directories = split_paths(path, ".");
  add_configured("/etc/ld.so.conf", directories);
  directories.insert(directories.end(), {"/lib", "/usr/lib", "/lib64", "/usr/lib64"});
  return directories;
}

}  // namespace

bool is_mpi_library(const std::string& soname) {
  for (const std::string_view name : {"libmpi.so", "libmpich.so", "libmpi_cray.so", "libmvapich.so", "libmpi_mt.so"}) {
    if (soname.starts_with(name)) return true;
  }
  return false;
}

std::optional<ElfFile> read_elf(const std::string& path) {
  if (elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
  const Descriptor descriptor(path);
  if (descriptor.value < 0) return std::nullopt;
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(descriptor.value, ELF_C_READ_MMAP, nullptr), elf_end);
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return std::nullopt;

  ElfFile file;
  std::size_t segments = 0;
  if (elf_getphdrnum(elf.get(), &segments) == 0) {
    for (std::size_t i = 0; i < segments; ++i) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_INTERP)
        file.dynamic = true;
    }
  }
  std::error_code ignored;
  const auto origin = fs::canonical(path, ignored).parent_path().string();
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type == SHT_DYNAMIC) read_dynamic(elf.get(), section, header, origin, file);
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
      file.defines_mpi = file.defines_mpi || defines_mpi(elf.get(), section, header);
    }
  }
  return file;
}

std::vector<std::string> mpi_libraries_of(const std::string& path) {
  std::set<std::string> mpi, seen;
  std::deque<std::pair<std::string, std::vector<std::string>>> wanted;  // library, run path of who wants it
  const auto want_all_of = [&](const ElfFile& file) {
    for (const auto& library : file.needed) {
      if (is_mpi_library(library)) mpi.insert(library);
      if (seen.insert(library).second) wanted.emplace_back(library, file.runpath);
    }
  };
  const auto program = read_elf(path);
  if (!program) return {};
  want_all_of(*program);
  const auto standard = standard_directories();
  while (!wanted.empty()) {
    // Not a structured binding: clang 14 does not capture those.
    const std::string library = wanted.front().first;
    const auto runpath = std::move(wanted.front().second);
    wanted.pop_front();
    // What the MPI library itself needs brings no second MPI.
    if (is_mpi_library(library)) continue;
    for (const auto* directories : {&runpath, &standard}) {
      const auto found = std::find_if(directories->begin(), directories->end(), [&](const auto& directory) {
        std::error_code ignored;
        return fs::exists(fs::path(directory) / library, ignored);
      });
      if (found == directories->end()) continue;
      if (const auto file = read_elf((fs::path(*found) / library).string())) want_all_of(*file);
      break;
    }
  }
  return {mpi.begin(), mpi.end()};
}

}  // namespace ardoise::launcher
