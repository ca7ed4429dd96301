// A model of MPI between the streams of one test, in one thread: matches messages of each source in order, completes
// transfers late and out of order, copies data only on completion (so that a buffer reused too early shows), and calls
// a hook whenever a stream polls, which lets a test act while another stream waits.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "vmpi/streams/transport.hpp"
#include "vmpi/vmpi.h"

namespace ardoise::vmpi {

class ModelNetwork {
 public:
  explicit ModelNetwork(unsigned seed = 1, double pace = 1.0) : random_(seed), pace_(pace) {}

  std::function<void()> on_poll = [] {};
  int failure = VMPI_SUCCESS;       // returned by the next probe
  std::set<std::int64_t> dead;      // processes
  std::set<void*> receive_buffers;  // every address that was ever received into
  int unmatched_sends = 0;
  int stuck_source = -1;  // its transfers never complete

  std::unique_ptr<Transport> process(int rank) { return std::make_unique<Process>(*this, rank); }

 private:
  struct Message {
    int source;
    const void* data;
    std::size_t bytes;
    std::uintptr_t send;
  };
  struct Copy {
    Message message;
    void* into;
    std::uintptr_t receive;
  };

  class Process final : public Transport {
   public:
    Process(ModelNetwork& network, int rank) : network_(network), rank_(rank) {}

    int send(const void* data, std::size_t bytes, int rank, int tag, MPI_Request& request) override {
      request = handle<MPI_Request>(++network_.last_handle_);
      network_.mailboxes_[{rank, tag}].push_back({rank_, data, bytes, network_.last_handle_});
      ++network_.unmatched_sends;
      return VMPI_SUCCESS;
    }
    int send_empty(int rank, int tag) override {
      network_.mailboxes_[{rank, tag}].push_back({rank_, nullptr, 0, 0});
      return VMPI_SUCCESS;
    }
    int probe(int tag, bool& found, Incoming& incoming) override {
      network_.call_hook();
      if (network_.failure != VMPI_SUCCESS) return network_.failure;
      auto& mailbox = network_.mailboxes_[{rank_, tag}];
      found = !mailbox.empty() && network_.happens();
      if (!found) return VMPI_SUCCESS;
      const auto message = mailbox.front();
      mailbox.pop_front();
      network_.matched_[++network_.last_handle_] = message;
      network_.unmatched_sends -= message.bytes > 0 ? 1 : 0;
      incoming = {message.source, message.bytes, handle<MPI_Message>(network_.last_handle_)};
      return VMPI_SUCCESS;
    }
    int receive(Incoming& incoming, void* block, MPI_Request& request) override {
      const auto message = network_.matched_.extract(number(incoming.message)).mapped();
      request = MPI_REQUEST_NULL;
      if (message.bytes == 0) return VMPI_SUCCESS;
      request = handle<MPI_Request>(++network_.last_handle_);
      network_.receive_buffers.insert(block);
      network_.copies_.push_back({message, block, network_.last_handle_});
      return VMPI_SUCCESS;
    }
    int test_some(std::span<MPI_Request> requests, std::span<int> indices, int& completed) override {
      network_.make_progress();
      completed = 0;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        if (network_.completed_.erase(number(requests[i])) == 0) continue;
        requests[i] = MPI_REQUEST_NULL;
        indices[static_cast<std::size_t>(completed++)] = static_cast<int>(i);
      }
      return VMPI_SUCCESS;
    }
    bool is_alive(std::int64_t process) override { return !network_.dead.contains(process); }
    int send_left(int rank, int tag) override {
      network_.left_.emplace(rank_, rank, tag);
      return VMPI_SUCCESS;
    }
    bool has_left(int source, int tag) override { return network_.left_.erase({source, rank_, tag}) > 0; }

   private:
    ModelNetwork& network_;
    int rank_;
  };

  // MPI's handles are pointers in one library and integers in another.
  template <typename Handle>
  static Handle handle(std::uintptr_t value) {
    if constexpr (std::is_pointer_v<Handle>) {
      return reinterpret_cast<Handle>(value);
    } else {
      return static_cast<Handle>(value);
    }
  }
  template <typename Handle>
  static std::uintptr_t number(Handle value) {
    if constexpr (std::is_pointer_v<Handle>) {
      return reinterpret_cast<std::uintptr_t>(value);
    } else {
      return static_cast<std::uintptr_t>(value);
    }
  }

  bool happens() { return pace_ >= 1.0 || std::uniform_real_distribution<>(0, 1)(random_) < pace_; }

  void call_hook() {
    if (inside_hook_) return;
    inside_hook_ = true;
    on_poll();
    inside_hook_ = false;
  }

  void make_progress() {
    for (std::size_t i = 0; i < copies_.size();) {
      if (!happens() || copies_[i].message.source == stuck_source) {
        ++i;
        continue;
      }
      const auto copy = copies_[i];
      std::memcpy(copy.into, copy.message.data, copy.message.bytes);
      completed_.insert(copy.receive);
      completed_.insert(copy.message.send);
      copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  std::mt19937 random_;
  double pace_;  // probability that what can happen happens at a poll
  bool inside_hook_ = false;
  std::uintptr_t last_handle_ = 0;
  std::map<std::pair<int, int>, std::deque<Message>> mailboxes_;  // by destination and tag
  std::map<std::uintptr_t, Message> matched_;
  std::vector<Copy> copies_;
  std::set<std::uintptr_t> completed_;
  std::set<std::tuple<int, int, int>> left_;  // from, to, tag of the notified process
};

}  // namespace ardoise::vmpi
