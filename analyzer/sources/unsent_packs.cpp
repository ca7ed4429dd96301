#include "analyzer/sources/unsent_packs.hpp"

#include <algorithm>

#include "analyzer/output_folder/own_files.hpp"
#include "instrument/format/event_format.hpp"
#include "instrument/format/unsent_files.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using instrument::PackHeader;

const PackHeader* header_of(const SourcedPack& pack) {
  return pack.bytes.size() < sizeof(PackHeader) ? nullptr : reinterpret_cast<const PackHeader*>(pack.bytes.data());
}

}  // namespace

void UnsentPacks::note(const SourcedPack& pack) {
  const PackHeader* const header = header_of(pack);
  if (header == nullptr) return;
  std::uint64_t& next = arrived_[{header->partition, header->rank}];
  next = std::max(next, header->sequence + 1);
  if ((header->flags & instrument::kLastPack) != 0) ended_.insert({header->partition, header->rank});
}

bool UnsentPacks::open(const fs::path& file) {
  if (!has_own_file(file)) return false;
  files_.emplace_back(read_own_capture({file}));
  return true;
}

bool UnsentPacks::open(ProcessKey process) {
  return open(folder_ / instrument::unsent_file_name(process.first, process.second));
}

std::size_t UnsentPacks::open_all() {
  const auto files = unsent_pack_files(folder_);
  return static_cast<std::size_t>(
      std::ranges::count_if(files, [this](const fs::path& file) { return !is_unfinished(file) && open(file); }));
}

PackSource::Next UnsentPacks::next(SourcedPack& pack) {
  for (; current_ < files_.size(); ++current_) {
    while (files_[current_].source.next(pack) == Next::pack) {
      const PackHeader* const header = header_of(pack);
      if (header == nullptr || header->sequence < arrived_[{header->partition, header->rank}]) continue;
      note(pack);
      return Next::pack;
    }
  }
  return Next::end;
}

std::vector<std::string> UnsentPacks::complaints() const {
  std::vector<std::string> all;
  for (const OpenFile& file : files_) {
    const auto some = file.source.complaints();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

bool is_unfinished(const fs::path& file) { return file.string().ends_with(instrument::kUnfinishedSuffix); }

std::vector<fs::path> unsent_pack_files(const fs::path& folder) { return own_files(folder, instrument::kUnsentPrefix); }

}  // namespace ardoise::analyzer
