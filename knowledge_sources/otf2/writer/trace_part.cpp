#include "knowledge_sources/otf2/writer/trace_part.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "instrument/machine/own_folder.hpp"
#include "knowledge_sources/otf2/writer/otf2_archive.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::size_t kMostTexts = 65536;

// OTF2 keeps a file open for each location.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

void empty_files(const std::filesystem::path& folder) {
  std::error_code ignored;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, options, ignored)) {
    if (entry.is_regular_file(ignored)) std::filesystem::resize_file(entry.path(), 0, ignored);
  }
}

TracePart::TracePart(const std::filesystem::path& folder, std::uint32_t partition,
                     std::function<void(const std::string&)> complain)
    : partition_(partition), complain_(std::move(complain)), process_(::getpid()), parts_(folder) {
  if (instrument::OwnFolder(folder.parent_path().c_str()).error() == -EPERM) {
    fail("its parent folder is accessible to other users");
    return;
  }
  ::mkdir(folder.c_str(), 0700);  // existing if another analyzer made it
  std::string name = (folder / (std::string(kPartName) + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    fail(std::strerror(errno));
    return;
  }
  folder_ = name;
  failed_folder_ = folder / (std::string(kFailedName) + name.substr(name.size() - 6));
  has_folder_ = true;
  allow_many_files();
  archive_ = open_otf2_archive(folder_);
  if (archive_ != nullptr) {
    is_good_.store(true, std::memory_order_relaxed);
  } else {
    fail(last_otf2_error());
  }
}

TracePart::~TracePart() {
  // A part that was not closed has no tables; its buffered data is dropped.
  if (archive_ == nullptr) return;
  if (is_open()) {
    OTF2_Archive_Close(archive_);
  } else {
    abandon_otf2_archive(archive_);
  }
}

bool TracePart::is_of_this_process() const { return process_ == ::getpid(); }

OTF2_EvtWriter* TracePart::writer_of(std::uint64_t location) {
  OTF2_EvtWriter* const writer = OTF2_Archive_GetEvtWriter(archive_, location);
  if (writer == nullptr) fail(last_otf2_error());
  return writer;
}

std::uint32_t TracePart::region(const TraceRegion& region) {
  const std::scoped_lock lock(mutex_);
  const auto [found, is_new] = region_numbers_.try_emplace(region.key(), static_cast<std::uint32_t>(regions_.size()));
  if (is_new) regions_.push_back(region.key());
  return found->second;
}

std::uint32_t TracePart::name(std::uint32_t mark_name) {
  const std::scoped_lock lock(mutex_);
  const auto [found, is_new] = name_numbers_.try_emplace(mark_name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(mark_name);
  return found->second;
}

void TracePart::define_mark_name(std::uint32_t mark_name, std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (texts_.size() < kMostTexts) texts_.try_emplace(mark_name, text);
}

void TracePart::define_datatype(std::uint32_t rank, std::uint32_t number, std::string_view text) {
  const std::scoped_lock lock(mutex_);
  datatypes_.try_emplace({rank, number}, text);
}

std::uint64_t TracePart::end(OTF2_EvtWriter* writer) {
  if (!is_open()) return 0;
  std::uint64_t events = 0;
  check(OTF2_EvtWriter_GetNumberOfEvents(writer, &events));
  close_file([&] { return OTF2_Archive_CloseEvtWriter(archive_, writer); });
  return events;
}

void TracePart::close(TraceTables tables) {
  if (!is_of_this_process()) return;
  if (is_open()) close_file([this] { return OTF2_Archive_CloseEvtFiles(archive_); });
  if (is_open()) close_file([this] { return OTF2_Archive_Close(std::exchange(archive_, nullptr)); });
  is_good_.store(false, std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  if (!has_folder_) return;
  // Another thread may have been writing then.
  if (has_failed_) return truncate_files();
  tables.partition = partition_;
  tables.regions = regions_;
  tables.names = names_;
  tables.texts.assign(texts_.begin(), texts_.end());
  for (const auto& [of, text] : datatypes_) tables.rank_texts.push_back({of.first, of.second, text});
  if (write_tables(tables, folder_)) return;
  const int error = errno;
  lock.unlock();
  fail(std::strerror(error));
}

void TracePart::fail(OTF2_ErrorCode code) {
  const std::string& reason = last_otf2_error();
  fail(reason.empty() ? std::string(OTF2_Error_GetDescription(code)) : reason);
}

void TracePart::close_file(const std::function<OTF2_ErrorCode()>& close) {
  if (const std::string fault = fault_of_close(close); !fault.empty()) fail(fault);
}

void TracePart::fail(const std::string& reason) {
  is_good_.store(false, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  if (std::exchange(has_failed_, true)) return;
  complain_(fmt::format("There is no trace: '{}' cannot be written: {}.", parts_.string(), reason));
  truncate_files();
}

// mutex_ is held.
void TracePart::truncate_files() {
  if (!has_folder_ || !is_of_this_process()) return;
  std::error_code ignored;
  std::filesystem::rename(folder_, failed_folder_, ignored);
  empty_files(failed_folder_);
}

}  // namespace ardoise::knowledge_sources
