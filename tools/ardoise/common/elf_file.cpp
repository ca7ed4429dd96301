#include "tools/ardoise/common/elf_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>

#include "tools/ardoise/common/process.hpp"

namespace ardoise::launcher {
namespace {

std::string loader_of(Elf* elf) {
  std::size_t segments = 0, size = 0;
  const char* const bytes = elf_rawfile(elf, &size);
  if (bytes == nullptr || elf_getphdrnum(elf, &segments) != 0) return {};
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_INTERP) continue;
    if (segment.p_offset >= size) return {};
    const std::string_view rest(bytes + segment.p_offset, size - segment.p_offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }
  return {};
}

std::string build_id_of(Elf* elf) {
  std::size_t segments = 0;
  if (elf_getphdrnum(elf, &segments) != 0) return {};
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_NOTE) continue;
    Elf_Data* const notes = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(segment.p_offset), segment.p_filesz,
                                                 segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    std::size_t name = 0, text = 0;
    GElf_Nhdr note;
    for (std::size_t at = 0; notes != nullptr && (at = gelf_getnote(notes, at, &note, &name, &text)) != 0;) {
      const auto* const bytes = static_cast<const unsigned char*>(notes->d_buf);
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(bytes + name, "GNU", 4) != 0) continue;
      std::string id;
      for (std::size_t byte = 0; byte < note.n_descsz; ++byte) id += fmt::format("{:02x}", bytes[text + byte]);
      return id;
    }
  }
  return {};
}

bool defines_mpi(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return false;
  for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) return false;
    if (symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && std::string_view(name) == "PMPI_Init") return true;
  }
  return false;
}

}  // namespace

std::optional<ElfFile> read_elf(const std::string& path) {
  if (elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::optional<ElfFile> file;
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(descriptor, ELF_C_READ_MMAP, nullptr), elf_end);
  if (elf && elf_kind(elf.get()) == ELF_K_ELF) {
    file.emplace(ElfFile{loader_of(elf.get()), build_id_of(elf.get())});
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
        file->defines_mpi = file->defines_mpi || defines_mpi(elf.get(), section, header);
    }
  }
  ::close(descriptor);
  return file;
}

std::vector<Library> libraries_of(const std::string& path, const std::string& loader) try {
  std::vector<Library> libraries;
  std::istringstream lines(run_and_read({loader, "--list", path}).output);
  // The format is "<tab>name => path (address)"; for libraries loaded by path, and first for the loader itself,
  // "<tab>path (address)".
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Library library;
    std::string arrow;
    if (!line.starts_with('\t') || !(words >> library.name)) continue;
    if (words >> arrow && arrow == "=>") words >> library.path;
    if (!library.path.starts_with('/')) library.path.clear();  // "not found"
    libraries.push_back(std::move(library));
  }
  return libraries;
} catch (const std::system_error&) {
  return {};
}

std::string mpi_library_among(const std::vector<Library>& libraries) {
  static constexpr std::array<std::string_view, 5> kNames{"libmpi.so", "libmpich.so", "libmpi_cray.so", "libmvapich.so",
                                                          "libmpi_mt.so"};
  for (const auto& library : libraries) {
    for (const auto name : kNames) {
      if (library.name.starts_with(name)) return library.name;
    }
  }
  return {};
}

}  // namespace ardoise::launcher
