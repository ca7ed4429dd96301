#include "tests/instrument/race_calls.hpp"

#include <algorithm>
#include <numeric>

namespace ardoise::instrument {
namespace {

MPI_Status status_of(const FakeMpi::Message& message) {
  MPI_Status status{};
  status.MPI_SOURCE = message.source;
  status.MPI_TAG = message.tag;
  return status;
}

void keep_said(std::string_view sentence) { said_of_races.emplace_back(sentence); }

}  // namespace

vmpi::Call RacingProgram::begin(vmpi::FunctionId function, std::size_t place) {
  vmpi::Call call{function};
  call.return_address = &kPlaces[place];
  changes = {};
  return call;
}

FakeMpi::Message RacingProgram::receive(int source, int tag, std::size_t place) {
  vmpi::Call call = begin(vmpi::FunctionId::kRecv, place);
  call.comm = fake_mpi.world;
  call.peer = source;
  call.tag = tag;
  enter(call);
  if (source == MPI_PROC_NULL) {
    after_(call);
    return {MPI_PROC_NULL, MPI_ANY_TAG};
  }
  const auto found =
      fake_mpi.find(changes.pins ? changes.source : source, changes.pins ? changes.tag : tag, fake_mpi.world);
  if (found == fake_mpi.arrived.end()) {
    ADD_FAILURE() << "MPI_Recv would wait for ever";
    return {};
  }
  const FakeMpi::Message message = *found;
  fake_mpi.arrived.erase(found);
  const MPI_Status status = status_of(message);
  call.statuses = &status;
  after_(call);
  return message;
}

void RacingProgram::fail_to_receive() {
  vmpi::Call call = begin(vmpi::FunctionId::kRecv);
  call.comm = fake_mpi.world;
  call.peer = MPI_ANY_SOURCE;
  enter(call);
  const MPI_Status status{};
  call.statuses = &status;
  call.result = MPI_ERR_TRUNCATE;
  after_(call);
}

bool RacingProgram::probe(int source, int tag, FakeMpi::Message* message) {
  vmpi::Call call = begin(vmpi::FunctionId::kIprobe);
  call.comm = fake_mpi.world;
  call.peer = source;
  call.tag = tag;
  enter(call);
  MPI_Status status{};
  while (!changes.skips) {
    const auto found =
        fake_mpi.find(changes.pins ? changes.source : source, changes.pins ? changes.tag : tag, fake_mpi.world);
    changes.flag = found != fake_mpi.arrived.end();
    if (changes.flag) {
      status = status_of(*found);
      if (message != nullptr) *message = *found;
    } else {
      fake_mpi.poll();
    }
    if (changes.flag || !changes.until_true) break;
    again_();
  }
  call.statuses = &status;
  after_(call);
  return changes.flag;
}

MPI_Request RacingProgram::post(int source, int tag) {
  vmpi::Call call = begin(vmpi::FunctionId::kIrecv);
  call.comm = fake_mpi.world;
  call.peer = source;
  call.tag = tag;
  enter(call);
  MPI_Request request = fake_mpi
                            .post(changes.pins ? changes.source : source, changes.pins ? changes.tag : tag,
                                  changes.comm != MPI_COMM_NULL ? changes.comm : fake_mpi.world)
                            .handle;
  call.requests = &request;
  call.request_count = 1;
  after_(call);
  return request;
}

MPI_Request RacingProgram::prepare(int source, int tag) {
  vmpi::Call call = begin(vmpi::FunctionId::kRecv_init);
  call.comm = fake_mpi.world;
  call.peer = source;
  call.tag = tag;
  changes.count = 1;
  changes.type = MPI_INT;
  enter(call);
  auto request = fake_handle<MPI_Request>(prepared_ += 0x10);
  call.requests = &request;
  call.request_count = 1;
  after_(call);
  return request;
}

void RacingProgram::start(MPI_Request request, int source, int tag) {
  vmpi::Call call = begin(vmpi::FunctionId::kStart);
  call.requests = &request;
  call.request_count = 1;
  enter(call);
  if (!changes.skips) {
    std::erase_if(fake_mpi.requests, [&](const FakeMpi::Request& each) { return each.handle == request; });
    fake_mpi.post(source, tag, fake_mpi.world).handle = request;
  }
  after_(call);
}

void RacingProgram::cancel(MPI_Request request) {
  vmpi::Call call = begin(vmpi::FunctionId::kCancel);
  call.requests = &request;
  call.request_count = 1;
  enter(call);
  after_(call);
}

void RacingProgram::free(MPI_Request request) {
  vmpi::Call call = begin(vmpi::FunctionId::kRequest_free);
  call.requests = &request;
  call.request_count = 1;
  enter(call);
  after_(call);
}

FakeMpi::Request* RacingProgram::behind(MPI_Request request) const {
  return fake_mpi.request(changes.substitute != nullptr ? changes.substitute(request) : request);
}

bool RacingProgram::test(MPI_Request& request, FakeMpi::Message* got) {
  MPI_Request before = request;
  vmpi::Call call = begin(vmpi::FunctionId::kTest);
  call.requests = &before;
  call.request_count = 1;
  enter(call);
  MPI_Status status{};
  while (!changes.skips) {
    const auto* const real = behind(request);
    changes.flag = real != nullptr && real->is_complete;
    if (changes.flag) {
      status = status_of(real->message);
      if (got != nullptr) *got = real->message;
      request = MPI_REQUEST_NULL;
    } else {
      fake_mpi.poll();
    }
    if (changes.flag || !changes.until_true) break;
    again_();
  }
  call.completed_count = changes.flag ? 1 : 0;
  call.statuses = &status;
  after_(call);
  return changes.flag;
}

FakeMpi::Message RacingProgram::wait(MPI_Request& request) {
  MPI_Request before = request;
  vmpi::Call call = begin(vmpi::FunctionId::kWait);
  call.requests = &before;
  call.request_count = 1;
  enter(call);
  const auto* const real = behind(request);
  EXPECT_TRUE(real != nullptr && (real->is_complete || fake_mpi.cancels)) << "MPI_Wait would wait for ever";
  const FakeMpi::Message message = real != nullptr ? real->message : FakeMpi::Message{};
  const MPI_Status status = status_of(message);
  call.completed_count = 1;
  call.statuses = &status;
  after_(call);
  request = MPI_REQUEST_NULL;
  return message;
}

std::vector<int> RacingProgram::visible(const std::vector<MPI_Request>& requests) const {
  std::vector<int> all(requests.size());
  std::iota(all.begin(), all.end(), 0);
  if (changes.kept != nullptr) all.assign(changes.kept, changes.kept + changes.kept_count);
  std::erase_if(all, [&](int i) { return requests[static_cast<std::size_t>(i)] == MPI_REQUEST_NULL; });
  return all;
}

int RacingProgram::any(vmpi::FunctionId function, std::vector<MPI_Request>& requests) {
  std::vector<MPI_Request> before = requests;
  vmpi::Call call = begin(function);
  call.requests = before.data();
  call.request_count = static_cast<int>(before.size());
  enter(call);
  const auto seen = visible(requests);
  int index = -1;
  MPI_Status status{};
  while (!changes.skips && !seen.empty()) {
    for (const int each : seen) {
      const auto* const real = behind(requests[static_cast<std::size_t>(each)]);
      if (index != -1 || real == nullptr || !real->is_complete) continue;
      index = each;
      status = status_of(real->message);
      requests[static_cast<std::size_t>(each)] = MPI_REQUEST_NULL;
    }
    if (index != -1 || !changes.until_true) break;
    fake_mpi.poll();
    again_();
  }
  changes.none_active = seen.empty() && !changes.skips;
  changes.flag = index != -1 || changes.none_active;
  call.completed_count = index != -1 ? 1 : 0;
  call.completed_indices = &index;
  call.statuses = &status;
  after_(call);
  return index;
}

std::vector<int> RacingProgram::test_some(std::vector<MPI_Request>& requests) {
  std::vector<MPI_Request> before = requests;
  vmpi::Call call = begin(vmpi::FunctionId::kTestsome);
  call.requests = before.data();
  call.request_count = static_cast<int>(before.size());
  enter(call);
  const auto seen = visible(requests);
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;
  for (const int each : seen) {
    const auto* const real = behind(requests[static_cast<std::size_t>(each)]);
    if (changes.skips || real == nullptr || !real->is_complete) continue;
    indices.push_back(each);
    statuses.push_back(status_of(real->message));
    requests[static_cast<std::size_t>(each)] = MPI_REQUEST_NULL;
  }
  changes.none_active = seen.empty() && !changes.skips;
  call.completed_count = static_cast<int>(indices.size());
  call.completed_indices = indices.data();
  call.statuses = statuses.data();
  after_(call);
  return indices;
}

void RaceCalls::record(const std::vector<Program>& threads, const std::function<void(RaceRecorder&)>& at_the_end) {
  std::filesystem::remove(path());
  RaceRecorder recorder(keep_said);
  RaceFileHeader header;
  header.ranks = FakeMpi::kRanks;
  header.rank = 1;
  ASSERT_EQ(recorder.writer.open(path(), header, "solver", "abc", "MPI"), "");
  for (const Program& thread : threads) {
    std::thread([&] {
      RacingProgram program(recorder);
      thread(program);
    }).join();
  }
  if (at_the_end) at_the_end(recorder);
  recorder.finish();
  read();
}

void RaceCalls::read() {
  std::ifstream file(path(), std::ios::binary);
  bytes_ = {std::istreambuf_iterator<char>(file), {}};
  file_ = std::make_unique<RaceFile>(std::as_bytes(std::span(bytes_)), std::nullopt);
  ASSERT_EQ(file_->error(), "");
}

RaceCalls::Values RaceCalls::recorded(std::uint32_t stream) {
  Values all;
  RaceStream read(*file_, stream);
  while (const RaceEntry* const entry = read.next()) all.push_back(entry->values);
  EXPECT_TRUE(read.is_sound());
  return all;
}

std::vector<RaceKey> RaceCalls::keys(std::uint32_t stream) {
  RaceStream read(*file_, stream);
  while (read.next() != nullptr) continue;
  return read.keys();
}

RaceEnd RaceCalls::end() { return file_->end().value_or(RaceEnd{UINT64_MAX, 0, 0, RaceEndReason::kDiskFailed, 0}); }

RaceForcer::Settings RaceCalls::settings() {
  RaceForcer::Settings made{};
  made.say = keep_said;
  made.rank = 1;
  made.ranks = FakeMpi::kRanks;
  made.world = fake_mpi.world;
  made.folder = made.output = folder_;
  return made;
}

std::unique_ptr<RaceForcer> RaceCalls::forcer(const RaceForcer::Settings& with) {
  read();
  return std::make_unique<RaceForcer>(with, std::make_unique<RaceFile>(std::as_bytes(std::span(bytes_)), std::nullopt));
}

void RaceCalls::force(const RaceForcer::Settings& with, const Program& thread) {
  const auto made = forcer(with);
  ASSERT_EQ(made->start(), "");
  std::thread([&] {
    RacingProgram program(*made);
    thread(program);
  }).join();
  made->finish();
}

}  // namespace ardoise::instrument
