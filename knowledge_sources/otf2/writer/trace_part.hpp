// The event files of one program's ranks on one analyzer, written while the programs run, in a folder of their own: an
// OTF2 archive without definitions. Numbers in the events are the part's own (regions, names of marks) or those of the
// rank (communicators, files); its tables resolve them (trace_tables.hpp), and trace_archive.hpp makes one archive of
// all parts.
//
// OTF2 passes a location's events to its file for every 256 KiB, and the file writes for every 4 MiB. Several threads
// may write different locations concurrently. A copy of the process (fork) writes nothing. After a failed write OTF2 is
// not called again, not even to close: it may crash then.
#pragma once

#include <otf2/OTF2_Archive.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/writer/trace_tables.hpp"

namespace ardoise::knowledge_sources {

// Folder name prefixes of a part, and of one that could not be written; six characters follow.
inline constexpr std::string_view kPartName = "part-", kFailedName = "failed-";

// Truncates the files in the folder, even open ones.
void empty_files(const std::filesystem::path& folder);

class TracePart {
 public:
  static constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 10;

  // folder: of all parts, created if needed. complain: gets one sentence if the part cannot be written, the same for
  // all parts. From then on it writes nothing, its files are truncated, and its folder is renamed to mark the failure.
  TracePart(const std::filesystem::path& folder, std::uint32_t partition,
            std::function<void(const std::string&)> complain);
  ~TracePart();
  TracePart(const TracePart&) = delete;
  TracePart& operator=(const TracePart&) = delete;

  // False: it has failed, or was closed.
  [[nodiscard]] bool is_good() const { return is_good_.load(std::memory_order_relaxed); }
  // False also in a copy of the process.
  [[nodiscard]] bool is_open() const { return is_good() && is_of_this_process(); }
  [[nodiscard]] bool is_of_this_process() const;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // Another file of the part cannot be written. Any thread.
  void fail(const std::string& reason);
  // nullptr: it has failed.
  [[nodiscard]] OTF2_EvtWriter* writer_of(std::uint64_t location);
  void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS) fail(code);
  }

  // Any thread.
  [[nodiscard]] std::uint32_t region(const TraceRegion& region);
  [[nodiscard]] std::uint32_t name(std::uint32_t mark_name);
  void define_mark_name(std::uint32_t mark_name, std::string_view text);
  void define_datatype(std::uint32_t rank, std::uint32_t number, std::string_view text);

  // Number of its events; 0: the part has failed.
  [[nodiscard]] std::uint64_t end(OTF2_EvtWriter* writer);
  // After the last location has ended. Completes the tables with those of the part.
  void close(TraceTables tables);

 private:
  void fail(OTF2_ErrorCode code);
  void close_file(const std::function<OTF2_ErrorCode()>& close);
  void truncate_files();

  const std::uint32_t partition_;
  const std::function<void(const std::string&)> complain_;
  const std::int64_t process_;
  const std::filesystem::path parts_;
  std::filesystem::path folder_, failed_folder_;
  bool has_folder_ = false;
  OTF2_Archive* archive_ = nullptr;
  std::atomic<bool> is_good_ = false;  // relaxed: an extra write is harmless
  std::mutex mutex_;                   // guards the members below
  bool has_failed_ = false;
  std::unordered_map<std::uint64_t, std::uint32_t> region_numbers_;  // by key
  std::unordered_map<std::uint32_t, std::uint32_t> name_numbers_;
  std::vector<std::uint64_t> regions_;
  std::vector<std::uint32_t> names_;
  std::map<std::uint32_t, std::string> texts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> datatypes_;  // by rank and number
};

}  // namespace ardoise::knowledge_sources
