#include "knowledge_sources/otf2/writer/trace_archive.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/otf2/writer/trace_part.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::string_view kPartsName = "trace.part", kArchiveName = "trace";

bool is_archive(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  return (name == kArchiveName || name.starts_with(std::string(kArchiveName) + "-")) &&
         std::filesystem::exists(folder / "traces.otf2");
}

std::string as_file_name(std::string name) {
  std::ranges::replace(name, '/', '_');
  return name;
}

}  // namespace

TraceArchive::TraceArchive(std::filesystem::path output) : output_(std::move(output)), process_(::getpid()) {}

TraceArchive::~TraceArchive() = default;

std::filesystem::path TraceArchive::parts_folder() const { return output_ / kPartsName; }

void TraceArchive::remove_old(const std::filesystem::path& output) {
  std::error_code ignored;
  std::filesystem::remove_all(output / kPartsName, ignored);
  std::vector<std::filesystem::path> archives;
  for (const auto& entry : std::filesystem::directory_iterator(output, ignored)) {
    if (is_archive(entry.path())) archives.push_back(entry.path());
  }
  for (const auto& each : archives) std::filesystem::remove_all(each, ignored);
}

bool TraceArchive::has_parts(const std::filesystem::path& output) {
  std::error_code ignored;
  return std::filesystem::is_directory(output / kPartsName, ignored);
}

TraceSettings TraceArchive::settings(const std::string& selection) {
  if (selection.empty()) return {"", parts_folder().string(), this};
  selection_.emplace(selection);
  return {selection, parts_folder().string(), this, selection_->attributes().has(AttributeClass::kPlugins)};
}

TraceSettings TraceArchive::settings_of_ended() {
  read_parts();
  earlier_ = parts_.size();
  // Without a complete part the selection is unknown.
  return settings(parts_.empty() ? "" : parts_.front().tables.selection);
}

std::vector<const TraceTables*> TraceArchive::earlier_parts(std::uint32_t partition) const {
  std::vector<const TraceTables*> tables;
  for (std::size_t i = 0; i < earlier_; ++i) {
    if (parts_[i].tables.partition == partition) tables.push_back(&parts_[i].tables);
  }
  return tables;
}

void TraceArchive::add_program(const Program& program) { programs_.insert_or_assign(program.partition, program); }

void TraceArchive::add_part(std::function<void()> close) {
  const std::scoped_lock lock(close_mutex_);
  close_.push_back(std::move(close));
}

void TraceArchive::close_parts() {
  const std::scoped_lock lock(close_mutex_);
  for (const auto& close : close_) close();
}

void TraceArchive::read_parts() {
  std::error_code ignored;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(parts_folder(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!seen_folders_.insert(entry.path()).second) continue;
    if (name.starts_with(kPartName)) folders.push_back(entry.path());
    if (name.starts_with(kFailedName)) ++failed_parts_;
  }
  std::ranges::sort(folders);
  for (const auto& folder : folders) {
    try {
      parts_.push_back({folder, read_tables(folder)});
    } catch (const std::exception&) {
      ++broken_parts_;
    }
  }
}

void TraceArchive::take(std::uint32_t partition, const Resolver& resolver) {
  const auto program = programs_.find(partition);
  if (process_ != ::getpid() || program == programs_.end()) return;
  read_parts();
  std::vector<const ReadPart*> of_program;
  for (const ReadPart& part : parts_) {
    if (part.tables.partition == partition) of_program.push_back(&part);
  }
  auto& world = worlds_[program->second.world];
  if (!world) world = std::make_unique<WorldArchive>();
  world->add(program->second, of_program, resolver);
}

void TraceArchive::take_rounds(std::uint32_t partition, const TraceRounds& rounds) {
  if (!selection_ || !selection_->has_iterations()) return;
  Rounds& of_program = rounds_[partition];
  const std::uint64_t last = rounds.first + rounds.count - 1;
  of_program.all = std::max(of_program.all, last);
  if (selection_->has_iteration_in(rounds.first, last)) of_program.chosen.push_back(rounds);
}

// Passes rounds to the archives of their programs.
void TraceArchive::send_rounds() {
  if (!selection_ || !selection_->has_iterations()) return;
  for (const auto& [partition, program] : programs_) {
    const auto world = worlds_.find(program.world);
    if (world == worlds_.end()) continue;
    const Rounds& rounds = rounds_[partition];
    world->second->restrict_to(program, rounds.all, rounds.chosen);
  }
}

void TraceArchive::remove_parts() const {
  empty_files(parts_folder());
  std::error_code ignored;
  std::filesystem::remove_all(parts_folder(), ignored);
}

TraceArchive::Finished TraceArchive::finish(const std::vector<TraceMarker>& markers) {
  Finished finished;
  if (process_ != ::getpid()) return finished;
  if (failed_parts_ != 0 || parts_.empty()) {
    // The writer has reported the reason.
    remove_parts();
    if (failed_parts_ == 0 && broken_parts_ != 0)
      finished.notices.push_back("There is no trace: all analyzers were killed.");
    return finished;
  }
  for (const TraceMarker& marker : markers) {
    for (const auto& [partition, program] : programs_) {
      const auto world = worlds_.find(program.world);
      if (program.name == marker.program && world != worlds_.end()) world->second->add(marker);
    }
  }
  send_rounds();
  for (const auto& [number, world] : worlds_) {
    const std::string name = worlds_.size() == 1 ? std::string(kArchiveName)
                                                 : fmt::format("{}-{}", kArchiveName, as_file_name(world->name()));
    const std::filesystem::path beside = parts_folder() / fmt::format("archive-{}", number);
    if (const std::string fault = world->write(beside); !fault.empty()) {
      empty_files(beside);
      finished.notices.push_back(fmt::format("The trace of {} could not be written: {}.", world->name(), fault));
      continue;
    }
    std::error_code fault;
    std::filesystem::rename(beside, output_ / name, fault);
    if (fault) {
      finished.notices.push_back(fmt::format("The trace of {} could not be written: cannot create '{}': {}.",
                                             world->name(), (output_ / name).string(), fault.message()));
      continue;
    }
    finished.archives.push_back((output_ / name / "traces.otf2").string());
    if (const std::string text = world->complaint(); !text.empty()) finished.notices.push_back(text);
  }
  if (broken_parts_ != 0)
    finished.notices.push_back(
        fmt::format("The trace lacks what {} had of it when killed.", counted(broken_parts_, "analyzer")));
  remove_parts();
  return finished;
}

}  // namespace ardoise::knowledge_sources
