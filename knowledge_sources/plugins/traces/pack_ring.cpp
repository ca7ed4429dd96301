#include "knowledge_sources/plugins/traces/pack_ring.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace ardoise::knowledge_sources {

using instrument::PackClass;
using instrument::PackHeader;

namespace {

// One file at a time is read into memory.
constexpr std::uint64_t kFilesOfLimit = 8, kLeastFile = std::uint64_t{1} << 20, kMostFile = std::uint64_t{64} << 20;
constexpr std::int64_t kFilesOfTime = 4;

}  // namespace

void PackRing::Gone::add(const Gone& other) {
  mpi += other.mpi;
  posix += other.posix;
  samples += other.samples;
  for (const auto& [of, order] : other.next) next[of] = std::max(next[of], order);
}

PackRing::PackRing(std::filesystem::path folder, Limits limits, std::function<void(const std::string&)> complain,
                   std::function<void(const std::string&)> fail)
    : folder_(std::move(folder)),
      limits_(limits),
      complain_(std::move(complain)),
      fail_(std::move(fail)),
      process_(::getpid()) {}

PackRing::~PackRing() {
  if (process_ != ::getpid()) return;
  std::error_code ignored;
  for (const File& file : files_) std::filesystem::remove(file.path, ignored);
}

void PackRing::begin_file() {
  if (!files_.empty()) files_.back().out.reset();
  File file;
  file.path = folder_ / fmt::format("ring-{}.packs", begun_++);
  file.out = std::make_unique<instrument::PackFileWriter>(file.path);
  files_.push_back(std::move(file));
}

void PackRing::add(const PackHeader& pack, std::int64_t begin, std::int64_t end) {
  const std::scoped_lock lock(mutex_);
  if (!is_good_) return;
  const std::uint64_t most_bytes =
      limits_.bytes == 0 ? kMostFile : std::clamp(limits_.bytes / kFilesOfLimit, kLeastFile, kMostFile);
  const bool is_full =
      !files_.empty() &&
      (files_.back().bytes >= most_bytes ||
       (limits_.last_ns != 0 && files_.back().end - files_.back().begin >= limits_.last_ns / kFilesOfTime));
  if (files_.empty() || is_full) begin_file();
  File& file = files_.back();
  const std::size_t bytes = std::size_t{pack.header_bytes} + pack.payload_bytes;
  if (!file.out->write(std::as_bytes(std::span(reinterpret_cast<const std::byte*>(&pack), bytes)))) {
    is_good_ = false;
    return fail_(std::strerror(errno));
  }
  file.bytes += bytes;
  bytes_ += bytes;
  file.begin = std::min(file.begin, begin);
  file.end = std::max(file.end, end);
  newest_ = std::max(newest_, end);
  std::int64_t& first = file.begins.try_emplace(pack.rank, begin).first->second;
  first = std::min(first, begin);
  Gone& of_rank = file.packs[pack.rank];
  const auto pack_class = static_cast<PackClass>(pack.pack_class);
  if (pack_class == PackClass::kMpi) of_rank.mpi += pack.counted_records();
  if (pack_class == PackClass::kPosix) of_rank.posix += pack.counted_records();
  if (pack_class == PackClass::kSamples) of_rank.samples += pack.record_count;
  std::uint64_t& next = of_rank.next[{pack.thread, pack_class}];
  next = std::max(next, pack.order + 1);
  if (is_full || (limits_.bytes != 0 && bytes_ > limits_.bytes)) remove_old();
}

void PackRing::keep_around(std::int64_t ns) {
  const std::scoped_lock lock(mutex_);
  // Marks close together share one window.
  if (marks_.empty() || ns - marks_.back() > limits_.last_ns / kFilesOfTime || ns < marks_.back()) marks_.push_back(ns);
}

bool PackRing::is_kept(const File& file) const {
  return std::ranges::any_of(marks_, [&](std::int64_t mark) {
    return file.end >= mark - limits_.last_ns && file.begin <= mark + limits_.last_ns;
  });
}

void PackRing::remove(std::deque<File>::iterator file, bool is_beyond_limit) {
  GoneByRank& before_next = (file + 1)->before;
  for (const auto& [rank, packs] : file->before) before_next[rank].add(packs);
  for (const auto& [rank, packs] : file->packs) {
    before_next[rank].add(packs);
    if (is_beyond_limit) beyond_limit_ += packs.mpi + packs.posix;
  }
  bytes_ -= file->bytes;
  std::error_code ignored;
  std::filesystem::remove(file->path, ignored);
  files_.erase(file);
}

// Keeps the newest file.
void PackRing::remove_old() {
  for (auto file = files_.begin(); limits_.last_ns != 0 && file + 1 < files_.end();) {
    if (file->end < newest_ - limits_.last_ns && !is_kept(*file)) {
      const auto place = file - files_.begin();
      remove(file, false);
      file = files_.begin() + place;
    } else {
      ++file;
    }
  }
  while (limits_.bytes != 0 && bytes_ > limits_.bytes && files_.size() > 1) {
    const auto last = files_.end() - 1;
    const auto goes = std::find_if(files_.begin(), last, [this](const File& each) { return !is_kept(each); });
    remove(goes == last ? files_.begin() : goes, true);
  }
}

std::vector<std::pair<std::int64_t, std::int64_t>> PackRing::windows() const {
  // The latest of the first remaining times of ranks that have lost packs; at file borders ranks are not aligned.
  std::int64_t from = INT64_MIN;
  std::map<std::uint32_t, std::int64_t> begins;
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    for (const auto& [rank, begin] : file->begins) begins[rank] = begin;
    if (limits_.last_ns != 0 || file->before.empty()) continue;
    for (const auto& [rank, gone] : file->before) {
      if (begins.contains(rank) && begins[rank] != INT64_MAX) from = std::max(from, begins[rank]);
    }
  }
  if (limits_.last_ns == 0) return {{from, INT64_MAX}};
  std::vector<std::pair<std::int64_t, std::int64_t>> windows;
  for (const std::int64_t mark : marks_) windows.emplace_back(mark - limits_.last_ns, mark + limits_.last_ns);
  windows.emplace_back(newest_ == INT64_MIN ? INT64_MIN : newest_ - limits_.last_ns, INT64_MAX);
  return windows;
}

void PackRing::for_each(const std::function<void(std::uint32_t rank, const Gone&)>& skip,
                        const std::function<void(const instrument::PackView&)>& use) const {
  for (const File& file : files_) {
    for (const auto& [rank, packs] : file.before) skip(rank, packs);
    const instrument::PackFile read = instrument::read_pack_file(file.path);
    instrument::PackSequence packs(read.bytes());
    while (const auto pack = packs.next()) use(*pack);
    const std::string& fault = read.error.empty() ? packs.error() : read.error;
    if (!fault.empty()) complain_(fmt::format("The trace lacks the data kept in '{}': {}", file.path.string(), fault));
  }
}

}  // namespace ardoise::knowledge_sources
