#include "knowledge_sources/calls/file_profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ardoise::knowledge_sources {

namespace {

// The row of the model for a file of a rank, created at first use.
class FileRows {
 public:
  explicit FileRows(std::vector<reports::FileProfile>& files) : files_(files) {
    for (std::size_t i = 0; i < files.size(); ++i) places_.emplace(files[i].path, i);
  }
  std::size_t of(const Resolver& resolver, std::uint32_t rank, std::uint32_t file) {
    std::string_view path = resolver.file(rank, file);
    if (path.empty()) path = reports::kUnknownFile;
    if (path.ends_with(".pyc")) path = reports::kPythonModules;
    const auto [place, is_new] = places_.try_emplace(std::string(path), files_.size());
    if (is_new) files_.push_back({.path = std::string(path)});
    return place->second;
  }

 private:
  std::vector<reports::FileProfile>& files_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

void add_sizes(const std::uint64_t (&more)[10], std::vector<std::uint64_t>& sizes) {
  sizes.resize(std::size(more));
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] += more[i];
}

}  // namespace

void FileProfile::contribute(const Resolver& resolver, reports::Application& application) const {
  FileRows rows(application.files);
  std::map<std::size_t, std::uint32_t> ranks_of;  // by row
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    std::set<std::size_t> seen;  // a file may have had several numbers
    for (const auto& [key, sums] : of(rank)) {
      const std::size_t row = rows.of(resolver, rank, static_cast<std::uint32_t>(key - 1));
      auto& profile = application.files[row];
      sums.add_to(profile);
      profile.seconds += static_cast<double>(sums.ticks) * resolver.seconds_per_tick(rank);
      if (seen.insert(row).second) ++ranks_of[row];
    }
  }
  for (const auto& [row, ranks] : ranks_of) {
    application.files[row].ranks = std::max(application.files[row].ranks, ranks);
  }
}

void contribute_accesses(const Resolver& resolver, reports::Application& application) {
  FileRows rows(application.files);
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    for (const instrument::FileAccessDefinition& access : resolver.accesses(rank)) {
      auto& profile = application.files[rows.of(resolver, rank, access.file)];
      profile.consecutive += access.consecutive;
      profile.forward += access.forward;
      profile.strided += access.strided;
      profile.backward += access.backward;
      add_sizes(access.reads, profile.read_sizes);
      add_sizes(access.writes, profile.write_sizes);
    }
  }
}

}  // namespace ardoise::knowledge_sources
