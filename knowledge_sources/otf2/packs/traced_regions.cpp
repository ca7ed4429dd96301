// Classifies the regions of an archive: functions of MPI and of I/O by their names, phases, and functions of the
// program.
#include <otf2/otf2.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "instrument/format/mark_name.hpp"
#include "instrument/format/posix_functions.hpp"
#include "knowledge_sources/otf2/contents/called_from.hpp"
#include "knowledge_sources/otf2/packs/mpi_names.hpp"
#include "knowledge_sources/otf2/packs/traced_program.hpp"

namespace ardoise::knowledge_sources {
namespace {

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

// Converts "MPI_Send()", "mpi_send_", "PMPI_Send" to "mpi_send".
std::string plain_name(std::string_view name) {
  if (const std::size_t bracket = name.find('('); bracket != name.npos) name = name.substr(0, bracket);
  while (!name.empty() && (name.back() == '_' || name.back() == ' ')) name.remove_suffix(1);
  std::string small = in_small_letters(name);
  if (small.starts_with("pmpi_")) small.erase(0, 1);
  return small;
}

// 64-bit variants are recorded under the plain name.
std::optional<std::uint16_t> posix_function(std::string_view name) {
  if (const std::size_t bracket = name.find('('); bracket != name.npos) name = name.substr(0, bracket);
  if (name.ends_with("64")) name.remove_suffix(2);
  if (name == "vfprintf" || name == "printf" || name == "vprintf") name = "fprintf";
  for (std::size_t i = 0; i < instrument::kPosixFunctionCount; ++i) {
    if (instrument::kPosixFunctions[i].name == name) return static_cast<std::uint16_t>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<vmpi::FunctionId> mpi_function(std::string_view name) {
  static const auto numbers = [] {
    std::unordered_map<std::string, vmpi::FunctionId> by_name;
    for (std::size_t i = 0; i < vmpi::kFunctionCount; ++i)
      by_name.emplace(in_small_letters(vmpi::kFunctionTraits[i].name), static_cast<vmpi::FunctionId>(i));
    return by_name;
  }();
  if (name.size() < 5 || (name[0] | 0x20) != (name[0] == 'P' || name[0] == 'p' ? 'p' : 'm')) return std::nullopt;
  const auto found = numbers.find(plain_name(name));
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::uint32_t TracedProgram::code_of(Code code) {
  const auto next = static_cast<std::uint32_t>(codes_.size()) + kFirstCode;
  const auto [found, is_new] = code_numbers_.try_emplace({code.name, code.file, code.first_line}, next);
  if (is_new) codes_.push_back(std::move(code));
  return found->second;
}

TracedRegion TracedProgram::region_of(const ArchivedRegion& region) {
  TracedRegion traced;
  const bool is_phase = is_ours_ ? region.role == OTF2_REGION_ROLE_CODE && region.paradigm == OTF2_PARADIGM_USER
                                 : (region.flags & OTF2_REGION_FLAG_PHASE) != 0;
  traced.is_io = region.role == OTF2_REGION_ROLE_FILE_IO || region.role == OTF2_REGION_ROLE_FILE_IO_METADATA;
  if (is_phase) {
    traced.kind = TracedRegion::Kind::kPhase;
    traced.mark_name = instrument::mark_name_id(region.name);
    mark_names_.emplace(traced.mark_name, region.name);
    return traced;
  }
  if (const auto function = mpi_function(region.name)) {
    const bool is_init = *function == vmpi::FunctionId::kInit || *function == vmpi::FunctionId::kInit_thread;
    const vmpi::Role role = vmpi::function_traits(*function).role;
    traced.kind = is_init                                    ? TracedRegion::Kind::kInit
                  : *function == vmpi::FunctionId::kFinalize ? TracedRegion::Kind::kFinalize
                                                             : TracedRegion::Kind::kMpi;
    traced.function = static_cast<std::uint16_t>(*function);
    traced.is_mpi_io = role == vmpi::Role::kFileRead || role == vmpi::Role::kFileWrite ||
                       std::string_view(vmpi::function_name(*function)).starts_with("MPI_File_");
  } else if (const auto io = traced.is_io ? posix_function(region.name) : std::nullopt) {
    traced.kind = TracedRegion::Kind::kPosix;
    traced.function = *io;
  } else {
    // Without a line it is usually not a file but a component such as "HIP".
    const bool has_line = region.line != 0 && region.line != kUndefined32;
    traced.own = {code_of({region.name, has_line ? region.source_file : std::string(), region.line}), 0};
    return traced;
  }
  const auto caller = read_called_from(region.description);
  if (caller || (region.line != 0 && !region.source_file.empty()))
    traced.caller = {code_of({caller ? std::string(caller->symbol) : std::string(), region.source_file, 0}),
                     region.line == kUndefined32 ? 0 : region.line};
  return traced;
}

void TracedProgram::find_regions() {
  regions_.reserve(definitions_.regions.size() + 1);
  for (const ArchivedRegion& region : definitions_.regions) regions_.push_back(region_of(region));
  const auto is_function = [](const TracedRegion& region) { return region.kind == TracedRegion::Kind::kUser; };
  if (!is_ours_ && definitions_.interrupt_generators.empty() && std::ranges::any_of(regions_, is_function))
    notices_.push_back(
        "Times of functions are those between entering and leaving the regions of the trace, not sampled CPU time.");
  TracedRegion unknown;
  unknown.own = {code_of({"(undefined region)", "", 0}), 0};
  regions_.push_back(unknown);
}

const TracedRegion& TracedProgram::region(std::uint32_t reference) const {
  const ArchivedRegion* const found = definitions_.regions.find(reference);
  if (found == nullptr) return regions_.back();
  return regions_[static_cast<std::size_t>(found - &*definitions_.regions.begin())];
}

}  // namespace ardoise::knowledge_sources
