// Blackboards of one process that own keys together: data for another one is copied, as over a network.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "blackboard/blackboard.hpp"

namespace ardoise::replay {

// Must outlive all use by the boards.
class LocalTransports {
 public:
  explicit LocalTransports(std::vector<blackboard::Blackboard*> boards) : boards_(std::move(boards)) {
    if (boards_.size() == 1) return;
    for (unsigned i = 0; i < boards_.size(); ++i) {
      transports_.push_back(std::make_unique<One>(*this, i));
      boards_[i]->connect(*transports_[i]);
    }
  }
  // Calls flush() when the boards are idle, until no data moves between them.
  template <class Flush>
  void settle(Flush&& flush) {
    for (std::uint64_t before = UINT64_MAX; before != sent_;) {
      before = sent_;
      drain();
      flush();
      drain();
    }
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }    // entries
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // of them

 private:
  class One final : public blackboard::Transport {
   public:
    One(LocalTransports& all, unsigned self) : all_(all), self_(self) {}
    [[nodiscard]] unsigned boards() const noexcept override { return static_cast<unsigned>(all_.boards_.size()); }
    [[nodiscard]] unsigned self() const noexcept override { return self_; }
    void send(unsigned board, blackboard::EntryRef entry) override {
      ++all_.sent_;
      all_.bytes_ += entry.payload().size();
      auto copy = blackboard::make_entry(entry.type(), entry.payload().size());
      std::ranges::copy(entry.payload(), copy.writable().begin());
      all_.boards_[board]->submit(std::move(copy));
    }

   private:
    LocalTransports& all_;
    unsigned self_;
  };
  void drain() {
    for (std::uint64_t before = UINT64_MAX; before != sent_;) {
      before = sent_;
      for (auto* board : boards_) board->drain();
    }
  }

  std::vector<blackboard::Blackboard*> boards_;
  std::vector<std::unique_ptr<One>> transports_;
  std::atomic<std::uint64_t> sent_{0}, bytes_{0};
};

}  // namespace ardoise::replay
