// A model of MPI's part in opening streams: control messages between the processes of one test, in one thread, each
// delayed at random but in the order of its sender. Counts what each process sends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vmpi/streams/mailbox.hpp"
#include "vmpi/vmpi.h"

namespace ardoise::vmpi {

class ModelControl {
 public:
  explicit ModelControl(int processes, unsigned seed = 1, double pace = 1.0)
      : processes_(static_cast<std::size_t>(processes)), random_(seed), pace_(pace) {
    for (std::size_t rank = 0; rank < processes_.size(); ++rank)
      processes_[rank].channel = std::make_unique<Channel>(*this, static_cast<int>(rank));
  }

  ControlChannel& channel(int rank) { return *processes_[static_cast<std::size_t>(rank)].channel; }
  std::uint64_t messages_sent(int rank) const { return processes_[static_cast<std::size_t>(rank)].sent; }
  // Number of stream ends that arrived at this process with this tag.
  int ends(int rank, int tag) const {
    const auto& all = processes_[static_cast<std::size_t>(rank)].ends;
    const auto found = all.find(tag);
    return found == all.end() ? 0 : found->second;
  }

 private:
  class Channel final : public ControlChannel {
   public:
    Channel(ModelControl& model, int rank) : model_(model), rank_(rank) {}
    int send(int rank, const ControlMessage& message) override {
      ++model_.processes_[static_cast<std::size_t>(rank_)].sent;
      model_.processes_[static_cast<std::size_t>(rank)].inbox.emplace_back(rank_, message);
      return VMPI_SUCCESS;
    }
    int receive(bool& found, int& rank, ControlMessage& message) override {
      auto& inbox = model_.processes_[static_cast<std::size_t>(rank_)].inbox;
      found = !inbox.empty() &&
              (model_.pace_ >= 1.0 || std::uniform_real_distribution<>(0, 1)(model_.random_) < model_.pace_);
      if (!found) return VMPI_SUCCESS;
      auto next = inbox.begin();
      if (model_.pace_ < 1.0) {  // the first of any sender
        const int sender = inbox[model_.random_() % inbox.size()].first;
        next = std::find_if(inbox.begin(), inbox.end(), [sender](const auto& one) { return one.first == sender; });
      }
      rank = next->first;
      message = next->second;
      inbox.erase(next);
      return VMPI_SUCCESS;
    }
    int send_end(int rank, int tag) override {
      ++model_.processes_[static_cast<std::size_t>(rank)].ends[tag];
      return VMPI_SUCCESS;
    }

   private:
    ModelControl& model_;
    int rank_;
  };
  struct Process {
    std::unique_ptr<Channel> channel;
    std::deque<std::pair<int, ControlMessage>> inbox;
    std::unordered_map<int, int> ends;
    std::uint64_t sent = 0;
  };

  std::vector<Process> processes_;
  std::mt19937 random_;
  double pace_;  // probability that a message that is there is seen at a poll
};

}  // namespace ardoise::vmpi
