// See file_profile.hpp.
#include "knowledge_sources/file_profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ardoise::knowledge_sources {

void FileProfile::add(std::vector<Entry>& files, const Entry& entry) {
  auto place = std::ranges::lower_bound(files, entry.file, {}, &Entry::file);
  if (place == files.end() || place->file != entry.file) place = files.insert(place, {entry.file, {}});
  place->sums.opens += entry.sums.opens;
  place->sums.reads += entry.sums.reads;
  place->sums.writes += entry.sums.writes;
  place->sums.calls += entry.sums.calls;
  place->sums.bytes_read += entry.sums.bytes_read;
  place->sums.bytes_written += entry.sums.bytes_written;
  place->sums.ticks += entry.sums.ticks;
}

void FileProfile::add(std::uint32_t rank, std::uint64_t weight, FileScratch& scratch) {
  const auto guard = locks_.lock(rank);
  scratch.for_each([&](std::uint64_t key, const FileSums& sums) {
    add(ranks_[rank], {key - 1,
                       {sums.opens * weight, sums.reads * weight, sums.writes * weight, sums.calls * weight,
                        sums.bytes_read * weight, sums.bytes_written * weight, sums.ticks * weight}});
  });
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
  std::map<std::string, reports::FileProfile, std::less<>> profiles;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    std::set<std::string_view> seen;  // a file may have had several numbers
    for (const auto& [file, sums] : ranks_[rank]) {
      std::string_view path = resolver.file(rank, static_cast<std::uint32_t>(file));
      if (path.empty()) path = "(unknown file)";
      auto place = profiles.find(path);
      if (place == profiles.end())
        place = profiles.emplace(path, reports::FileProfile{.path = std::string(path)}).first;
      auto& profile = place->second;
      profile.opens += sums.opens;
      profile.reads += sums.reads;
      profile.writes += sums.writes;
      profile.calls += sums.calls;
      profile.bytes_read += sums.bytes_read;
      profile.bytes_written += sums.bytes_written;
      profile.seconds += static_cast<double>(sums.ticks) * resolver.seconds_per_tick(rank);
      if (seen.insert(path).second) ++profile.ranks;
    }
  }
  std::map<std::string, std::size_t, std::less<>> places;
  for (std::size_t i = 0; i < application.files.size(); ++i) places.emplace(application.files[i].path, i);
  for (auto& [path, profile] : profiles) {
    const auto place = places.find(path);
    if (place == places.end()) {
      application.files.push_back(std::move(profile));
      continue;
    }
    auto* const there = &application.files[place->second];
    there->opens += profile.opens;
    there->reads += profile.reads;
    there->writes += profile.writes;
    there->calls += profile.calls;
    there->bytes_read += profile.bytes_read;
    there->bytes_written += profile.bytes_written;
    there->seconds += profile.seconds;
    there->ranks = std::max(there->ranks, profile.ranks);
  }
}

}  // namespace ardoise::knowledge_sources
