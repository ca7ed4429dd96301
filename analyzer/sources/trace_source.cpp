#include "analyzer/sources/trace_source.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace ardoise::analyzer {

using knowledge_sources::MadePack;
using knowledge_sources::TracePacks;
using knowledge_sources::UnreadableArchive;

namespace {

constexpr const char* kCutDefinitions = "incomplete global definitions";

struct Stopped {};

void release(void* pack, std::span<std::byte>) noexcept { delete static_cast<MadePack*>(pack); }

}  // namespace

TraceSource::TraceSource(const std::filesystem::path& path) : archive_(path), program_(archive_) {
  if (program_.ranks() == 0)
    throw UnreadableArchive(fmt::format("The trace '{}' has no processes.", archive_.anchor().file.string()));
}

TraceSource::~TraceSource() {
  reader_.request_stop();
  if (reader_.joinable()) reader_.join();
}

knowledge_sources::Program TraceSource::program() const {
  return {.partition = 0,
          .name = program_.name(),
          .ranks = program_.ranks(),
          .ticks_per_second = program_.ticks_per_second(),
          .world = 0,
          .place = {0, program_.ranks()}};
}

void TraceSource::put(MadePack pack, const std::stop_token& stopped) {
  auto own = std::make_unique<MadePack>(std::move(pack));
  std::unique_lock lock(mutex_);
  if (!room_.wait(lock, stopped, [this] { return bytes_ < kMostBytes; })) throw Stopped{};
  bytes_ += own->size;
  packs_.push_back(std::move(own));
}

void TraceSource::read(const std::stop_token& stopped) {
  std::vector<std::string> complaints, notices;
  try {
    TracePacks packs(program_, [&](MadePack pack) { put(std::move(pack), stopped); });
    const auto faults = archive_.read_side_by_side(packs);
    packs.finish();
    complaints = faults.sentences();
    notices = packs.notices();
  } catch (const Stopped&) {
    return;
  } catch (const std::exception& error) {
    complaints.emplace_back(fmt::format("The trace is read only in part: {}", error.what()));
  }
  const auto& definitions = archive_.definitions().faults;
  auto& list = definitions.by_kind().contains(kCutDefinitions) ? complaints : notices;
  for (const std::string& each : definitions.sentences()) list.push_back("In the trace: " + each);
  const std::scoped_lock guard(mutex_);
  complaints_ = std::move(complaints);
  notices_ = std::move(notices);
  has_ended_ = true;
}

PackSource::Next TraceSource::next(SourcedPack& pack) {
  if (!reader_.joinable()) reader_ = std::jthread([this](const std::stop_token& stopped) { read(stopped); });
  std::unique_ptr<MadePack> first;
  {
    const std::scoped_lock guard(mutex_);
    if (packs_.empty()) return has_ended_ ? Next::end : Next::nothing;
    first = std::move(packs_.front());
    packs_.pop_front();
    bytes_ -= first->size;
  }
  room_.notify_one();
  pack.bytes = first->bytes();
  pack.release = release;
  pack.context = first.release();
  return Next::pack;
}

std::vector<std::string> TraceSource::complaints() const {
  const std::scoped_lock guard(mutex_);
  return complaints_;
}

std::vector<std::string> TraceSource::notices() const {
  const std::scoped_lock guard(mutex_);
  return notices_;
}

}  // namespace ardoise::analyzer
