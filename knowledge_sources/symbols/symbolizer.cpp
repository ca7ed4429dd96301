#include "knowledge_sources/symbols/symbolizer.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "knowledge_sources/symbols/debug_scopes.hpp"
#include "knowledge_sources/symbols/symbol_name.hpp"
#include "knowledge_sources/symbols/symbol_table.hpp"

namespace ardoise::knowledge_sources {
namespace {

// There is no demangler for Fortran; use the name in the source.
bool is_fortran(Dwarf_Die* unit) {
  constexpr int kLanguages[] = {DW_LANG_Fortran77, DW_LANG_Fortran90, DW_LANG_Fortran95, DW_LANG_Fortran03,
                                DW_LANG_Fortran08};
  return std::ranges::find(kLanguages, dwarf_srclang(unit)) != std::end(kLanguages);
}

std::string function_name(Dwarf_Die* function, Dwarf_Die* unit) {
  if (!is_fortran(unit)) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute) != nullptr ||
        dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute) != nullptr) {
      if (const char* const name = dwarf_formstring(&attribute)) return readable_symbol(name);
    }
  }
  const char* const name = dwarf_diename(function);
  return name == nullptr ? "" : readable_symbol(name);
}

// GCC records its options after its name and version, "GNU C17 12.2.0 -mtune=generic -g -O2"; the last one counts.
// Other compilers do not.
std::string optimization_of(Dwarf_Die* unit) {
  Dwarf_Attribute attribute;
  const char* const producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
  const std::string_view text = producer == nullptr ? "" : producer;
  if (!text.starts_with("GNU ") || text.find(" -m") == std::string_view::npos) return "";
  const std::size_t last = text.rfind(" -O");
  if (last == std::string_view::npos) return "-O0";
  const std::string_view option = text.substr(last + 1, text.find(' ', last + 1) - last - 1);
  return option == "-O" ? "-O1" : std::string(option);
}

std::uint32_t number(Dwarf_Die* die, unsigned int name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return 0;
  return static_cast<std::uint32_t>(value);
}

bool from_system_header(const SourceFrame& frame) {
  return frame.source_file.starts_with("/usr/include/") || frame.source_file.starts_with("/usr/lib/gcc/");
}

}  // namespace

struct Symbolizer::Callbacks {
  explicit Callbacks(std::string folders_in) : folders(std::move(folders_in)) {}
  std::string folders;
  char* path = folders.data();
  Dwfl_Callbacks dwfl{.find_elf = dwfl_build_id_find_elf,
                      .find_debuginfo = dwfl_standard_find_debuginfo,
                      .section_address = dwfl_offline_section_address,
                      .debuginfo_path = &path};
};

// One binary in a separate libdwfl session, reported "offline": from its file, not from a process.
class Symbolizer::Module {
 public:
  Module(const Dwfl_Callbacks& callbacks, const std::string& path, std::string_view build_id) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return;
    session_.reset(dwfl_begin(&callbacks));
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
    if (build_id.empty() || bytes <= 0) return;
    std::string id;
    for (int i = 0; i < bytes; ++i) id += fmt::format("{:02x}", bits[i]);
    if (id != build_id) module_ = nullptr;  // rebuilt since
  }

  std::vector<SourceFrame> frames(std::uint64_t offset) {
    std::vector<SourceFrame> result;
    if (module_ == nullptr || offset == 0) return result;
    const Dwarf_Addr address = bias_ + offset - 1;  // the call, not the next instruction
    add_dwarf_frames(address, result);
    if (result.empty()) result.emplace_back();
    if (result.back().symbol.empty()) {
      if (!symbols_) symbols_.emplace(module_);
      if (const char* const name = symbols_->find(address)) result.back().symbol = readable_symbol(name);
    }
    return result;
  }

 private:
  void add_dwarf_frames(Dwarf_Addr address, std::vector<SourceFrame>& result) {
    if (!scopes_) scopes_.emplace(module_);
    DebugScopes::Found found = scopes_->find(address);
    Dwarf_Die* const unit = found.unit;
    if (unit == nullptr) return;

    SourceFrame frame;
    if (Dwarf_Line* const line = dwarf_getsrc_die(unit, address - found.bias)) {
      if (const char* const file = dwarf_linesrc(line, nullptr, nullptr)) frame.source_file = full_path(file, unit);
      int number_of_line = 0;
      (void)dwarf_lineno(line, &number_of_line);
      frame.line = static_cast<std::uint32_t>(std::max(number_of_line, 0));
    }
    Dwarf_Files* files = nullptr;
    std::size_t file_count = 0;
    (void)dwarf_getsrcfiles(unit, &files, &file_count);
    const std::string optimization = optimization_of(unit);
    for (Dwarf_Die& function : found.functions) {
      frame.optimization = optimization;
      frame.symbol = function_name(&function, unit);
      const char* declared_in = dwarf_decl_file(&function);
      // In DWARF 5 file number 0 is the unit's own, which elfutils treats as none.
      if (declared_in == nullptr && file_count != 0 && dwarf_hasattr_integrate(&function, DW_AT_decl_file) != 0) {
        declared_in = dwarf_filesrc(files, 0, nullptr, nullptr);
      }
      if (declared_in != nullptr) frame.function_file = full_path(declared_in, unit);
      int first_line = 0;
      if (dwarf_decl_line(&function, &first_line) == 0) frame.function_line = static_cast<std::uint32_t>(first_line);
      result.push_back(std::move(frame));
      frame = {};
      // The inlining position belongs to the next frame.
      const std::uint32_t file = number(&function, DW_AT_call_file);
      if (files != nullptr && file < file_count) {
        if (const char* const name = dwarf_filesrc(files, file, nullptr, nullptr)) {
          frame.source_file = full_path(name, unit);
        }
      }
      frame.line = number(&function, DW_AT_call_line);
    }
    if (result.empty()) result.push_back(std::move(frame));  // a line but no function
  }

  static std::string full_path(const char* file, Dwarf_Die* unit) {
    std::filesystem::path path(file);
    Dwarf_Attribute attribute;
    if (path.is_relative() && dwarf_attr(unit, DW_AT_comp_dir, &attribute) != nullptr) {
      if (const char* const directory = dwarf_formstring(&attribute)) path = directory / path;
    }
    return path.lexically_normal().string();
  }

  struct EndSession {
    void operator()(Dwfl* session) const { dwfl_end(session); }
  };
  std::unique_ptr<Dwfl, EndSession> session_;
  Dwfl_Module* module_ = nullptr;  // nullptr: nothing can be found
  Dwarf_Addr bias_ = 0;
  std::optional<DebugScopes> scopes_;
  std::optional<SymbolTable> symbols_;
};

// elfutils would query debuginfod servers over the network, for a minute and more each time: a report must not wait for
// them.
Symbolizer::Symbolizer(std::string debug_folders) : callbacks_(std::make_unique<Callbacks>(std::move(debug_folders))) {
  unsetenv("DEBUGINFOD_URLS");
}
Symbolizer::~Symbolizer() = default;

std::vector<SourceFrame> Symbolizer::frames(const std::string& module, std::string_view build_id,
                                            std::uint64_t offset) {
  // Several builds may have run under one path (a launch over several machines).
  const std::string key = module + '\0' + std::string(build_id);
  auto place = modules_.find(key);
  if (place == modules_.end()) {
    place = modules_.emplace(key, std::make_unique<Module>(callbacks_->dwfl, module, build_id)).first;
  }
  return place->second->frames(offset);
}

SourceFrame Symbolizer::find(const std::string& module, std::string_view build_id, std::uint64_t offset) {
  const auto all = frames(module, build_id, offset);
  const auto shown = std::ranges::find_if_not(all, from_system_header);
  if (shown != all.end()) return *shown;
  return all.empty() ? SourceFrame{} : all.back();
}

}  // namespace ardoise::knowledge_sources
