// An ideal machine in virtual time. Ranks are coroutines that compute, send messages, call collectives and files; the
// machine has a few costs and no surprises, so the same program always takes the same time to the nanosecond. Each rank
// makes the packs that the recorder of a real process would send, samples included.
//
//   Simulation simulation({.ranks = 4});
//   simulation.run([](Rank& me) -> Task {
//     co_await me.compute({"solve", 12}, 0.01);
//     co_await me.allreduce({"sum_up", 20}, 8);
//   });
//   reports::Run run = simulation.analyze();
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "reports/model.hpp"
#include "tests/diagnosis/recorded_rank.hpp"
#include "tests/diagnosis/task.hpp"

namespace ardoise::diagnosis {

// Costs in seconds and bytes a second.
struct Machine {
  std::uint32_t ranks = 4;
  std::uint32_t partner_ranks = 0;  // of a second program in the same world; their numbers follow
  double call = 0.5e-6;             // least time of an MPI call
  double latency = 2e-6;
  double bandwidth = 4e9;      // of one message
  double piecewise = 0.8e9;    // of data in short runs of memory
  double copying = 10e9;       // of an eager message out of the sender's memory
  std::uint64_t eager = 4096;  // larger messages wait for their receive
  bool progress = true;        // large messages move while the sender computes
  std::uint32_t ranks_per_host = 1024;
  std::uint32_t processors_per_host = 1024;
  double far_latency = 5e-6, far_bandwidth = 1e9;  // between hosts
  double file_call = 10e-6;
  double file_bandwidth = 0.5e9;  // of one rank
  double disk_bandwidth = 2e9;    // of all ranks together
  double noise = 0.01;            // of work: standard deviation, relative
  double crowding = 0;            // share of work for which a rank waits for a processor, on average
  double preemption = 0;          // mean time after which a rank loses its processor in a call, for 1 to 3 ms; 0: never
  // Work of a rank takes so many times as long; empty: 1.
  std::function<double(std::uint32_t rank)> slowness = {};
  std::string suffix;      // of all names of functions, as Fortran compilers append
  double sampling = 1e-3;  // CPU time between two samples
  std::uint32_t seed = 1;
};

struct Request {
  bool complete = false;
  bool is_receive = false;
  std::uint64_t bytes = 0;
  std::int32_t source = -1, tag = 0;    // of a receive: as wanted, then as received
  RecordedRank::Started started;        // for the record of its completion
  std::function<void(double)> awaited;  // set while the transfer waits for its sender to enter MPI
};
using RequestPointer = std::shared_ptr<Request>;

class Simulation;

// All operations are awaited. Places name function and line of the call.
class Rank {
 public:
  // Suspends the rank until the operation has ended; its value is that of the operation.
  template <class Value>
  struct Operation {
    Rank& rank;
    std::function<void()> start;
    std::shared_ptr<Value> value = std::make_shared<Value>();
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
      rank.suspended_ = handle;
      start();
    }
    Value await_resume() const { return *value; }
  };
  struct Nothing {};
  using Done = Operation<Nothing>;

  Rank(Simulation& simulation, std::uint32_t number, std::uint32_t seed);

  [[nodiscard]] std::uint32_t rank() const;  // in its program, which has so many ranks
  [[nodiscard]] std::uint32_t size() const;
  [[nodiscard]] bool is_partner() const;  // of the second program
  [[nodiscard]] double now() const;
  // Equal in all runs with the same seed; differs between ranks.
  [[nodiscard]] double random() { return std::uniform_real_distribution<>(0, 1)(random_); }

  // kernel_share: of the time, spent in the kernel, as for page faults.
  Done compute(Place place, double seconds, double kernel_share = 0);
  // Four threads compute that long at the same time; the rank goes on when all have ended.
  Done compute_in_threads(Place place, double first, double second, double third, double fourth);
  Done sleep(double seconds, instrument::SleepReason reason = instrument::SleepReason::kTime);
  Done wait_for_processor(double seconds);

  // From now on data is sent and received in runs of 8 bytes, or is contiguous again.
  void use_short_runs(bool does) { recorded_.use_short_runs(does); }
  Done send(Place place, std::uint32_t to, std::uint64_t bytes, std::int32_t tag = 0);
  Done recv(Place place, std::int32_t from, std::int32_t tag = 0);   // from: kAnySource is possible
  Operation<std::int32_t> recv_tag(Place place, std::int32_t from);  // of any tag; its tag
  Done probe_and_recv(Place place, std::int32_t from, std::int32_t tag = 0);
  Operation<RequestPointer> isend(Place place, std::uint32_t to, std::uint64_t bytes, std::int32_t tag = 0);
  Operation<RequestPointer> irecv(Place place, std::int32_t from, std::uint64_t bytes, std::int32_t tag = 0);
  Done wait(Place place, RequestPointer request);
  Done waitall(Place place, std::vector<RequestPointer> requests);
  Operation<std::size_t> waitany(Place place, std::vector<RequestPointer> requests);  // the place of the one that ended
  Operation<bool> test(Place place, RequestPointer request);
  [[nodiscard]] std::int32_t last_source() const { return last_source_; }  // of the last receive

  // On a communicator of Simulation::communicator(); 0 is that of the program. Roots are ranks of the communicator.
  Done barrier(Place place, std::uint32_t comm = 0);
  Done allreduce(Place place, std::uint64_t bytes, std::uint32_t comm = 0);
  Done alltoall(Place place, std::uint64_t bytes_to_each, std::uint32_t comm = 0);
  Done bcast(Place place, std::uint64_t bytes, std::uint32_t root = 0, std::uint32_t comm = 0);
  Done reduce(Place place, std::uint64_t bytes, std::uint32_t root = 0, std::uint32_t comm = 0);
  Done gather(Place place, std::uint64_t bytes, std::uint32_t root = 0, std::uint32_t comm = 0);
  Done duplicate(Place place, double seconds);  // MPI_Comm_dup and MPI_Comm_free of the world

  // Locks the target's window exclusively, puts, unlocks; the lock is held for `hold` seconds more.
  Done lock_and_put(Place place, std::uint32_t target, std::uint64_t bytes, double hold);

  Done write_at(Place place, const std::string& file, std::uint64_t bytes);      // MPI_File_write_at
  Done write_at_all(Place place, const std::string& file, std::uint64_t bytes);  // MPI_File_write_at_all
  Done open(Place place, const std::string& file);
  Done close(Place place, const std::string& file);
  Done read(Place place, const std::string& file, std::uint64_t bytes);
  Done write(Place place, const std::string& file, std::uint64_t bytes);
  Done flush(Place place, const std::string& file);
  Done sync(Place place, const std::string& file, double seconds);

 private:
  friend Simulation;
  enum class Wanted { kAll, kAny };
  struct Waiting {
    std::vector<RequestPointer> requests;
    Wanted wanted;
    double earliest;
    std::function<void(double)> then;
  };

  Done operation(std::function<void()> start) { return {*this, std::move(start)}; }
  void resume_at(double time);
  void wait_until(std::vector<RequestPointer> requests, Wanted wanted, std::function<void(double)> then);
  void check_waiting();
  RequestPointer post_send(std::uint32_t to, std::uint64_t bytes, std::int32_t tag, bool blocks);
  void start_receive(Place place, std::int32_t from, std::int32_t tag, bool probes, std::function<void()> then);
  [[nodiscard]] double time_of(double seconds);                        // of work, with noise
  [[nodiscard]] double preemption();                                   // seconds in a call without a processor
  [[nodiscard]] std::uint32_t communicator(std::uint32_t comm) const;  // 0 replaced by that of the program
  [[nodiscard]] double latency_to(std::uint32_t other) const;
  [[nodiscard]] double bandwidth_to(std::uint32_t other) const;
  RequestPointer post_receive(std::int32_t from, std::int32_t tag);
  Done collective(Place place, vmpi::FunctionId function, std::uint64_t sent, std::uint64_t received,
                  std::optional<std::uint32_t> root, bool to_root, std::uint32_t comm);
  Done file_call(Place place, instrument::PosixFunction function, const std::string& file, double seconds,
                 std::uint64_t bytes);

  Simulation& simulation_;
  std::uint32_t number_;
  std::mt19937 random_;
  RecordedRank recorded_;
  std::coroutine_handle<> suspended_;
  std::optional<Waiting> waiting_;
  std::int32_t last_source_ = -1, last_tag_ = 0;
  double ended_ = 0;
  double next_preemption_ = 0;
};

using Body = std::function<Task(Rank&)>;

class Simulation {
 public:
  explicit Simulation(const Machine& machine);
  ~Simulation();
  // Members are ranks of the world, ascending. Before run().
  std::uint32_t communicator(std::vector<std::uint32_t> members);
  // Runs all ranks to their end and returns the time of the last one, seconds. Throws std::runtime_error if they hang.
  double run(const Body& body);
  // The model that Ardoise makes of it. After run().
  [[nodiscard]] reports::Run analyze();
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] double now() const { return now_; }

 private:
  friend Rank;
  struct Message {
    std::uint32_t source;
    std::int32_t tag;
    std::uint64_t bytes;
    RequestPointer send;  // null: eager, the data is here
    bool sender_blocks;
  };
  struct Mailbox {
    std::vector<Message> unexpected;
    std::vector<RequestPointer> posted;
  };
  struct Collective {
    std::vector<std::optional<double>> arrivals;  // by member
    std::vector<std::function<void(double)>> ends;
    std::uint32_t arrived = 0;
  };
  struct Event {
    double time;
    std::uint64_t number;  // events of one time keep their order
    std::function<void()> happens;
    bool operator>(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
  };

  Task run_rank(Rank& rank, const Body& body);
  void at(double time, std::function<void()> happens);
  // Moves bytes between a rank and the file system, from now on; the time of the end.
  [[nodiscard]] double move_to_disk(std::uint64_t bytes);
  void arrive(std::uint32_t to, Message message);
  void match(std::uint32_t to, const Message& message, const RequestPointer& receive);
  void complete(const RequestPointer& request, std::uint32_t owner);
  void join(std::uint32_t comm, std::uint32_t rank, std::optional<std::uint32_t> root, bool to_root, double cost,
            std::function<void(double)> end);

  Machine machine_;
  double now_ = 0;
  std::uint64_t events_made_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<Mailbox> mailboxes_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Collective> collectives_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> joined_;  // collectives by comm and rank
  double free_disk_ = 0;                                                     // when the file system is free
  std::map<std::uint32_t, double> free_locks_;                               // by target: when the lock is free
};

}  // namespace ardoise::diagnosis
