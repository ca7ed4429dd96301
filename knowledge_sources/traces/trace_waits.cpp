// See trace_waits.hpp.
#include "knowledge_sources/traces/trace_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

namespace ardoise::knowledge_sources {
namespace {

constexpr const char* kWaitsName = "waits";

struct WaitBlock {
  std::uint32_t rank, count;
  std::uint64_t missing;
};

}  // namespace

TraceWaits::TraceWaits(std::filesystem::path part, std::function<void(const std::string&)> complain)
    : file_name_(std::move(part) / kWaitsName), complain_(std::move(complain)) {}

void TraceWaits::add(std::span<const RankWait> waits) {
  if (waits.empty()) return;
  const std::uint32_t rank = waits.front().rank;
  const std::scoped_lock lock(mutex_);
  OfRank& of_rank = ranks_[rank];
  for (const RankWait& wait : waits) {
    if (of_rank.taken == kMostOfRank) {
      ++of_rank.missing;
      continue;
    }
    ++of_rank.taken;
    of_rank.held.push_back(wait);
    if (of_rank.held.size() == kBlock) write(rank, of_rank);
  }
}

void TraceWaits::flush() {
  const std::scoped_lock lock(mutex_);
  for (auto& [rank, of_rank] : ranks_) write(rank, of_rank);
  if (file_ && std::fflush(file_.get()) != 0 && !std::exchange(has_failed_, true))
    complain_(
        fmt::format("The trace lacks waiting: '{}' cannot be written: {}.", file_name_.string(), std::strerror(errno)));
}

// mutex_ is held.
void TraceWaits::write(std::uint32_t rank, OfRank& of_rank) {
  if (of_rank.held.empty() && of_rank.missing == 0) return;
  const WaitBlock block{rank, static_cast<std::uint32_t>(of_rank.held.size()), std::exchange(of_rank.missing, 0)};
  if (!has_failed_ && !file_) file_.reset(std::fopen(file_name_.c_str(), "wb"));
  const bool is_good =
      !has_failed_ && file_ && std::fwrite(&block, sizeof block, 1, file_.get()) == 1 &&
      std::fwrite(of_rank.held.data(), sizeof(RankWait), of_rank.held.size(), file_.get()) == of_rank.held.size();
  of_rank.held.clear();
  if (!is_good && !std::exchange(has_failed_, true))
    complain_(
        fmt::format("The trace lacks waiting: '{}' cannot be written: {}.", file_name_.string(), std::strerror(errno)));
}

WaitsOfPart::WaitsOfPart(const std::filesystem::path& part) : file_name_(part / kWaitsName) {
  std::error_code fault;
  const std::uint64_t size = std::filesystem::file_size(file_name_, fault);
  if (fault) return;
  std::ifstream file(file_name_, std::ios::binary);
  WaitBlock block{};
  for (std::uint64_t at = 0; file.read(reinterpret_cast<char*>(&block), sizeof block);) {
    at += sizeof block;
    if (block.count > TraceWaits::kBlock || size - at < block.count * sizeof(RankWait)) return;
    OfRank& of_rank = blocks_[block.rank];
    of_rank.missing += block.missing;
    if (block.count != 0) of_rank.blocks.push_back({at, block.count});
    at += block.count * sizeof(RankWait);
    file.seekg(static_cast<std::streamoff>(at));
  }
}

void WaitsOfPart::add_to(std::vector<RankWait>& waits, std::uint32_t rank, std::uint64_t& missing) const {
  const auto found = blocks_.find(rank);
  if (found == blocks_.end()) return;
  missing += found->second.missing;
  std::ifstream file(file_name_, std::ios::binary);
  for (const Block& block : found->second.blocks) {
    const std::size_t before = waits.size();
    waits.resize(before + block.count);
    file.seekg(static_cast<std::streamoff>(block.at));
    if (!file.read(reinterpret_cast<char*>(waits.data() + before),
                   static_cast<std::streamsize>(block.count * sizeof(RankWait)))) {
      waits.resize(before);
      return;
    }
  }
}

}  // namespace ardoise::knowledge_sources
