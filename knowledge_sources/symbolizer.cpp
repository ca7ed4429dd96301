// See symbolizer.hpp.
#include "knowledge_sources/symbolizer.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ardoise::knowledge_sources {
namespace {

std::string demangle(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? text.get() : name;
}

std::string hex(const unsigned char* bytes, int count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

// Fortran's mangled names have no demangler; the name in the source is the better one there.
bool is_fortran(Dwarf_Die* unit) {
  switch (dwarf_srclang(unit)) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
      return true;
    default:
      return false;
  }
}

std::string function_name(Dwarf_Die* function, Dwarf_Die* unit) {
  if (!is_fortran(unit)) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute) != nullptr ||
        dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute) != nullptr) {
      if (const char* const name = dwarf_formstring(&attribute)) return demangle(name);
    }
  }
  const char* const name = dwarf_diename(function);
  return name == nullptr ? "" : name;
}

std::uint32_t number(Dwarf_Die* die, unsigned int name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return 0;
  return static_cast<std::uint32_t>(value);
}

struct FreeScopes {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};

bool from_system_header(const SourceFrame& frame) {
  return frame.source_file.starts_with("/usr/include/") || frame.source_file.starts_with("/usr/lib/gcc/");
}

}  // namespace

// One binary in a session of its own, reported "offline": from its file, not from a process.
class Symbolizer::Module {
 public:
  Module(const std::string& path, std::string_view build_id) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return;
    session_.reset(dwfl_begin(&kCallbacks));
    if (session_ == nullptr) return;
    dwfl_report_begin(session_.get());
    module_ = dwfl_report_offline(session_.get(), path.c_str(), path.c_str(), -1);
    dwfl_report_end(session_.get(), nullptr, nullptr);
    if (module_ == nullptr || dwfl_module_getelf(module_, &bias_) == nullptr) {
      module_ = nullptr;
      return;
    }
    const unsigned char* bits = nullptr;
    GElf_Addr address = 0;
    const int bytes = dwfl_module_build_id(module_, &bits, &address);
    if (!build_id.empty() && bytes > 0 && hex(bits, bytes) != build_id) module_ = nullptr;  // was built again since
  }

  std::vector<SourceFrame> frames(std::uint64_t offset) {
    std::vector<SourceFrame> result;
    if (module_ == nullptr || offset == 0) return result;
    const Dwarf_Addr address = bias_ + offset - 1;  // the call, not what comes after it
    add_dwarf_frames(address, result);
    if (result.empty()) result.emplace_back();
    if (result.back().symbol.empty()) result.back().symbol = symbol(address);
    return result;
  }

 private:
  void add_dwarf_frames(Dwarf_Addr address, std::vector<SourceFrame>& result) {
    Dwarf_Addr unit_bias = 0;
    Dwarf_Die* const unit = dwfl_module_addrdie(module_, address, &unit_bias);
    if (unit == nullptr) return;

    SourceFrame frame;
    if (Dwfl_Line* const line = dwfl_module_getsrc(module_, address)) {
      int number_of_line = 0;
      const char* const file = dwfl_lineinfo(line, nullptr, &number_of_line, nullptr, nullptr, nullptr);
      if (file != nullptr) set_source(frame, file, unit);
      frame.line = static_cast<std::uint32_t>(std::max(number_of_line, 0));
    }

    // The scopes around an address lead from an inlined function to where it was written; those around the inlined
    // instance itself lead to where it was inlined, which is what a call stack would show.
    Dwarf_Die* scopes_raw = nullptr;
    int scope_count = 0;
    if (dwarf_getscopes(unit, address - unit_bias, &scopes_raw) > 0) {
      Dwarf_Die innermost = scopes_raw[0];
      std::free(scopes_raw);
      scopes_raw = nullptr;
      scope_count = dwarf_getscopes_die(&innermost, &scopes_raw);
    }
    const std::unique_ptr<Dwarf_Die, FreeScopes> owner(scopes_raw);
    Dwarf_Files* files = nullptr;
    std::size_t file_count = 0;
    (void)dwarf_getsrcfiles(unit, &files, &file_count);
    for (int i = 0; i < scope_count; ++i) {
      Dwarf_Die* const scope = &scopes_raw[i];
      const int tag = dwarf_tag(scope);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      frame.symbol = function_name(scope, unit);
      result.push_back(std::move(frame));
      frame = {};
      if (tag == DW_TAG_subprogram) return;
      // Where it was inlined is the position in the next frame.
      const std::uint32_t file = number(scope, DW_AT_call_file);
      if (files != nullptr && file < file_count) {
        if (const char* const name = dwarf_filesrc(files, file, nullptr, nullptr)) set_source(frame, name, unit);
      }
      frame.line = number(scope, DW_AT_call_line);
    }
    if (result.empty()) result.push_back(std::move(frame));  // a line but no function
  }

  static void set_source(SourceFrame& frame, const char* file, Dwarf_Die* unit) {
    std::filesystem::path path(file);
    Dwarf_Attribute attribute;
    if (path.is_relative() && dwarf_attr(unit, DW_AT_comp_dir, &attribute) != nullptr) {
      if (const char* const directory = dwarf_formstring(&attribute)) path = directory / path;
    }
    frame.source_file = path.lexically_normal().string();
  }

  std::string symbol(Dwarf_Addr address) {
    GElf_Off into = 0;
    GElf_Sym entry;
    const char* const name = dwfl_module_addrinfo(module_, address, &into, &entry, nullptr, nullptr, nullptr);
    // A stripped library still names its exported functions; what lies behind one of them is another function.
    if (name == nullptr || (entry.st_size != 0 && into >= entry.st_size)) return "";
    return demangle(name);
  }

  struct EndSession {
    void operator()(Dwfl* session) const { dwfl_end(session); }
  };
  static inline char* debuginfo_path_ = nullptr;  // the default: beside the file, .debug/, /usr/lib/debug
  static constexpr Dwfl_Callbacks kCallbacks{.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address,
                                             .debuginfo_path = &debuginfo_path_};

  std::unique_ptr<Dwfl, EndSession> session_;
  Dwfl_Module* module_ = nullptr;  // nullptr: nothing can be found
  Dwarf_Addr bias_ = 0;
};

// elfutils would ask debuginfod servers over the network, for a minute and more each time: a report must not wait for them.
Symbolizer::Symbolizer() { unsetenv("DEBUGINFOD_URLS"); }
Symbolizer::~Symbolizer() = default;

std::vector<SourceFrame> Symbolizer::frames(const std::string& module, std::string_view build_id,
                                            std::uint64_t offset) {
  // Several builds may have run under one path (a launch over several machines).
  const std::string key = module + '\0' + std::string(build_id);
  auto place = modules_.find(key);
  if (place == modules_.end()) place = modules_.emplace(key, std::make_unique<Module>(module, build_id)).first;
  return place->second->frames(offset);
}

SourceFrame Symbolizer::find(const std::string& module, std::string_view build_id, std::uint64_t offset) {
  const auto all = frames(module, build_id, offset);
  const auto shown = std::ranges::find_if_not(all, from_system_header);
  if (shown != all.end()) return *shown;
  return all.empty() ? SourceFrame{} : all.back();
}

}  // namespace ardoise::knowledge_sources
