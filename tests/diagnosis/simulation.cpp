#include "tests/diagnosis/simulation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "tests/replay/session.hpp"

namespace ardoise::diagnosis {

using instrument::kAnySource;
using instrument::kAnyTag;
using instrument::kNoPeer;
using instrument::PosixFunction;
using instrument::Shape;
using vmpi::FunctionId;

Rank::Rank(Simulation& simulation, std::uint32_t number, std::uint32_t seed)
    : simulation_(simulation),
      number_(number),
      random_(seed * 7919 + number),
      recorded_(number, simulation.machine().ranks + simulation.machine().partner_ranks,
                {is_partner(), is_partner() ? simulation.machine().ranks : 0, size()}, simulation.machine().sampling,
                number / simulation.machine().ranks_per_host, simulation.machine().suffix) {}

bool Rank::is_partner() const { return number_ >= simulation_.machine().ranks; }
std::uint32_t Rank::rank() const { return is_partner() ? number_ - simulation_.machine().ranks : number_; }
std::uint32_t Rank::size() const {
  return is_partner() ? simulation_.machine().partner_ranks : simulation_.machine().ranks;
}
std::uint32_t Rank::communicator(std::uint32_t comm) const {
  return comm != 0 || simulation_.machine().partner_ranks == 0 ? comm : is_partner() ? 2 : 1;
}
double Rank::now() const { return simulation_.now(); }

void Rank::resume_at(double time) {
  simulation_.at(time, [this] { std::exchange(suspended_, {}).resume(); });
}

double Rank::latency_to(std::uint32_t other) const {
  const Machine& machine = simulation_.machine();
  return number_ / machine.ranks_per_host == other / machine.ranks_per_host ? machine.latency : machine.far_latency;
}

double Rank::bandwidth_to(std::uint32_t other) const {
  const Machine& machine = simulation_.machine();
  const bool near = number_ / machine.ranks_per_host == other / machine.ranks_per_host;
  const double bandwidth = near ? machine.bandwidth : machine.far_bandwidth;
  return recorded_.uses_short_runs() ? std::min(bandwidth, machine.piecewise) : bandwidth;
}

double Rank::time_of(double seconds) {
  const Machine& machine = simulation_.machine();
  const double noise = std::normal_distribution<>(0, machine.noise)(random_);
  return seconds * std::max(0.2, 1 + noise) * (machine.slowness ? machine.slowness(number_) : 1);
}

double Rank::preemption() {
  const double mean = simulation_.machine().preemption;
  if (mean == 0 || now() < next_preemption_) return 0;
  const double seconds = next_preemption_ == 0 ? 0 : 1e-3 + 2e-3 * random();
  next_preemption_ = now() + seconds + 2 * mean * random();
  recorded_.preempt(seconds);
  return seconds;
}

Rank::Done Rank::compute(Place place, double seconds, double kernel_share) {
  return operation([=, this] {
    const double time = time_of(seconds), crowding = simulation_.machine().crowding;
    const double waits = crowding > 0 ? time * crowding * 2 * random() : 0;
    recorded_.wait_for_processor(waits);
    recorded_.compute(place, now() + waits, now() + waits + time, kernel_share);
    resume_at(now() + waits + time);
  });
}

Rank::Done Rank::compute_in_threads(Place place, double first, double second, double third, double fourth) {
  return operation([=, this] {
    const std::array seconds{first, second, third, fourth};
    double longest = 0, of_first = 0;
    for (std::uint32_t thread = 0; thread < seconds.size(); ++thread) {
      const double time = time_of(seconds[thread]);
      longest = std::max(longest, time);
      if (thread == 0) of_first = time;
      recorded_.compute_in_thread(thread, place, now(), now() + time);
    }
    recorded_.sleep(longest - of_first, instrument::SleepReason::kThread);
    resume_at(now() + longest);
  });
}

Rank::Done Rank::sleep(double seconds, instrument::SleepReason reason) {
  return operation([this, seconds, reason] {
    recorded_.sleep(seconds, reason);
    resume_at(now() + seconds);
  });
}

Rank::Done Rank::wait_for_processor(double seconds) {
  return operation([this, seconds] {
    recorded_.wait_for_processor(seconds);
    resume_at(now() + seconds);
  });
}

// ---- messages

void Rank::wait_until(std::vector<RequestPointer> requests, Wanted wanted, std::function<void(double)> then) {
  for (const RequestPointer& request : requests)
    if (request->awaited) std::exchange(request->awaited, {})(now());
  waiting_ = Waiting{std::move(requests), wanted, now() + simulation_.machine().call + preemption(), std::move(then)};
  simulation_.at(waiting_->earliest, [this] { check_waiting(); });
}

void Rank::check_waiting() {
  if (!waiting_ || now() < waiting_->earliest) return;
  const auto is_complete = [](const RequestPointer& request) { return request->complete; };
  const bool ends = waiting_->wanted == Wanted::kAny ? std::ranges::any_of(waiting_->requests, is_complete)
                                                     : std::ranges::all_of(waiting_->requests, is_complete);
  if (!ends) return;
  const Waiting ended = std::move(*waiting_);
  waiting_.reset();
  ended.then(now());
}

RequestPointer Rank::post_send(std::uint32_t to, std::uint64_t bytes, std::int32_t tag, bool blocks) {
  const Machine& machine = simulation_.machine();
  auto request = std::make_shared<Request>();
  request->bytes = bytes;
  const double size = static_cast<double>(bytes), ready = now() + machine.call;
  if (bytes <= machine.eager) {
    simulation_.at(ready + latency_to(to) + size / bandwidth_to(to), [this, to, bytes, tag] {
      simulation_.arrive(to, {number_, tag, bytes, nullptr, false});
    });
    simulation_.at(ready + size / machine.copying, [this, request] { simulation_.complete(request, number_); });
  } else {
    simulation_.at(ready + latency_to(to), [this, to, bytes, tag, request, blocks] {
      simulation_.arrive(to, {number_, tag, bytes, request, blocks});
    });
  }
  return request;
}

RequestPointer Rank::post_receive(std::int32_t from, std::int32_t tag) {
  auto request = std::make_shared<Request>();
  request->is_receive = true;
  request->source = from;
  request->tag = tag;
  auto& unexpected = simulation_.mailboxes_[number_].unexpected;
  const auto found = std::ranges::find_if(unexpected, [&](const Simulation::Message& message) {
    return (from == kAnySource || static_cast<std::uint32_t>(from) == message.source) &&
           (tag == kAnyTag || tag == message.tag);
  });
  if (found == unexpected.end()) {
    simulation_.mailboxes_[number_].posted.push_back(request);
  } else {
    const Simulation::Message message = *found;
    unexpected.erase(found);
    simulation_.match(number_, message, request);
  }
  return request;
}

Rank::Done Rank::send(Place place, std::uint32_t to, std::uint64_t bytes, std::int32_t tag) {
  return operation([this, place, to, bytes, tag] {
    const double begin = now();
    wait_until({post_send(to, bytes, tag, true)}, Wanted::kAll, [=, this](double end) {
      recorded_.call(place,
                     {FunctionId::kSend, Shape::kSend, begin, end, static_cast<std::int32_t>(to), tag, bytes, 0});
      resume_at(end);
    });
  });
}

void Rank::start_receive(Place place, std::int32_t from, std::int32_t tag, bool probes, std::function<void()> then) {
  const double begin = now();
  const RequestPointer request = post_receive(from, tag);
  wait_until({request}, Wanted::kAll, [=, this](double end) {
    last_source_ = request->source;
    last_tag_ = request->tag;
    double received = begin, ends = end;
    if (probes) {
      received = end;
      ends = end + simulation_.machine().call;
      recorded_.call(place,
                     {FunctionId::kProbe, Shape::kProbe, begin, end, request->source, request->tag, request->bytes, 0});
    }
    recorded_.call(
        place, {FunctionId::kRecv, Shape::kReceive, received, ends, request->source, request->tag, request->bytes, 0});
    then();
    resume_at(ends);
  });
}

Rank::Done Rank::recv(Place place, std::int32_t from, std::int32_t tag) {
  return operation([=, this] { start_receive(place, from, tag, false, [] {}); });
}

Rank::Done Rank::probe_and_recv(Place place, std::int32_t from, std::int32_t tag) {
  return operation([=, this] { start_receive(place, from, tag, true, [] {}); });
}

Rank::Operation<std::int32_t> Rank::recv_tag(Place place, std::int32_t from) {
  Operation<std::int32_t> made{*this, {}};
  made.start = [=, this, value = made.value] {
    start_receive(place, from, kAnyTag, false, [this, value] { *value = last_tag_; });
  };
  return made;
}

Rank::Operation<RequestPointer> Rank::isend(Place place, std::uint32_t to, std::uint64_t bytes, std::int32_t tag) {
  Operation<RequestPointer> made{*this, {}};
  made.start = [=, this, value = made.value] {
    const double begin = now(), end = begin + simulation_.machine().call;
    *value = post_send(to, bytes, tag, false);
    (*value)->started = recorded_.call(
        place, {FunctionId::kIsend, Shape::kSend, begin, end, static_cast<std::int32_t>(to), tag, bytes, 0});
    resume_at(end);
  };
  return made;
}

Rank::Operation<RequestPointer> Rank::irecv(Place place, std::int32_t from, std::uint64_t bytes, std::int32_t tag) {
  Operation<RequestPointer> made{*this, {}};
  made.start = [=, this, value = made.value] {
    const double begin = now(), end = begin + simulation_.machine().call;
    *value = post_receive(from, tag);
    (*value)->started =
        recorded_.call(place, {FunctionId::kIrecv, Shape::kPostReceive, begin, end, from, tag, bytes, 0});
    resume_at(end);
  };
  return made;
}

Rank::Done Rank::waitall(Place place, std::vector<RequestPointer> requests) {
  return operation([=, this] {
    const double begin = now();
    wait_until(requests, Wanted::kAll, [=, this](double end) {
      const bool is_one = requests.size() == 1;
      recorded_.call(place, {is_one ? FunctionId::kWait : FunctionId::kWaitall, Shape::kCompletes, begin, end, kNoPeer,
                             static_cast<std::int32_t>(requests.size()), 0, instrument::kNoComm});
      for (const RequestPointer& request : requests)
        recorded_.completion(request->started, request->is_receive ? request->source : kNoPeer, request->tag,
                             request->is_receive ? request->bytes : 0);
      resume_at(end);
    });
  });
}

Rank::Done Rank::wait(Place place, RequestPointer request) { return waitall(place, {std::move(request)}); }

Rank::Operation<std::size_t> Rank::waitany(Place place, std::vector<RequestPointer> requests) {
  Operation<std::size_t> made{*this, {}};
  made.start = [=, this, value = made.value] {
    const double begin = now();
    wait_until(requests, Wanted::kAny, [=, this](double end) {
      const auto found = std::ranges::find_if(requests, [](const auto& request) { return request->complete; });
      *value = static_cast<std::size_t>(found - requests.begin());
      last_source_ = (*found)->source;
      recorded_.call(place, {FunctionId::kWaitany, Shape::kCompletes, begin, end, kNoPeer, 1, 0, instrument::kNoComm});
      recorded_.completion((*found)->started, (*found)->is_receive ? (*found)->source : kNoPeer, (*found)->tag,
                           (*found)->is_receive ? (*found)->bytes : 0);
      resume_at(end);
    });
  };
  return made;
}

Rank::Operation<bool> Rank::test(Place place, RequestPointer request) {
  Operation<bool> made{*this, {}};
  made.start = [=, this, value = made.value] {
    const double begin = now(), end = begin + simulation_.machine().call;
    if (request->awaited) std::exchange(request->awaited, {})(begin);
    *value = request->complete;
    recorded_.call(place,
                   {FunctionId::kTest, Shape::kCompletes, begin, end, kNoPeer, *value ? 1 : 0, 0, instrument::kNoComm});
    if (*value)
      recorded_.completion(request->started, request->is_receive ? request->source : kNoPeer, request->tag,
                           request->is_receive ? request->bytes : 0);
    resume_at(end);
  };
  return made;
}

// ---- collectives

Rank::Done Rank::collective(Place place, FunctionId function, std::uint64_t sent, std::uint64_t received,
                            std::optional<std::uint32_t> root, bool to_root, std::uint32_t of) {
  const std::uint32_t comm = communicator(of);
  return operation([=, this] {
    const Machine& machine = simulation_.machine();
    const auto members = static_cast<std::uint32_t>(simulation_.members_[comm].size());
    const double begin = now();
    const double cost = machine.call + machine.latency * std::bit_width(members - 1) +
                        static_cast<double>(std::max(sent, received)) / bandwidth_to(number_);
    simulation_.join(comm, number_, root, to_root, cost, [=, this](double end) {
      recorded_.call(
          place, {function, root ? Shape::kRooted : Shape::kCollective, begin, end,
                  root ? static_cast<std::int32_t>(*root) : kNoPeer, static_cast<std::int32_t>(received), sent, comm});
      resume_at(end);
    });
  });
}

Rank::Done Rank::barrier(Place place, std::uint32_t comm) {
  return collective(place, FunctionId::kBarrier, 0, 0, std::nullopt, false, comm);
}
Rank::Done Rank::allreduce(Place place, std::uint64_t bytes, std::uint32_t comm) {
  return collective(place, FunctionId::kAllreduce, bytes, bytes, std::nullopt, false, comm);
}
Rank::Done Rank::alltoall(Place place, std::uint64_t bytes_to_each, std::uint32_t comm) {
  const std::uint64_t all = bytes_to_each * simulation_.members_[communicator(comm)].size();
  return collective(place, FunctionId::kAlltoall, all, all, std::nullopt, false, comm);
}
Rank::Done Rank::bcast(Place place, std::uint64_t bytes, std::uint32_t root, std::uint32_t comm) {
  const bool is_root = simulation_.members_[communicator(comm)][root] == number_;
  return collective(place, FunctionId::kBcast, is_root ? bytes : 0, is_root ? 0 : bytes, root, false, comm);
}
Rank::Done Rank::reduce(Place place, std::uint64_t bytes, std::uint32_t root, std::uint32_t comm) {
  const bool is_root = simulation_.members_[communicator(comm)][root] == number_;
  return collective(place, FunctionId::kReduce, bytes, is_root ? bytes : 0, root, true, comm);
}
Rank::Done Rank::gather(Place place, std::uint64_t bytes, std::uint32_t root, std::uint32_t comm) {
  const bool is_root = simulation_.members_[communicator(comm)][root] == number_;
  return collective(place, FunctionId::kGather, bytes,
                    is_root ? bytes * simulation_.members_[communicator(comm)].size() : 0, root, true, comm);
}

Rank::Done Rank::duplicate(Place place, double seconds) {
  return operation([=, this] {
    const double begin = now(), freeing = simulation_.machine().call;
    const std::uint32_t comm = communicator(0);
    simulation_.join(comm, number_, std::nullopt, false, seconds, [=, this](double end) {
      recorded_.call(place, {FunctionId::kComm_dup, Shape::kCollective, begin, end, kNoPeer, 0, 0, comm});
      recorded_.call(place, {FunctionId::kComm_free, Shape::kCollective, end, end + freeing});
      resume_at(end + freeing);
    });
  });
}

// ---- one-sided

Rank::Done Rank::lock_and_put(Place place, std::uint32_t target, std::uint64_t bytes, double hold) {
  return operation([=, this] {
    const double begin = now(), call = simulation_.machine().call;
    const double locked = std::max(begin + call, simulation_.free_locks_[target]);
    const double put = locked + call, unlocked = put + hold + static_cast<double>(bytes) / bandwidth_to(target);
    simulation_.free_locks_[target] = unlocked;
    const auto peer = static_cast<std::int32_t>(target);
    using instrument::WindowAct;
    recorded_.call(place, {FunctionId::kWin_lock, Shape::kWindow, begin, locked, peer,
                           instrument::window_tag(0, WindowAct::kExclusive), 0, 0});
    recorded_.call(place, {FunctionId::kPut, Shape::kPut, locked, put, peer,
                           instrument::window_tag(0, WindowAct::kNone), bytes, 0});
    recorded_.call(place, {FunctionId::kWin_unlock, Shape::kWindow, put, unlocked, peer,
                           instrument::window_tag(0, WindowAct::kNone), 0, 0});
    resume_at(unlocked);
  });
}

// ---- files

Rank::Done Rank::write_at(Place place, const std::string& file, std::uint64_t bytes) {
  return operation([=, this] {
    const Machine& machine = simulation_.machine();
    const double end = machine.call + machine.file_call + simulation_.move_to_disk(bytes);
    recorded_.mpi_file_call(place, FunctionId::kFile_write_at, file, now(), end, bytes);
    resume_at(end);
  });
}

Rank::Done Rank::write_at_all(Place place, const std::string& file, std::uint64_t bytes) {
  return operation([=, this] {
    const Machine& machine = simulation_.machine();
    const double begin = now(), all = static_cast<double>(bytes * machine.ranks);
    const double cost = machine.file_call + all / machine.disk_bandwidth;
    simulation_.join(communicator(0), number_, std::nullopt, false, cost, [=, this](double end) {
      recorded_.mpi_file_call(place, FunctionId::kFile_write_at_all, file, begin, end, bytes);
      resume_at(end);
    });
  });
}

Rank::Done Rank::file_call(Place place, PosixFunction function, const std::string& file, double seconds,
                           std::uint64_t bytes) {
  return operation([=, this] {
    const double end = seconds + simulation_.move_to_disk(bytes);
    recorded_.file_call(place, function, file, now(), end, bytes);
    resume_at(end);
  });
}

Rank::Done Rank::open(Place place, const std::string& file) {
  return file_call(place, PosixFunction::kOpen, file, 5 * simulation_.machine().file_call, 0);
}
Rank::Done Rank::close(Place place, const std::string& file) {
  return file_call(place, PosixFunction::kClose, file, simulation_.machine().file_call, 0);
}
Rank::Done Rank::read(Place place, const std::string& file, std::uint64_t bytes) {
  return file_call(place, PosixFunction::kRead, file, simulation_.machine().file_call, bytes);
}
Rank::Done Rank::write(Place place, const std::string& file, std::uint64_t bytes) {
  return file_call(place, PosixFunction::kWrite, file, simulation_.machine().file_call, bytes);
}

Rank::Done Rank::flush(Place place, const std::string& file) {
  return file_call(place, PosixFunction::kFflush, file, simulation_.machine().file_call, 0);
}
Rank::Done Rank::sync(Place place, const std::string& file, double seconds) {
  return file_call(place, PosixFunction::kFsync, file, seconds, 0);
}

// ---- the machine

Simulation::Simulation(const Machine& machine) : machine_(machine), mailboxes_(machine.ranks + machine.partner_ranks) {
  std::vector<std::uint32_t> all, programs[2];
  for (std::uint32_t rank = 0; rank < mailboxes_.size(); ++rank) {
    ranks_.push_back(std::make_unique<Rank>(*this, rank, machine.seed));
    all.push_back(rank);
    programs[rank < machine.ranks ? 0 : 1].push_back(rank);
  }
  (void)communicator(std::move(all));
  if (machine.partner_ranks == 0) return;
  for (auto& members : programs) (void)communicator(std::move(members));
}

Simulation::~Simulation() = default;

std::uint32_t Simulation::communicator(std::vector<std::uint32_t> members) {
  const auto number = static_cast<std::uint32_t>(members_.size());
  for (const auto& rank : ranks_) rank->recorded_.define_communicator(number, members);
  members_.push_back(std::move(members));
  return number;
}

void Simulation::at(double time, std::function<void()> happens) {
  events_.push({time, events_made_++, std::move(happens)});
}

double Simulation::move_to_disk(std::uint64_t bytes) {
  if (bytes == 0) return now_;
  free_disk_ = std::max(free_disk_, now_) + static_cast<double>(bytes) / machine_.disk_bandwidth;
  return std::max(free_disk_, now_ + static_cast<double>(bytes) / machine_.file_bandwidth);
}

void Simulation::arrive(std::uint32_t to, Message message) {
  auto& posted = mailboxes_[to].posted;
  const auto found = std::ranges::find_if(posted, [&](const RequestPointer& receive) {
    return (receive->source == kAnySource || static_cast<std::uint32_t>(receive->source) == message.source) &&
           (receive->tag == kAnyTag || receive->tag == message.tag);
  });
  if (found == posted.end()) {
    mailboxes_[to].unexpected.push_back(std::move(message));
    return;
  }
  const RequestPointer receive = *found;
  posted.erase(found);
  match(to, message, receive);
}

void Simulation::match(std::uint32_t to, const Message& message, const RequestPointer& receive) {
  receive->source = static_cast<std::int32_t>(message.source);
  receive->tag = message.tag;
  receive->bytes = message.bytes;
  const double size = static_cast<double>(message.bytes);
  if (message.send == nullptr) {
    at(now_ + size / machine_.copying, [this, receive, to] { complete(receive, to); });
    return;
  }
  const auto transfer = [this, to, receive, size, send = message.send, source = message.source](double begin) {
    const Rank& from = *ranks_[source];
    at(begin + from.latency_to(to) + size / from.bandwidth_to(to), [=, this] {
      complete(send, source);
      complete(receive, to);
    });
  };
  const auto& sender = *ranks_[message.source];
  const bool is_awaited =
      sender.waiting_ && std::ranges::find(sender.waiting_->requests, message.send) != sender.waiting_->requests.end();
  if (machine_.progress || message.sender_blocks || is_awaited) {
    transfer(now_);
  } else {
    message.send->awaited = transfer;
  }
}

void Simulation::complete(const RequestPointer& request, std::uint32_t owner) {
  request->complete = true;
  ranks_[owner]->check_waiting();
}

void Simulation::join(std::uint32_t comm, std::uint32_t rank, std::optional<std::uint32_t> root, bool to_root,
                      double cost, std::function<void(double)> end) {
  const std::vector<std::uint32_t>& members = members_[comm];
  const auto own = static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
  const auto key = std::pair(comm, joined_[{comm, rank}]++);
  Collective& collective = collectives_[key];
  collective.arrivals.resize(members.size());
  collective.ends.resize(members.size());
  collective.arrivals[own] = now_;
  collective.ends[own] = std::move(end);
  ++collective.arrived;
  const auto ends_at = [&](std::size_t member, double time) {
    if (!collective.ends[member]) return;
    at(time, [time, ends = std::exchange(collective.ends[member], {})] { ends(time); });
  };
  const bool all = collective.arrived == members.size();
  if (!root) {
    if (all)
      for (std::size_t i = 0; i < members.size(); ++i) ends_at(i, now_ + cost);
  } else if (to_root) {
    if (own != *root) ends_at(own, now_ + cost);
    if (all) ends_at(*root, now_ + machine_.latency + cost);
  } else if (const auto begun = collective.arrivals[*root]) {
    for (std::size_t i = 0; i < members.size(); ++i)
      ends_at(i, i == *root ? *begun + cost : std::max(now_, *begun + machine_.latency) + cost);
  }
  if (all) collectives_.erase(key);
}

Task Simulation::run_rank(Rank& rank, const Body& body) {
  co_await body(rank);
  rank.ended_ = now_;
}

double Simulation::run(const Body& body) {
  std::vector<Task> tasks;
  for (const auto& rank : ranks_) tasks.push_back(run_rank(*rank, body));
  for (const Task& task : tasks) at(0, [handle = task.handle()] { handle.resume(); });
  while (!events_.empty()) {
    const Event next = events_.top();
    events_.pop();
    now_ = next.time;
    next.happens();
  }
  if (!std::ranges::all_of(tasks, &Task::done)) throw std::runtime_error("the simulated program hangs");
  return now_;
}

reports::Run Simulation::analyze() {
  std::vector<knowledge_sources::Program> programs{{0, "program", machine_.ranks}};
  if (machine_.partner_ranks != 0) {
    const std::uint32_t all = machine_.ranks + machine_.partner_ranks;
    programs.push_back({1, "partner", machine_.partner_ranks});
    programs[0].place = {0, all};
    programs[1].place = {machine_.ranks, all};
  }
  replay::Session session(std::move(programs));
  std::vector<std::vector<replay::Pack>> packs;
  for (const auto& rank : ranks_) packs.push_back(rank->recorded_.finish(rank->ended_, machine_.processors_per_host));
  // Packs of one time come together, as from real ranks.
  bool more = true;
  for (std::size_t i = 0; more; ++i) {
    more = false;
    for (const auto& of_rank : packs) {
      if (i >= of_rank.size()) continue;
      session.submit(of_rank[i]);
      more = true;
    }
  }
  return session.finish();
}

}  // namespace ardoise::diagnosis
