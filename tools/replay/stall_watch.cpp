#include "tools/replay/stall_watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "reports/text/utf8.hpp"

namespace ardoise::replay {

using namespace std::chrono_literals;

namespace {

constexpr auto kPatience = 30s;

}  // namespace

StallWatch::StallWatch(const Stage& stage, const std::deque<Player>& players)
    : stage_(stage), players_(players), thread_([this] { watch(); }) {}

StallWatch::~StallWatch() {
  {
    const std::lock_guard guard(lock_);
    has_ended_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void StallWatch::watch() {
  std::unique_lock guard(lock_);
  while (!ended_.wait_for(guard, 1s, [this] { return has_ended_; })) {
    for (const Player& player : players_) {
      if (look(player)) return;
    }
  }
}

bool StallWatch::look(const Player& player) const {
  const Progress& progress = player.progress();
  const auto since = std::chrono::nanoseconds(progress.since.load(std::memory_order_relaxed));
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  if (since.count() == 0 || now - since < kPatience) return false;
  const std::uint32_t place = progress.shape.load(std::memory_order_relaxed);
  if (place == kLong) return false;
  const CallShape& shape = stage_.script.shape(place);
  const std::string name =
      shape.function < vmpi::kFunctionCount ? vmpi::kFunctionTraits[shape.function].name : "access to a file";
  std::string whom;
  if (shape.source >= 0) whom += fmt::format(", from rank {} with tag {}", shape.source, shape.receive_tag);
  if (shape.peer >= 0) whom += fmt::format(", rank {}", shape.peer);
  std::cerr << fmt::format(
                   "ardoise-replay: rank {}: call {} has not returned for {} s: {}{}. It keeps waiting; another "
                   "process has not "
                   "reached its part\n",
                   stage_.rank, progress.step.load(std::memory_order_relaxed),
                   std::chrono::duration_cast<std::chrono::seconds>(now - since).count(),
                   reports::printable(place_of(stage_.world.definitions(), shape.region, name)), whom)
            << std::flush;
  return true;
}

}  // namespace ardoise::replay
