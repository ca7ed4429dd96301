#include "knowledge_sources/otf2/reader/archive_reader.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <queue>
#include <system_error>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/reader/definition_callbacks.hpp"
#include "knowledge_sources/otf2/reader/guarded_reading.hpp"
#include "knowledge_sources/otf2/reader/otf2_errors.hpp"
#include "knowledge_sources/otf2/reader/record_framing.hpp"

namespace ardoise::knowledge_sources {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{384} << 20;  // limit of OTF2's memory for all open files

struct Turn {
  std::uint64_t time;
  std::size_t place;
  friend auto operator<=>(const Turn&, const Turn&) = default;
};

// The limit of open files, minus some for other uses.
std::uint64_t allowed_files() {
  constexpr std::uint64_t kOthers = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOthers;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  return limit.rlim_cur > 2 * kOthers ? limit.rlim_cur - kOthers : kOthers;
}

}  // namespace

ArchiveReader::ArchiveReader(const fs::path& path) : anchor_(find_archive(path)) {
  keep_otf2_complaints();  // before any reading thread exists
  if (anchor_.major > OTF2_VERSION_MAJOR)
    definitions_.faults.add(fmt::format("written by OTF2 {}.{}, which this version, {}.{}, may not fully support",
                                        unsigned{anchor_.major}, unsigned{anchor_.minor}, OTF2_VERSION_MAJOR,
                                        OTF2_VERSION_MINOR));
  read_definitions();
}

void ArchiveReader::read_definitions() {
  note_reading("its global definitions");
  const fs::path& file = anchor_.definitions;
  const RecordFraming framing = framing_of(file, FramedFile::kDefinitionFile, anchor_.definition_chunk_bytes);
  if (!framing.exists || (!framing.is_complete && framing.records == 0))
    throw UnreadableArchive(fmt::format("'{}' {}: without it '{}' cannot be interpreted.", file.string(),
                                        framing.exists ? framing.fault : "is missing", anchor_.file.string()));
  if (!framing.is_complete)
    definitions_.faults.add(
        "incomplete global definitions",
        fmt::format("'{}' {} after {} of {}", file.string(), framing.fault, framing.records, anchor_.definition_count));
  const std::uint64_t count = framing.is_complete ? UINT64_MAX : framing.records;
  (void)read_global_definitions(open_otf2_reader(anchor_).get(), DefinitionTurn::kStrings, count, definitions_);
  const std::uint64_t read =
      read_global_definitions(open_otf2_reader(anchor_).get(), DefinitionTurn::kOthers, count, definitions_);
  if (framing.is_complete && read != anchor_.definition_count && definitions_.faults.empty())
    definitions_.faults.add("an unexpected number of global definitions",
                            fmt::format("{} instead of {}", read, anchor_.definition_count));
  read_marker_file();
  definitions_.finish();
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(anchor_.folder, ignored)) {
    has_local_definitions_ = entry.path().extension() == ".def";
    if (has_local_definitions_) break;
  }
}

void ArchiveReader::read_marker_file() {
  note_reading("its markers");
  const RecordFraming framing =
      framing_of(anchor_.markers, FramedFile::kDefinitionFile, anchor_.definition_chunk_bytes);
  if (!framing.exists) return;
  const std::string fault =
      read_markers(open_otf2_reader(anchor_).get(), framing.is_complete ? UINT64_MAX : framing.records, definitions_);
  if (!fault.empty() || !framing.is_complete)
    definitions_.faults.add("markers that cannot be read", fault.empty() ? framing.fault : fault);
}

ReadLocation ArchiveReader::read(const ArchivedLocation& location, EventConsumer& consumer) const {
  LocationReading reading(anchor_, definitions_, location, has_local_definitions_, consumer);
  while (reading.advance()) {
  }
  return reading.result();
}

ArchiveFaults ArchiveReader::read_side_by_side(EventConsumer& consumer, std::uint64_t turn_events) const {
  std::vector<const ArchivedLocation*> all;
  for (const ArchivedLocation& location : definitions_.locations) all.push_back(&location);
  return read_side_by_side(consumer, all, turn_events);
}

ArchiveFaults ArchiveReader::read_side_by_side(EventConsumer& consumer,
                                               std::span<const ArchivedLocation* const> locations,
                                               std::uint64_t turn_events) const {
  ArchiveFaults faults;
  const auto finish = [&](const LocationReading& reading) {
    if (const ReadLocation read = reading.result(); !read.fault.empty()) faults.add(read.fault, read.detail);
  };
  const std::uint64_t most_files = allowed_files();
  for (auto next = locations.begin(); next != locations.end();) {
    // By current time; the location number makes the order deterministic.
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    std::vector<std::unique_ptr<LocationReading>> open;
    std::uint64_t bytes = 0;
    for (; next != locations.end() && open.size() < most_files; ++next) {
      std::error_code none;
      const std::uint64_t size = fs::file_size(anchor_.folder / fmt::format("{}.evt", (*next)->id), none);
      bytes += none ? 0 : std::min(size, 2 * anchor_.event_chunk_bytes);
      if (bytes > kMostBytes && !open.empty()) break;
      turns.push({0, open.size()});
      open.push_back(
          std::make_unique<LocationReading>(anchor_, definitions_, **next, has_local_definitions_, consumer));
    }
    while (!turns.empty()) {
      const Turn turn = turns.top();
      turns.pop();
      LocationReading& reading = *open[turn.place];
      if (reading.advance(turn_events)) {
        turns.push({reading.last_time(), turn.place});
        continue;
      }
      finish(reading);
      open[turn.place].reset();
    }
  }
  return faults;
}

}  // namespace ardoise::knowledge_sources
