// See file_profile.hpp.
#include "knowledge_sources/file_profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ardoise::knowledge_sources {

void FileProfile::contribute(const Resolver& resolver, reports::Application& application) const {
  std::map<std::string, std::size_t, std::less<>> places;  // in application.files
  for (std::size_t i = 0; i < application.files.size(); ++i) places.emplace(application.files[i].path, i);
  std::map<std::size_t, std::uint32_t> ranks_of;  // by place
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    std::set<std::string_view> seen;  // a file may have had several numbers
    for (const auto& [key, sums] : of(rank)) {
      std::string_view path = resolver.file(rank, static_cast<std::uint32_t>(key - 1));
      if (path.empty()) path = "(unknown file)";
      if (path.ends_with(".pyc")) path = "(compiled modules of Python, *.pyc)";
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
