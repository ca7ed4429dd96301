#include "instrument/process/session/session.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <exception>
#include <optional>
#include <utility>

#include "instrument/format/analyzer_partition.hpp"
#include "instrument/format/command_secrets.hpp"
#include "instrument/format/definition_writer.hpp"
#include "instrument/format/unsent_files.hpp"
#include "instrument/machine/clock.hpp"
#include "instrument/machine/own_folder.hpp"
#include "instrument/machine/shortest_batch.hpp"
#include "instrument/process/ending/last_moment.hpp"
#include "instrument/record/mpi_queries.hpp"
#include "instrument/sampling/observed_enter.hpp"
#include "vmpi/vmpi.h"

namespace ardoise::instrument {

constinit std::atomic<Session*> session = nullptr;
constinit std::atomic<const vmpi::Observer*> idle_observer = nullptr;

namespace {

// initial-exec: the thread-local memory of a preloaded library exists from the start of every thread, and costs one
// load.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadRecorder* current_thread = nullptr;
pthread_key_t thread_end_key = PTHREAD_KEYS_MAX;  // no key before Session::start()

void on_thread_end(void* thread_untyped) {
  auto* const thread = static_cast<ThreadRecorder*>(thread_untyped);
  thread->in_mpi.store(nullptr, std::memory_order_relaxed);
  thread->in_posix.store(nullptr, std::memory_order_relaxed);
  current_thread = nullptr;
  own_activity = nullptr;
  Session* const current = session.load(std::memory_order_acquire);
  if (current == nullptr) return;
  current->thread_ends(*thread);
}

constexpr double kMemorySeconds = 0.02;  // between two checks of the memory, initially

// Limits of the bins that resting threads may hold: each has one or two.
constexpr std::size_t kBinsForEachResting = 16, kMostResting = 16;

void say_sentence(std::string_view sentence) { say(sentence); }
void keep_silent(std::string_view) {}

std::string read_command_line() {
  const long descriptor = ::syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/cmdline", O_RDONLY | O_CLOEXEC);
  std::string text(kMaxStringBytes, '\0');
  const long got = descriptor < 0 ? 0 : ::syscall(SYS_read, descriptor, text.data(), text.size());
  if (descriptor >= 0) ::syscall(SYS_close, descriptor);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

void on_transport_failure() noexcept { switch_off("packs can no longer be sent or written; recording ends here."); }

// Measures the cost of a call's calling context beside its record. noinline: this frame stands for a wrapper's, its
// caller for the program's call.
[[gnu::noinline]] void calibrate(RecordingCost& cost, Sampler& sampling) {
  vmpi::Call call{vmpi::FunctionId::kBarrier};
  call.return_address = __builtin_return_address(0);
  const double before = shortest_batch([&] { ardoise_on_enter(call); });
  const ObservedFrame frame = std::exchange(observed_frame, {});
  const RecordTime record = measure_record();
  cost.calibrate(before, record.in_a_row + sampling.measure_call_cost(frame), record.timed - record.in_a_row);
}

// True in the first of the processes that send to one analyzer (round robin), which speaks for all.
bool is_first_of_its_analyzer() {
  int rank = 0;
  PMPI_Comm_rank(VMPI_Comm_partition(), &rank);
  const VMPI_Partition_desc* const analyzer = VMPI_Get_desc_by_name(kAnalyzerPartition);
  return analyzer != nullptr && rank < analyzer->size;
}

class NullTransport final : public Transport {
 public:
  [[nodiscard]] bool send(Bin*, std::size_t) override { return false; }
  [[nodiscard]] Bin* reclaim(bool) override { return nullptr; }
  [[nodiscard]] bool close() override { return true; }
};

}  // namespace

Session::Session(const Settings& settings, Route route, const PackIdentity& identity, const SynchronizedClock& clock,
                 const ClockSample& loaded, int thread_level, const SamplerSettings& sampler_settings)
    : has_call_stacks(settings.call_stacks && sampler_settings.mode != SampleMode::kOff),
      any_thread_calls_mpi(thread_level == MPI_THREAD_MULTIPLE),
      recorder(settings, *route.first(), identity, static_cast<std::uint64_t>(settings.flush_seconds * clock.rate),
               any_thread_calls_mpi),
      mpi(recorder, mpi_queries()),
      sampling(recorder, sampler_settings, clock.rate, identity.rank == 0 ? say_sentence : keep_silent),
      settings_(settings),
      route_(std::move(route)),
      clock_(clock),
      loaded_(loaded),
      thread_level_(thread_level),
      resting_(std::min(recorder.pool.bins() / kBinsForEachResting, kMostResting)) {}

bool Session::start(std::uint64_t init_begin, std::span<const std::uint32_t> threads) {
  if (!recorder.ready() || ::pthread_key_create(&thread_end_key, on_thread_end) != 0) return false;
  recorder.on_failure = on_transport_failure;
  recorder.requests.set_shared(find_shared_request());
  learn_completion();
  calibrate(recorder.cost, sampling);
  main_thread_ = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  usage_before_ = read_usage(main_thread_);
  watch.emplace(main_thread_);
  sleep_places.emplace(main_thread_);
  scheduled_before_ = watch->time();
  define_process(init_begin);
  define_clock(0, clock_.rate);
  host_memory_ = read_host_memory();
  recorder.memory.start(now(), clock_.rate, static_cast<std::uint64_t>(clock_.rate * kMemorySeconds));
  mpi.define(VMPI_Comm_partition());
  mpi.define(MPI_COMM_SELF);
  if (thread() == nullptr) return false;
  recorder.call_sites.learn_all();
  find_python();
  recorder.on_flush = [](ThreadRecorder&) {
    Session* const current = session.load(std::memory_order_acquire);
    if (current == nullptr) return;
    if (current_sampled != nullptr) current->sampling.flush(*current_sampled);
    current->retire_rested();
  };
  recorder.active.store(true, std::memory_order_release);
  if (sampling.start()) {
    (void)sampling.adopt_current(*thread());
    sampling.adopt_all_running(threads);
  }
  recorder.send_first();
  return true;
}

void Session::define_process(std::uint64_t init_begin) {
  int size = 0, universe_rank = 0;
  PMPI_Comm_size(VMPI_Comm_partition(), &size);
  PMPI_Comm_rank(VMPI_Comm_universe(), &universe_rank);
  const VMPI_Program_desc& own = own_program();
  const std::uint64_t begin = now();
  const ProcessDefinition process{static_cast<std::uint32_t>(size),
                                  static_cast<std::uint32_t>(universe_rank),
                                  static_cast<std::uint32_t>(::getpid()),
                                  static_cast<std::uint32_t>(thread_level_),
                                  begin,
                                  begin - init_begin,
                                  settings_.budget_bytes,
                                  static_cast<std::uint32_t>(own.first_rank),
                                  static_cast<std::uint32_t>(own.size)};
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::array<char, 4096> directory{};
  if (::getcwd(directory.data(), directory.size()) == nullptr) directory[0] = '\0';
  (void)recorder.definitions.add(process, std::string_view(own.name),
                                 std::string_view(without_secrets(read_command_line(), settings_.no_command)),
                                 std::string_view(host.data()), std::string_view(directory.data()));
}

void Session::find_python() {
  std::string why;
  python_ = python::Interpreter::find(recorder.definitions, why);
  if (!why.empty()) (void)recorder.definitions.add(NoticeDefinition{0, 0}, std::string_view(why));
  python::interpreter.store(python_.get(), std::memory_order_release);
}

void Session::define_clock(std::uint64_t end_tick, double rate) {
  ClockDefinition clock{clock_.tick, clock_.realtime_ns,   rate, clock_.offset_seconds, clock_.error_seconds,
                        end_tick,    recorder.cost.ticks()};
  if (end_tick != 0) {
    // The same line through time, at a later moment and with a better rate.
    clock.tick = end_tick;
    clock.realtime_ns += static_cast<std::uint64_t>(static_cast<double>(end_tick - clock_.tick) / rate * 1e9);
  }
  (void)recorder.definitions.add(clock, std::string_view(clock_name()), std::string_view(node_id()));
}

UsageDefinition Session::usage_at(ScheduledTime time, std::uint64_t process_cpu_ns) const noexcept {
  const auto since = [](std::uint64_t now, std::uint64_t before) { return now - std::min(now, before); };
  UsageDefinition usage{};
  usage.cpu_ns = since(time.cpu_ns, scheduled_before_.cpu_ns);
  usage.waiting_ns = since(since(time.waiting_ns, scheduled_before_.waiting_ns), watch->wrong_ns());
  usage.process_cpu_ns = since(process_cpu_ns, usage_before_.process_cpu_ns);
  usage.asleep_outside = watch->asleep(CallPlace::kOutside);
  usage.asleep_in_mpi = watch->asleep(CallPlace::kMpi);
  usage.asleep_in_io = watch->asleep(CallPlace::kIo);
  usage.asleep_for_thread = watch->asleep_outside_for(SleepReason::kThread);
  usage.asleep_for_time = watch->asleep_outside_for(SleepReason::kTime);
  usage.asleep_for_program = watch->asleep_outside_for(SleepReason::kProgram);
  usage.asleep_for_file_lock = watch->asleep_outside_for(SleepReason::kFileLock);
  return usage;
}

void Session::define_usage() {
  (void)watch->look(CallPlace::kOutside);
  const Usage now = read_usage(main_thread_);
  UsageDefinition usage = usage_at(watch->last(), now.process_cpu_ns);
  usage.cpu_ns = now.cpu_ns - usage_before_.cpu_ns;  // the kernel's other count lags behind
  // Threads of MPI that hardly run may have other processors than the one that works.
  const bool works_alone = usage.process_cpu_ns < usage.cpu_ns + usage.cpu_ns / 20;
  const Affinity affinity = read_affinity(works_alone ? main_thread_ : 0);
  usage.peak_memory_bytes = now.peak_memory_bytes;
  usage.children_cpu_ns = now.children_cpu_ns - usage_before_.children_cpu_ns;
  usage.processors = affinity.processors;
  usage.first_processor = affinity.first;
  usage.host_processors = affinity.of_host;
  if (const auto place = sleep_places->most()) {
    std::ranges::transform(place->callers, usage.sleep_sites.begin(), [this](std::uint64_t caller) {
      return caller == 0 ? kNoCallSite : site_for_record(recorder.call_sites.id_of(caller));
    });
    usage.sleep_site_looks = place->looks;
  }
  (void)recorder.definitions.add(usage);
}

// All threads stop recording first, then their data is taken.
void Session::finish() {
  if (current_thread != nullptr) recorder.end_left_call(*current_thread);
  (void)recorder.stop();
  sampling.stop();
  const ClockSample end = sample_clocks();
  sampling.finish(end.tick);
  define_clock(end.tick, ticks_per_second(loaded_, end));
  define_usage();
  recorder.accesses.define(recorder.definitions);
  const auto points = recorder.memory.finish(end.tick);
  (void)recorder.definitions.add(MemoryDefinition{static_cast<std::uint32_t>(points.size()), 0, host_memory_.total,
                                                  host_memory_.available, host_memory_.limit},
                                 points);
  const bool all_taken = recorder.finish(end.tick);
  if (recorder.sender.failed()) on_transport_failure();
  if (!all_taken && is_first_of_its_analyzer()) {
    say(
        fmt::format("the analyzer took nothing for {} s (--finalize-timeout): the remaining records are missing in the "
                    "report, and the program goes on.",
                    settings_.finalize_seconds));
  }
}

void Session::write_unsent(const std::string& folder, const std::string& name, int wait_status) noexcept {
  current_thread = nullptr;
  own_activity = nullptr;
  recorder.force_unlock();
  sampling.force_unlock();
  const ClockSample now_seen = sample_clocks();
  // After exec() the new program's end is another one.
  const std::uint64_t end = end_note.cause == EndCause::kExec ? end_note.tick : now_seen.tick;
  define_last_moment(*this, end_note, wait_status, end);
  sampling.finish(end);
  define_clock(end, ticks_per_second(loaded_, now_seen));
  if (watch->last().cpu_ns != 0) (void)recorder.definitions.add(usage_at(watch->last(), 0));
  recorder.accesses.define(recorder.definitions);
  const std::vector<Bin*> packs = recorder.take_unsent(end);
  const std::string beside = name + kUnfinishedSuffix;
  const OwnFolder own(folder.c_str());
  CaptureTransport file(own.replace(beside.c_str(), 0600), nullptr);
  for (Bin* const pack : packs) {
    if (!file.send(pack, sizeof(PackHeader) + pack->header.payload_bytes) || !file.ready()) break;
  }
  const bool is_whole = file.ready();
  (void)file.close();
  if (is_whole) {
    own.rename(beside.c_str(), name.c_str());
  } else {
    own.remove(beside.c_str());
  }
}

ThreadRecorder* Session::known_thread() noexcept {
  if (current_thread != nullptr) [[likely]]
    return current_thread;
  // It may have been adopted while it ended, and sampled until now.
  const SampledThread* const sampled = current_sampled != nullptr ? current_sampled : sampling.attach();
  return sampled != nullptr ? sampled->recorder : nullptr;
}

ThreadRecorder* Session::thread() {
  if (current_thread != nullptr) [[likely]]
    return current_thread;
  const SampledThread* const sampled = current_sampled != nullptr ? current_sampled : sampling.attach();
  const std::optional<RestingThread> rested = sampled == nullptr ? resting_.take() : std::nullopt;
  ThreadRecorder* const made = sampled != nullptr ? sampled->recorder
                               : rested           ? rested->recorder
                                                  : recorder.threads.adopt(now());
  if (made == nullptr) return nullptr;
  current_thread = made;
  own_activity = &made->activity;
  made->in_posix.store(&observed_posix, std::memory_order_relaxed);
  made->in_mpi.store(&observed_frame, std::memory_order_relaxed);
  // Set even if the key fails: its bins then wait for the end of the process.
  ::pthread_setspecific(thread_end_key, made);
  if (SampledThread* const left = rested ? rested->sampled : nullptr) {
    sampling.resume(*left);
  } else {
    sampling.adopt_current(*made);
  }
  return made;
}

void Session::thread_ends(ThreadRecorder& thread) {
  SampledThread* sampled = nullptr;
  {
    const ActivityScope scope(thread.activity, Activity::kRecording, recorder.active);
    if (!scope.entered()) return;
    sampled = sampling.leave_current();
    thread.rest();
  }
  const RestingThread rests{&thread, sampled, now()};
  if (!resting_.put(rests)) retire(rests);
}

// Submits all data of the thread. Only the caller has it.
void Session::retire(const RestingThread& thread) {
  {
    const ActivityScope scope(thread.recorder->activity, Activity::kRecording, recorder.active);
    if (!scope.entered()) return;
    if (thread.sampled != nullptr) sampling.retire(*thread.sampled);
    recorder.record_queries(*thread.recorder, now());
    thread.recorder->flush();
  }
  recorder.threads.retire(thread.recorder);
}

// Retires threads without a successor for so long that the analyzer should get their data.
void Session::retire_rested() {
  const std::uint64_t old = now() - static_cast<std::uint64_t>(settings_.flush_seconds * clock_.rate);
  while (const std::optional<RestingThread> thread = resting_.take_old(old)) retire(*thread);
}

void Session::thread_began() noexcept {
  try {
    (void)thread();
  } catch (const std::exception&) {
    switch_off("no memory for a new thread; recording ends here.");
  }
}

ThreadRecorder* recording_thread() noexcept { return current_thread; }

const VMPI_Program_desc& own_program() noexcept {
  int rank = 0;
  PMPI_Comm_rank(VMPI_Comm_partition(), &rank);
  const VMPI_Program_desc* program = VMPI_Get_program_by_id(0);
  for (int id = 0; id < VMPI_Get_program_count(); ++id) {
    program = VMPI_Get_program_by_id(id);
    if (program->partition == VMPI_Get_partition_id() && rank - program->first_rank < program->size) break;
  }
  return *program;
}

RecordTime measure_record() {
  Settings settings;
  settings.budget_bytes = 2 * settings.bin_bytes;
  NullTransport nowhere;
  const auto scratch = std::make_unique<Recorder>(settings, nowhere, PackIdentity{}, std::uint64_t{1} << 62, false);
  MpiRecorder mpi(*scratch, mpi_queries());
  ThreadRecorder* const thread = scratch->threads.adopt(now());
  if (!scratch->ready() || thread == nullptr) return {};
  vmpi::Call call{vmpi::FunctionId::kBarrier};
  call.return_address = reinterpret_cast<const void*>(&measure_record);
  const double in_a_row = shortest_batch([&] { mpi.record(*thread, call, now()); });
  constexpr int kTimed = 200;
  std::array<std::uint64_t, kTimed> each{};
  for (std::uint64_t& ticks : each) {
    const std::uint64_t end = now_in_order();
    mpi.record(*thread, call, end);
    ticks = now_in_order() - end;
  }
  std::nth_element(each.begin(), each.begin() + kTimed / 2, each.end());
  return {in_a_row, static_cast<double>(each[kTimed / 2])};
}

void say(std::string_view sentence) noexcept {
  // Written in one call, so that lines of different ranks do not mix.
  std::array<char, 4096> line{};
  const int saved = errno;
  const auto length = fmt::format_to_n(line.data(), line.size() - 1, "ardoise: {}", sentence).size;
  const std::size_t end = std::min(length, line.size() - 1);
  // Names of programs may contain any character.
  std::replace_if(
      line.begin(), line.begin() + static_cast<std::ptrdiff_t>(end),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; }, '?');
  line[end] = '\n';
  (void)::syscall(SYS_write, 2, line.data(), end + 1);
  errno = saved;
}

void switch_off(std::string_view why) noexcept {
  vmpi::observer.store(idle_observer.load(std::memory_order_acquire), std::memory_order_release);
  Session* const current = session.exchange(nullptr, std::memory_order_acq_rel);
  if (current != nullptr) {
    current->recorder.active.store(false, std::memory_order_release);
    current->sampling.stop();
  }
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  if (!said.test_and_set(std::memory_order_relaxed)) say(why);
}

}  // namespace ardoise::instrument
