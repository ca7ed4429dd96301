// A small model of MPI: ranks with scripts run until all have ended or no rank can continue. It then provides the state
// that the processes would report. For tests of explanations of hangs (hang_model_test.cpp).
//
// Messages of one channel match in the order of their posts. An eager send completes at once, any other send when it is
// matched; no such message moves while one of its ranks computes. Collectives are linear, along a binomial tree, or
// synchronising, so that ranks leave rooted ones early or late.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/hangs/stalled_processes.hpp"

namespace ardoise::analyzer::hang_model {

struct Op {
  enum class Kind {
    kSend,
    kReceive,
    kProbe,
    kSendReceive,
    kISend,
    kIReceive,
    kCollective,
    kICollective,
    kWait,     // for all of `requests`
    kWaitAny,  // for one of them
    kPause,    // computes, while pauses hold
  };
  Kind kind = Kind::kPause;
  std::size_t comm = 0;
  int peer = 0, tag = 0;      // in the communicator; kAny: any source
  int source = 0;             // of kSendReceive
  bool eager = false;         // a send
  std::string function = {};  // a collective: "MPI_Reduce"
  int root = -1;              // -1: it has none
  std::vector<int> requests = {};
  int request = -1;  // result of a non-blocking operation
  static constexpr int kAny = instrument::kAnySource;
};

struct Program {
  std::vector<std::vector<int>> comms;  // members; 0: the world
  std::vector<std::vector<Op>> scripts;
  [[nodiscard]] int ranks() const { return static_cast<int>(scripts.size()); }
};

class Machine {
 public:
  struct Setting {
    bool knows_requests = true;  // the state of a request can be seen (Open MPI)
    bool ends_leave = false;     // ended ranks leave no state
  };
  Machine(const Program& program, unsigned seed)
      : program_(program), random_(seed), ranks_(program.scripts.size()), entered_(program.comms.size()) {}

  void hold(bool pauses_hold) { holds_ = pauses_hold; }
  void run() {
    std::vector<int> order(ranks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    for (bool moved = true; moved;) {
      moved = false;
      std::ranges::shuffle(order, random_);
      for (const int rank : order) {
        while (step(rank)) moved = true;
      }
    }
  }
  [[nodiscard]] bool has_ended(int rank) const { return at(rank).pc == program_.scripts[index(rank)].size(); }
  [[nodiscard]] bool all_ended() const {
    for (int rank = 0; rank < program_.ranks(); ++rank) {
      if (!has_ended(rank)) return false;
    }
    return true;
  }
  [[nodiscard]] std::vector<StalledProcess> processes(Setting setting) const;

 private:
  struct Message {
    int from, to;
    std::size_t comm;
    int tag;
    bool eager, matched = false;
    int stalled_by = -1;  // rank that was computing when it was matched
  };
  struct Receive {
    int rank, from;
    std::size_t comm;
    int tag;
    int message = -1;
  };
  struct Request {
    Op::Kind kind;
    std::size_t number;  // of message, receive; of the collective on its communicator
    const Op* op;
    bool done = false;
  };
  struct Rank {
    std::size_t pc = 0;
    bool is_in = false;
    std::size_t message = 0, receive = 0, number = 0;  // of the current call
    std::map<int, Request> requests;
  };
  struct Entry {
    std::string function;
    int root;
  };

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  [[nodiscard]] Rank& at(int rank) { return ranks_[index(rank)]; }
  [[nodiscard]] const Rank& at(int rank) const { return ranks_[index(rank)]; }
  [[nodiscard]] bool computes(int rank) const {
    if (has_ended(rank) || !holds_) return false;
    return program_.scripts[index(rank)][at(rank).pc].kind == Op::Kind::kPause;
  }
  [[nodiscard]] int world(std::size_t comm, int peer) const {
    return peer < 0 ? peer : program_.comms[comm][index(peer)];
  }
  [[nodiscard]] int position(std::size_t comm, int rank) const {
    const auto& members = program_.comms[comm];
    return static_cast<int>(std::ranges::find(members, rank) - members.begin());
  }

  bool step(int rank);
  void enter(int rank, const Op& op);
  [[nodiscard]] bool is_done(int rank, const Op& op);
  std::size_t send(int rank, const Op& op, int peer);
  std::size_t receive(int rank, const Op& op, int source);
  void match(Message& message, Receive& receive, int message_number, int posted_by);
  [[nodiscard]] bool moves(const Message& message) const {
    return message.matched && (message.stalled_by < 0 || !computes(message.stalled_by));
  }
  [[nodiscard]] bool is_sent(std::size_t message) const {
    return messages_[message].eager || moves(messages_[message]);
  }
  [[nodiscard]] bool is_received(std::size_t receive) const {
    const int message = receives_[receive].message;
    return message >= 0 && (messages_[index(message)].eager || moves(messages_[index(message)]));
  }
  [[nodiscard]] bool may_leave(int rank, const Op& op, std::size_t number, bool is_request) const;
  [[nodiscard]] bool is_complete(int rank, const Request& request) const;
  [[nodiscard]] PendingOperation operation(const Op& op, int rank) const;
  [[nodiscard]] std::shared_ptr<const CommView> comm(std::size_t number) const;

  const Program program_;
  std::mt19937 random_;
  bool holds_ = true;
  std::vector<Rank> ranks_;
  std::vector<Message> messages_;
  std::vector<Receive> receives_;
  std::vector<std::map<int, std::vector<Entry>>> entered_;  // of each communicator and rank
  mutable std::map<std::size_t, std::shared_ptr<const CommView>> comms_;
};

}  // namespace ardoise::analyzer::hang_model
