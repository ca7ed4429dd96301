// Explanations of hangs of random programs of the model: a correct program with a late rank is never blamed, a wrong
// one nearly always is.
#include "tests/analyzer/hang_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/hangs/deadlock.hpp"
#include "tests/rounds.hpp"

namespace ardoise::analyzer::hang_model {
namespace {

using Kind = Op::Kind;

constexpr unsigned kPrograms = rounds(5'000);

// A correct program: a sequence of operations of several ranks. Each rank executes its own in this order, so the
// program ends for every choice of eager sends and waits.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {
    const int ranks = between(2, 6);
    std::vector<int> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
    program_.comms = {all, all};
    for (int i = 0; i < 2; ++i) {
      std::vector<int> some = all;
      std::ranges::shuffle(some, random_);
      some.resize(static_cast<std::size_t>(between(2, ranks)));
      program_.comms.push_back(some);
    }
    program_.scripts.resize(static_cast<std::size_t>(ranks));
    pending_.resize(static_cast<std::size_t>(ranks));
    for (int steps = between(3, 14); steps != 0; --steps) {
      add_step();
      for (int rank = 0; rank < ranks; ++rank) {
        if (between(0, 2) == 0) wait(rank);
      }
    }
    for (int rank = 0; rank < ranks; ++rank) {
      while (!pending_[index(rank)].empty()) wait(rank);
    }
  }

  [[nodiscard]] const Program& program() const { return program_; }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  int between(int first, int last) { return std::uniform_int_distribution(first, last)(random_); }
  [[nodiscard]] std::size_t any_comm() { return index(between(0, static_cast<int>(program_.comms.size()) - 1)); }

  void add(int rank, Op op) {
    if (op.kind == Kind::kISend || op.kind == Kind::kIReceive || op.kind == Kind::kICollective) {
      op.request = next_request_++;
      pending_[index(rank)].push_back(op.request);
    }
    program_.scripts[index(rank)].push_back(std::move(op));
  }
  void wait(int rank) {
    auto& pending = pending_[index(rank)];
    if (pending.empty()) return;
    std::ranges::shuffle(pending, random_);
    const int how = between(0, 3);
    if (how == 0) {
      add(rank, {.kind = Kind::kWait, .requests = {pending.back()}});
      pending.pop_back();
      return;
    }
    if (how == 1) add(rank, {.kind = Kind::kWaitAny, .requests = pending});
    add(rank, {.kind = Kind::kWait, .requests = pending});
    pending.clear();
  }
  Op collective(std::size_t comm) {
    static const std::vector<std::string> kPlain{"MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall", "MPI_Scan",
                                                 "MPI_Comm_dup"};
    static const std::vector<std::string> kRooted{"MPI_Bcast", "MPI_Scatter", "MPI_Reduce", "MPI_Gather"};
    Op op{.kind = Kind::kCollective, .comm = comm};
    if (between(0, 1) == 0) {
      op.function = kPlain[index(between(0, 4))];
    } else {
      op.function = kRooted[index(between(0, 3))];
      op.root = between(0, static_cast<int>(program_.comms[comm].size()) - 1);
    }
    return op;
  }

  void add_step() {
    const std::size_t comm = any_comm();
    const auto& members = program_.comms[comm];
    const int size = static_cast<int>(members.size()), tag = ++tag_;
    const bool eager = between(0, 1) == 0;
    switch (between(0, 7)) {
      case 0:
      case 1: {
        const Op op = collective(comm);
        for (const int rank : members) add(rank, op);
        return;
      }
      case 2: {
        Op op = collective(comm);
        if (op.function == "MPI_Comm_dup") return;
        op.kind = Kind::kICollective;
        for (const int rank : members) add(rank, op);
        return;
      }
      case 3: {  // a ring
        for (int own = 0; own < size; ++own) {
          add(members[index(own)], {.kind = Kind::kSendReceive,
                                    .comm = comm,
                                    .peer = (own + 1) % size,
                                    .tag = tag,
                                    .source = (own + size - 1) % size,
                                    .eager = eager});
        }
        return;
      }
      case 4: {  // halos
        for (int own = 0; own < size; ++own) {
          std::vector<Op> posts;
          for (const int side : {0, 1}) {
            const int peer = (own + (side == 0 ? 1 : size - 1)) % size;
            const int to = 2 * tag + side, from = 2 * tag + 1 - side;
            posts.push_back({.kind = Kind::kIReceive, .comm = comm, .peer = peer, .tag = from});
            posts.push_back({.kind = Kind::kISend, .comm = comm, .peer = peer, .tag = to, .eager = eager});
          }
          std::ranges::shuffle(posts, random_);
          for (const Op& op : posts) add(members[index(own)], op);
        }
        return;
      }
      case 5: {  // all to one, which receives them in order of arrival
        for (int own = 1; own < size; ++own) {
          add(members[index(own)], {.kind = Kind::kSend, .comm = comm, .peer = 0, .tag = tag, .eager = eager});
          add(members[0], {.kind = Kind::kReceive, .comm = comm, .peer = Op::kAny, .tag = tag});
        }
        return;
      }
      case 6: {  // a request and its reply
        const int asks = between(0, size - 1), answers = (asks + between(1, size - 1)) % size;
        message(comm, asks, answers, tag);
        message(comm, answers, asks, ++tag_);
        return;
      }
      default: {
        const int from = between(0, size - 1);
        message(comm, from, (from + between(1, size - 1)) % size, tag);
      }
    }
  }
  void message(std::size_t comm, int from, int to, int tag) {
    const auto& members = program_.comms[comm];
    add(members[index(from)], {.kind = between(0, 1) == 0 ? Kind::kSend : Kind::kISend,
                               .comm = comm,
                               .peer = to,
                               .tag = tag,
                               .eager = between(0, 1) == 0});
    const int source = between(0, 3) == 0 ? Op::kAny : from;
    const int how = between(0, 4);
    if (how == 0) add(members[index(to)], {.kind = Kind::kProbe, .comm = comm, .peer = source, .tag = tag});
    add(members[index(to)],
        {.kind = how < 3 ? Kind::kReceive : Kind::kIReceive, .comm = comm, .peer = source, .tag = tag});
  }

  std::mt19937 random_;
  Program program_;
  std::vector<std::vector<int>> pending_;
  int next_request_ = 0, tag_ = 100;
};

Program with_pause(Program program, std::mt19937& random) {
  auto& script = program.scripts[random() % program.scripts.size()];
  script.insert(script.begin() + static_cast<std::ptrdiff_t>(random() % (script.size() + 1)), Op{});
  return program;
}

// Adds one mistake of one rank, or a circle of receives.
Program with_mistake(Program program, std::mt19937& random) {
  auto& script = program.scripts[random() % program.scripts.size()];
  if (script.empty()) return program;
  const std::size_t place = random() % script.size();
  const auto at = script.begin() + static_cast<std::ptrdiff_t>(place);
  Op& op = *at;
  switch (random() % 9) {
    case 0:
      script.erase(at);
      break;
    case 1:
      if (place + 1 < script.size()) std::swap(script[place], script[place + 1]);
      break;
    case 2:
      if (op.root >= 0) op.root = (op.root + 1) % static_cast<int>(program.comms[op.comm].size());
      break;
    case 3:
      if (!op.function.empty())
        op = {.kind = op.kind, .comm = op.comm, .function = "MPI_Alltoall", .request = op.request};
      break;
    case 4:
      if (op.function.empty()) ++op.tag;
      break;
    case 5:
      op.comm = op.comm == 0 ? 1 : 0;
      op.peer = std::min(op.peer, program.ranks() - 1);
      break;
    case 6:
      if (op.function.empty() && op.peer >= 0)
        op.peer = (op.peer + 1) % static_cast<int>(program.comms[op.comm].size());
      break;
    case 7:
      script.erase(at, script.end());
      break;
    default:
      for (int rank = 0; rank < program.ranks(); ++rank) {
        const Op receive{.kind = Kind::kReceive, .peer = (rank + 1) % program.ranks(), .tag = 1};
        auto& own = program.scripts[static_cast<std::size_t>(rank)];
        own.insert(own.begin() + static_cast<std::ptrdiff_t>(random() % (own.size() + 1)), receive);
      }
  }
  return program;
}

std::string in_words(const Program& program) {
  std::string text;
  for (const auto& script : program.scripts) {
    for (const Op& op : script) {
      text += "{" + std::to_string(static_cast<int>(op.kind)) + op.function + " c" + std::to_string(op.comm) + " p" +
              std::to_string(op.peer) + " t" + std::to_string(op.tag) + " r" + std::to_string(op.root) + " q" +
              std::to_string(op.request) + (op.eager ? "e" : "") + " [";
      for (const int request : op.requests) text += std::to_string(request) + " ";
      text += "]} ";
    }
    text += "\n";
  }
  return text;
}

Machine::Setting any_setting(std::mt19937& random) { return {random() % 2 == 0, random() % 4 == 0}; }

TEST(HangModel, NothingWrongIsSaidOfRightPrograms) {
  int looked = 0;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    std::mt19937 random(seed);
    const Program program = with_pause(Maker(seed).program(), random);
    Machine machine(program, seed);
    machine.run();
    if (machine.all_ended()) continue;
    ++looked;
    const auto processes = machine.processes(any_setting(random));
    const HangReason reason = reason_of_hang(processes);
    machine.hold(false);
    machine.run();
    ASSERT_TRUE(machine.all_ended()) << seed << "\n" << in_words(program);
    ASSERT_FALSE(reason.is_fault) << seed << ": " << reason.text << "\n" << in_words(program);
    ASSERT_THAT(reason.text, ::testing::HasSubstr("computes")) << seed;
  }
  EXPECT_GT(looked, static_cast<int>(kPrograms) / 2);
}

// With and without access to the state of requests.
TEST(HangModel, WrongProgramsAreNamed) {
  for (const bool knows_requests : {true, false}) {
    unsigned wrong = 0, named = 0;
    std::string missed;
    for (unsigned seed = 0; seed < kPrograms; ++seed) {
      std::mt19937 random(seed);
      const Program program = with_mistake(Maker(seed).program(), random);
      Machine machine(program, seed);
      machine.run();
      if (machine.all_ended()) continue;
      ++wrong;
      const HangReason reason = reason_of_hang(machine.processes({.knows_requests = knows_requests}));
      if (reason.is_fault) {
        ++named;
      } else if (missed.size() < 10'000) {
        missed += std::to_string(seed) + ": " + reason.text + "\n" + in_words(program);
      }
    }
    RecordProperty(knows_requests ? "named" : "named_without_requests", static_cast<int>(named));
    RecordProperty("wrong", static_cast<int>(wrong));
    EXPECT_GT(wrong, kPrograms / 10);
    EXPECT_GE(named, wrong * 99 / 100) << knows_requests << "\n" << missed;
  }
}

// A late rank in a wrong program: a fault is reported only if the program also hangs without the delay.
TEST(HangModel, WithALateRankAFaultIsOnlySaidIfItStays) {
  int looked = 0;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    std::mt19937 random(seed);
    const Program program = with_pause(with_mistake(Maker(seed).program(), random), random);
    Machine machine(program, seed);
    machine.run();
    const HangReason reason = reason_of_hang(machine.processes(any_setting(random)));
    machine.hold(false);
    machine.run();
    if (!machine.all_ended()) continue;
    ++looked;
    // Ranks may leave collectives that do not match.
    const bool is_mismatch = reason.text.find("different") != std::string::npos;
    ASSERT_FALSE(reason.is_fault && !is_mismatch) << seed << ": " << reason.text << "\n" << in_words(program);
  }
  EXPECT_GT(looked, static_cast<int>(kPrograms) / 10);
}

}  // namespace
}  // namespace ardoise::analyzer::hang_model
