// See file_profile.hpp.
#include "knowledge_sources/file_profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ardoise::knowledge_sources {

void FileProfile::add(std::vector<Entry>& files, const Entry& entry, std::uint64_t times) {
  auto place = std::ranges::lower_bound(files, entry.file, {}, &Entry::file);
  if (place == files.end() || place->file != entry.file) place = files.insert(place, {entry.file, {}});
  entry.sums.add_to(place->sums, times);
  place->sums.ticks += entry.sums.ticks * times;
}

void FileProfile::add(std::uint32_t rank, std::uint64_t weight, FileScratch& scratch) {
  const auto guard = locks_.lock(rank);
  scratch.for_each([&](std::uint64_t key, const FileSums& sums) { add(ranks_[rank], {key - 1, sums}, weight); });
  scratch.clear();
}

void FileProfile::merge(const FileProfile& other) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    for (const Entry& entry : other.ranks_[rank]) add(ranks_[rank], entry);
  }
}

void FileProfile::write(ByteWriter& out) const {
  out.put_count(ranks_.size());
  for (const auto& files : ranks_) out.put_array(std::span<const Entry>(files));
}

void FileProfile::read(ByteReader& in) {
  in.check(in.get_count(sizeof(std::uint64_t)) == ranks_.size(), "is of a program with another number of ranks");
  for (auto& files : ranks_) {
    for (const Entry& entry : in.get_array<Entry>()) add(files, entry);
  }
}

void FileProfile::contribute(const Resolver& resolver, reports::Application& application) const {
  std::map<std::string, std::size_t, std::less<>> places;  // in application.files
  for (std::size_t i = 0; i < application.files.size(); ++i) places.emplace(application.files[i].path, i);
  std::map<std::size_t, std::uint32_t> ranks_of;  // by place
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    std::set<std::string_view> seen;  // a file may have had several numbers
    for (const auto& [file, sums] : ranks_[rank]) {
      std::string_view path = resolver.file(rank, static_cast<std::uint32_t>(file));
      if (path.empty()) path = "(unknown file)";
      const auto [place, is_new] = places.try_emplace(std::string(path), application.files.size());
      if (is_new) application.files.push_back({.path = std::string(path)});
      auto& profile = application.files[place->second];
      sums.add_to(profile);
      profile.seconds += static_cast<double>(sums.ticks) * resolver.seconds_per_tick(rank);
      if (seen.insert(path).second) ++ranks_of[place->second];
    }
  }
  for (const auto& [place, ranks] : ranks_of) {
    application.files[place].ranks = std::max(application.files[place].ranks, ranks);
  }
}

}  // namespace ardoise::knowledge_sources
