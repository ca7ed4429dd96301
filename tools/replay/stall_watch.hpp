// Reports once when a call of a replay takes very long: the call, and the ranks that it waits for. A separate thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "tools/replay/player.hpp"

namespace ardoise::replay {

class StallWatch {
 public:
  StallWatch(const Stage& stage, const std::deque<Player>& players);
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

 private:
  void watch();
  [[nodiscard]] bool look(const Player& player) const;

  const Stage& stage_;
  const std::deque<Player>& players_;
  std::mutex lock_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace ardoise::replay
