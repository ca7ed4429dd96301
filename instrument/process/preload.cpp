// The entry points of the preload library: installs the observer when the library is loaded, starts the session when
// MPI is up and ends it before MPI_Finalize. All else follows from here: session.hpp, mpi_recorder.hpp.
#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "blackboard/threads/thread_barrier.hpp"
#include "instrument/format/analyzer_partition.hpp"
#include "instrument/format/process_states.hpp"
#include "instrument/format/unsent_files.hpp"
#include "instrument/machine/clock.hpp"
#include "instrument/machine/thread_tasks.hpp"
#include "instrument/process/ending/end_note.hpp"
#include "instrument/process/ending/fatal_signals.hpp"
#include "instrument/process/ending/left_call.hpp"
#include "instrument/process/ending/survivor.hpp"
#include "instrument/process/races.hpp"
#include "instrument/process/session/session.hpp"
#include "instrument/process/watch/control.hpp"
#include "instrument/process/watch/process_state_writer.hpp"
#include "instrument/process/watch/thread_state.hpp"
#include "instrument/sampling/observed_enter.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/world/window_files.hpp"
#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {
namespace {

ClockSample loaded_at;         // load time of the library, for the first calibration
std::uint64_t init_began = 0;  // tick at which MPI_Init was called
std::vector<std::uint32_t> threads_before_init;

void count_call(Session& current, const ThreadRecorder& thread) {
  if (current_sampled == nullptr || observed_frame.function == 0) return;
  current.sampling.count_call(*current_sampled, observed_frame, thread.call_sums);
}

// The call has no record if it is only counted.
[[gnu::noinline]] void record_with_context(Session& current, ThreadRecorder& thread, const vmpi::Call& call,
                                           std::uint64_t end) {
  const bool has_context = current_sampled != nullptr && observed_frame.function != 0;
  if (has_context) current.sampling.record_context(*current_sampled, observed_frame, call.begin, end);
  current.mpi.record(thread, call, end);
  if (has_context) thread.drop_context();
}

// The call counts as failed, so its bytes and peer are not recorded.
[[gnu::noinline, gnu::cold]] void record_left_call(Session& current, ThreadRecorder& thread) {
  const LeftCall left = std::exchange(left_call, {});
  vmpi::Call call{left.function};
  call.return_address = left.return_address;
  call.begin = left.begin;
  call.result = MPI_ERR_OTHER;
  current.mpi.miss_call();  // it may have been a collective, so later numbers are uncertain
  current.mpi.record(thread, call, left.end);
}

// Below MPI_THREAD_MULTIPLE another thread may be in MPI.
bool may_send_after(const Session& current, vmpi::FunctionId function) {
  return current.any_thread_calls_mpi || !vmpi::function_traits(function).comes_from_any_thread;
}

void record_exit(vmpi::Call& call, std::uint64_t end) noexcept {
  Session* const current = session.load(std::memory_order_acquire);
  if (current == nullptr) [[unlikely]]
    return;
  try {
    ThreadRecorder* const thread = current->thread();
    if (thread == nullptr) [[unlikely]] {
      current->mpi.miss_call();
      return current->recorder.lose_call(PackClass::kMpi);
    }
    const ActivityScope scope(thread->activity, Activity::kRecording, current->recorder.active);
    if (!scope.entered()) [[unlikely]] {
      if (!scope.refused()) return;
      // A signal handler interrupted this library, or left it by siglongjmp.
      current->mpi.miss_call();
      return current->recorder.count_only(*thread, static_cast<std::uint32_t>(call.function), end - call.begin);
    }
    const CostTimer timer(*thread, current->recorder.cost);
    thread->between_idups = call.function == vmpi::FunctionId::kComm_idup;
    thread->may_send = !thread->between_idups && may_send_after(*current, call.function);
    if (left_call.return_address != nullptr) [[unlikely]]
      record_left_call(*current, *thread);
    if (current->has_call_stacks) [[unlikely]] {
      record_with_context(*current, *thread, call, end);
    } else {
      current->mpi.record(*thread, call, end);
    }
    count_call(*current, *thread);
    current->recorder.after_event(*thread, end);
  } catch (const std::exception& fault) {
    switch_off(fmt::format("recording ends here: {}.", fault.what()));
  }
}

bool on_query(vmpi::FunctionId function, const void* caller) noexcept {
  Session* const current = session.load(std::memory_order_acquire);
  ThreadRecorder* const thread = recording_thread();
  if (current == nullptr || thread == nullptr) return false;  // the first call of a thread
  const ActivityScope scope(thread->activity, Activity::kRecording, current->recorder.active);
  return scope.entered() && thread->queries.count(caller, static_cast<std::uint32_t>(function));
}

void on_exit(vmpi::Call& call) noexcept {
  record_exit(call, now());
  observed_frame.function = 0;
}

// The survivor's access to the session. Never destroyed.
Session* measured_session = nullptr;
struct UnsentFile {
  std::string folder, name;
};
UnsentFile* unsent_file = nullptr;

ProcessStateWriter* state_writer = nullptr;  // never destroyed
Control* control = nullptr;                  // never destroyed

void write_unsent(int wait_status) noexcept {
  allocate_without_locks();
  measured_session->write_unsent(unsent_file->folder, unsent_file->name, wait_status);
  vmpi::remove_window_folder();
}

// Number of threads that MPI and this library have started. 0: unknown.
std::size_t count_helpers() {
  if (threads_before_init.empty()) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(running_tasks(), [](std::uint32_t task) {
    return std::ranges::find(threads_before_init, task) == threads_before_init.end();
  }));
}

// How the thread that called MPI_Init uses processors.
void watch_first_thread() noexcept {
  if (session.load(std::memory_order_acquire) != measured_session) return;
  measured_session->recorder.threads.for_each_owned([](const ThreadRecorder& thread) {
    if (thread.number() == 0 && measured_session->watch->look(ThreadState::place_of(thread)))
      measured_session->sleep_places->look();
  });
}

// A task of the survivor that is due less often than the survivor wakes up. Milliseconds.
struct Periodic {
  long period = 0, since = 0;

  bool is_due(long passed) noexcept {
    if ((since += passed) < period) return false;
    since = 0;
    return true;
  }
};

// Prepares the files for a launch with an output folder.
void prepare_survivor(Session& made, const PackIdentity& identity, const char* analyzer_command, double hang_seconds) {
  const std::string folder = output_folder_of(analyzer_command);
  if (folder.empty()) return;
  measured_session = &made;
  unsent_file = new UnsentFile{folder, unsent_file_name(identity.partition, identity.rank)};
  const double seconds = hang_seconds > 0 ? stall_seconds(hang_seconds) : 0;
  state_writer = new ProcessStateWriter(made, identity, folder, seconds, count_helpers());
  control = new Control(made, identity, own_program().name, folder);
  constexpr long kCheckMilliseconds = 500;
  static constexpr long kLookMilliseconds = 50;
  static Periodic states{seconds > 0 ? std::clamp(static_cast<long>(seconds * 500), 20L, kCheckMilliseconds)
                                     : kCheckMilliseconds},
      controls{control_check_milliseconds(folder)}, looks{kLookMilliseconds};
  static const long check_milliseconds = std::min({states.period, controls.period, looks.period});
  start_survivor({.after_death = write_unsent,
                  .check =
                      []() noexcept {
                        if (looks.is_due(check_milliseconds)) watch_first_thread();
                        if (controls.is_due(check_milliseconds)) control->check();
                        if (states.is_due(check_milliseconds)) state_writer->check();
                      },
                  .end_checks =
                      []() noexcept {
                        state_writer->remove_file();
                        control->finish();
                      },
                  .check_milliseconds = check_milliseconds});
  begin_end_notes();
  watch_fatal_signals();
  [[maybe_unused]] static const bool hears_of_exit =
      ::on_exit([](int status, void*) { note_exit(EndCause::kExit, status); }, nullptr) == 0;
}

void on_before_finalize() noexcept;

int rank_in_program() {
  int rank = 0;
  PMPI_Comm_rank(VMPI_Comm_partition(), &rank);
  return rank;
}

const vmpi::Observer* observer_with(bool arguments, const vmpi::CallControl* call_control);

// Controls calls if races are recorded or forced; calls are then reported even when nothing else needs them.
const vmpi::CallControl* call_control = nullptr;

void stop_observing() {
  vmpi::observer.store(idle_observer.load(std::memory_order_acquire), std::memory_order_release);
}

void control_races(const Settings& settings, int thread_level) {
  const VMPI_Partition_desc* const own = VMPI_Get_desc_by_id(VMPI_Get_partition_id());
  if (settings.disabled || own == nullptr || std::strcmp(own->name, kAnalyzerPartition) == 0) return;
  call_control =
      start_races({settings.record_races, settings.replay_races, settings.stops_at_divergence, settings.hang_seconds},
                  thread_level);
  if (call_control == nullptr) return;
  static const vmpi::Observer idle{.enter = [](vmpi::Call&) noexcept {},
                                   .exit = [](vmpi::Call& call) noexcept { note_for_races(call.function); },
                                   .after_init = [](int) noexcept {},
                                   .before_finalize = on_before_finalize,
                                   .control = call_control};
  idle_observer.store(&idle, std::memory_order_release);
}

void start_session(const Settings& settings, int thread_level) {
  const std::uint64_t init_end = now();
  const VMPI_Partition_desc* const own = VMPI_Get_desc_by_id(VMPI_Get_partition_id());
  if (settings.disabled || own == nullptr || std::strcmp(own->name, kAnalyzerPartition) == 0) return stop_observing();
  const int rank = rank_in_program();
  if (rank == 0 && !settings.complaint.empty()) say(settings.complaint);

  const VMPI_Partition_desc* const analyzer = VMPI_Get_desc_by_name(kAnalyzerPartition);
  if (analyzer == nullptr && settings.capture_directory.empty()) {
    stop_observing();
    if (rank == 0) say(fmt::format("no analyzer in this launch; {} runs unobserved.", own->name));
    return;
  }
  // Collective, so it comes before any step that may fail in a single process.
  const ClockSample sample = sample_clocks();
  const SynchronizedClock clock =
      synchronize_clocks(VMPI_Comm_partition(), sample, ticks_per_second(loaded_at, sample), init_end);

  Session::Route route;
  if (analyzer != nullptr) {
    route.stream = std::make_unique<StreamTransport>();
    if (const int code =
            route.stream->open(analyzer->id, settings.bin_bytes,
                               std::chrono::nanoseconds(static_cast<std::int64_t>(settings.finalize_seconds * 1e9)));
        code != VMPI_SUCCESS) {
      return switch_off(
          fmt::format("no stream to the analyzer ({}); {} runs unobserved.", VMPI_Error_string(code), own->name));
    }
  }
  if (!settings.capture_directory.empty()) {
    const std::string path = fmt::format("{}/{}.{}.packs", settings.capture_directory, own_program().name, rank);
    const long file = CaptureTransport::make_file(path);
    if (file >= 0) {
      route.capture = std::make_unique<CaptureTransport>(file, route.stream.get());
    } else {
      say(fmt::format("cannot write {}: {}.", path, std::strerror(static_cast<int>(-file))));
    }
  }
  if (route.first() == nullptr) return stop_observing();

  const PackIdentity identity{vmpi::kTableHash, static_cast<std::uint32_t>(own->id), static_cast<std::uint32_t>(rank),
                              clock.origin_tick, clock.rate};
  // Never destroyed: threads and exit handlers of the program may enter the hooks until the very end.
  const SamplerSettings sampler_settings =
      read_sampler_settings([](const char* name) -> const char* { return std::getenv(name); });
  if (rank == 0 && settings.call_stacks && sampler_settings.mode == SampleMode::kOff)
    say("the call stacks of calls are not recorded: they need sampling, and --sample is off.");
  auto* const made =
      new Session(settings, std::move(route), identity, clock, loaded_at, thread_level, sampler_settings);
  if (!made->start(init_began, threads_before_init))
    return switch_off("no memory to record into; the program runs unobserved.");
  ::pthread_atfork(nullptr, nullptr, [] {
    // A child has one thread and must not touch the parent's MPI.
    idle_observer.store(nullptr, std::memory_order_relaxed);
    forget_races();
    stop_observing();
    restore_fatal_signals();
    if (Session* const parents = session.exchange(nullptr, std::memory_order_acq_rel)) parents->sampling.abandon();
  });
  session.store(made, std::memory_order_release);
  vmpi::observer.store(observer_with(settings.arguments, call_control), std::memory_order_release);
  if (analyzer != nullptr) prepare_survivor(*made, identity, analyzer->command, settings.hang_seconds);
}

void on_before_init() noexcept {
  starts_mpi = true;
  init_began = now();
  blackboard::prepare_thread_barrier();
  try {
    threads_before_init = running_tasks();
  } catch (const std::bad_alloc&) {
    threads_before_init.clear();  // then only threads that call MPI or do I/O are sampled
  }
}

void on_after_init(int thread_level) noexcept {
  try {
    const Settings settings = read_settings([](const char* name) -> const char* { return std::getenv(name); });
    control_races(settings, thread_level);
    start_session(settings, thread_level);
  } catch (const std::exception& fault) {
    switch_off(fmt::format("recording could not start: {}.", fault.what()));
  }
  starts_mpi = false;
}

void on_before_finalize() noexcept {
  Session* const current = session.exchange(nullptr, std::memory_order_acq_rel);
  idle_observer.store(nullptr, std::memory_order_relaxed);
  stop_observing();
  finish_races();
  restore_fatal_signals();
  finish_end_notes();
  if (state_writer != nullptr) state_writer->finalizes_since.store(now(), std::memory_order_relaxed);
  if (current == nullptr) return;
  try {
    current->finish();
    dismiss_survivor();
  } catch (const std::exception& fault) {
    switch_off(fmt::format("the last records are lost: {}.", fault.what()));
  }
}

constexpr vmpi::Observer kObserver{ardoise_on_enter,   on_exit,        on_after_init,
                                   on_before_finalize, on_before_init, on_query};

void on_exit_with_races(vmpi::Call& call) noexcept {
  note_for_races(call.function);
  on_exit(call);
}

// The observer of all calls from now on.
const vmpi::Observer* observer_with(bool arguments, const vmpi::CallControl* by) {
  if (!arguments && by == nullptr) return &kObserver;
  static vmpi::Observer made;
  made = kObserver;
  made.wants_arguments = arguments;
  made.control = by;
  if (by != nullptr) made.exit = on_exit_with_races;
  return &made;
}

[[gnu::constructor]] void on_load() {
  loaded_at = sample_clocks();
  init_began = loaded_at.tick;
  vmpi::observer.store(&kObserver, std::memory_order_release);
}

}  // namespace

}  // namespace ardoise::instrument
