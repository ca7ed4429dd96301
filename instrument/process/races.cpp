#include "instrument/process/races.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>

#include "instrument/format/analyzer_partition.hpp"
#include "instrument/format/race_file.hpp"
#include "instrument/format/unsent_files.hpp"
#include "instrument/machine/modules.hpp"
#include "instrument/process/session/session.hpp"
#include "instrument/races/race_forcer.hpp"
#include "instrument/races/race_recorder.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/wrappers/call_control.hpp"

namespace ardoise::instrument {
namespace {

constexpr int kRefusedStatus = 2;

// Never destroyed: threads of the program may be inside until the very end.
std::atomic<RaceRecorder*> recorder = nullptr;
std::atomic<RaceForcer*> forcer = nullptr;
pthread_key_t race_thread_key;

void say_of_races(std::string_view sentence) { say(sentence); }

// Keeps exceptions from the wrappers and the program.
void guarded(auto&& work) noexcept {
  try {
    work();
  } catch (const std::exception& fault) {
    recorder.store(nullptr, std::memory_order_relaxed);
    static std::atomic_flag said = ATOMIC_FLAG_INIT;
    if (!said.test_and_set(std::memory_order_relaxed))
      say(fmt::format("races are no longer recorded or forced on this rank: {}.", fault.what()));
  }
}

void note_outcome(vmpi::Call& call, const vmpi::CallOverride& changes) noexcept {
  if (RaceRecorder* const current = recorder.load(std::memory_order_acquire)) {
    guarded([&] {
      if (::pthread_getspecific(race_thread_key) == nullptr) ::pthread_setspecific(race_thread_key, current);
      current->after(call, changes);
    });
  }
}
constexpr vmpi::CallControl kRecording{
    .before = [](vmpi::Call&, vmpi::CallOverride&) noexcept {}, .after = note_outcome, .again = []() noexcept {}};

constexpr vmpi::CallControl kForcing{.before =
                                         [](vmpi::Call& call, vmpi::CallOverride& changes) noexcept {
                                           if (RaceForcer* const current = forcer.load(std::memory_order_acquire))
                                             guarded([&] { current->before(call, changes); });
                                         },
                                     .after =
                                         [](vmpi::Call& call, const vmpi::CallOverride& changes) noexcept {
                                           if (RaceForcer* const current = forcer.load(std::memory_order_acquire))
                                             guarded([&] { current->after(call, changes); });
                                         },
                                     .again =
                                         []() noexcept {
                                           if (RaceForcer* const current = forcer.load(std::memory_order_acquire))
                                             guarded([&] { current->again(); });
                                         }};

struct Identity {
  int ranks = 0, rank = 0, partition = 0;
  std::string program, build_id, mpi_library;
};

Identity identify() {
  Identity own;
  PMPI_Comm_size(VMPI_Comm_partition(), &own.ranks);
  PMPI_Comm_rank(VMPI_Comm_partition(), &own.rank);
  own.partition = VMPI_Get_partition_id();
  own.program = own_program().name;
  if (const auto modules = describe_modules(); !modules.empty()) own.build_id = modules.front().build_id;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  own.mpi_library.assign(version.data(), static_cast<std::size_t>(length));
  own.mpi_library = own.mpi_library.substr(0, own.mpi_library.find_first_of(",\n"));
  return own;
}

// The first rank with a sentence prints it. True: some rank did. Collective.
bool says_anyone(const Identity& own, const std::string& sentence) {
  const int mine = sentence.empty() ? own.ranks : own.rank;
  int first = 0;
  PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, VMPI_Comm_partition());
  if (first == own.rank) say(sentence);
  return first != own.ranks;
}

const vmpi::CallControl* start_recording(const RaceSettings& settings, const Identity& own, int thread_level) {
  auto* const made = new RaceRecorder(say_of_races);
  ::syscall(SYS_mkdirat, AT_FDCWD, settings.record.c_str(), 0700);  // it exists if the launcher created it
  RaceFileHeader header;
  header.ranks = static_cast<std::uint32_t>(own.ranks);
  header.rank = static_cast<std::uint32_t>(own.rank);
  header.partition = static_cast<std::uint32_t>(own.partition);
  header.thread_level = static_cast<std::uint32_t>(thread_level);
  const std::string error =
      made->writer.open(fmt::format("{}/{}", settings.record, race_file_name(header.partition, header.rank)), header,
                        own.program, own.build_id, own.mpi_library);
  if (says_anyone(own, error)) {
    if (own.rank == 0) say("races are not recorded; the program runs nevertheless.");
    return nullptr;
  }
  ::pthread_key_create(&race_thread_key, [](void*) {
    if (RaceRecorder* const current = recorder.load(std::memory_order_acquire))
      guarded([&] { current->thread_ends(); });
  });
  recorder.store(made, std::memory_order_release);
  return &kRecording;
}

// The whole file, for the life of the process. nullopt: it cannot be opened; errno says why. Empty: the same, or it is
// empty.
std::optional<std::span<const std::byte>> map_file(const std::string& path) {
  const long file = ::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::span<const std::byte> bytes;
  if (::fstat(static_cast<int>(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    const long address = ::syscall(SYS_mmap, nullptr, size, PROT_READ, MAP_PRIVATE, file, 0L);
    if (address != -1) bytes = {reinterpret_cast<const std::byte*>(address), size};
  } else {
    errno = ENODATA;
  }
  ::syscall(SYS_close, file);
  return bytes;
}

// "": the record belongs to this program.
std::string what_is_wrong(const RaceFile& file, const Identity& own, const std::string& path, int thread_level) {
  const auto header = file.header();
  if (const std::string fault = !file.error().empty() ? file.error() : file.fault_inside(); !fault.empty())
    return fmt::format("the record of races '{}' {}; record the program again.", path, fault);
  if (header.ranks != static_cast<std::uint32_t>(own.ranks))
    return fmt::format("the record of races '{}' is of {} ranks, and {} has {}; start it with as many.", path,
                       header.ranks, own.program, own.ranks);
  if (file.program() != own.program)
    return fmt::format("the record of races '{}' is of the program {}, and this is {}.", path, file.program(),
                       own.program);
  if (file.build_id() != own.build_id)
    return fmt::format(
        "the record of races '{}' is of another build of {}; record it again, or run the build that was "
        "recorded.",
        path, own.program);
  if (file.mpi_library() != own.mpi_library)
    return fmt::format("the record of races '{}' was made with {}, and this is {}; record it again.", path,
                       file.mpi_library(), own.mpi_library);
  if (header.thread_level != static_cast<std::uint32_t>(thread_level))
    return fmt::format("the record of races '{}' is of a run with another level of thread support.", path);
  return "";
}

// Prints the limits of the forced run once. Collective.
void say_limits(const RaceFile& file, const Identity& own) {
  const bool is_whole = file.end() && file.end()->why == RaceEndReason::kFinalized;
  constexpr unsigned kHasThreads = 1u << 31;
  const std::array<unsigned, 2> mine{(file.end() ? file.end()->seen : 0) | (file.last_stream() > 1 ? kHasThreads : 0),
                                     is_whole ? 0u : 1u};
  unsigned seen = 0, incomplete = 0;
  PMPI_Allreduce(&mine[0], &seen, 1, MPI_UNSIGNED, MPI_BOR, VMPI_Comm_partition());
  PMPI_Allreduce(&mine[1], &incomplete, 1, MPI_UNSIGNED, MPI_SUM, VMPI_Comm_partition());
  if (own.rank != 0) return;
  std::string limits;
  const auto add = [&](std::string_view limit) { limits += (limits.empty() ? "" : "; ") + std::string(limit); };
  if ((seen & kHasThreads) != 0) add("the order of calls of different threads");
  if ((seen & kSeenAccumulate) != 0) add("the order of one-sided accumulations");
  if ((seen & kSeenWindowTest) != 0) add("MPI_Win_test");
  if ((seen & kSeenPartArrived) != 0) add("MPI_Parrived");
  if ((seen & kSeenFreedReceive) != 0) add("the messages of receives that were freed by MPI_Request_free");
  if (!limits.empty()) say(fmt::format("not forced, since not in the record: {}.", limits));
  if (incomplete != 0) {
    say(fmt::format("the record of {} of {} rank{} ends before MPI_Finalize; races are forced up to there.", incomplete,
                    own.ranks, own.ranks == 1 ? "" : "s"));
  }
}

const vmpi::CallControl* start_forcing(const RaceSettings& settings, const Identity& own, int thread_level) {
  const std::string path =
      fmt::format("{}/{}", settings.force,
                  race_file_name(static_cast<std::uint32_t>(own.partition), static_cast<std::uint32_t>(own.rank)));
  const std::span<const std::byte> bytes = map_file(path).value_or(std::span<const std::byte>());
  std::string error;
  std::unique_ptr<RaceFile> file;
  if (bytes.empty()) {
    error = fmt::format("the record of races '{}' cannot be read: {}.", path, std::strerror(errno));
  } else {
    file = std::make_unique<RaceFile>(bytes, map_file(path + kRaceOpenEnd));
    error = what_is_wrong(*file, own, path, thread_level);
  }
  if (says_anyone(own, error)) PMPI_Abort(MPI_COMM_WORLD, kRefusedStatus);
  say_limits(*file, own);
  const VMPI_Partition_desc* const analyzer = VMPI_Get_desc_by_name(kAnalyzerPartition);
  const std::string output = analyzer != nullptr ? output_folder_of(analyzer->command) : "";
  auto* const made = new RaceForcer({say_of_races, own.partition, own.rank, own.ranks, VMPI_Comm_partition(),
                                     settings.stops_at_divergence, settings.patience_seconds, settings.force, output},
                                    std::move(file));
  if (const std::string clause = made->start();
      says_anyone(own, clause.empty() ? "" : fmt::format("the record of races '{}' {}.", path, clause)))
    PMPI_Abort(MPI_COMM_WORLD, kRefusedStatus);
  forcer.store(made, std::memory_order_release);
  return &kForcing;
}

}  // namespace

const vmpi::CallControl* start_races(const RaceSettings& settings, int thread_level) {
  if (settings.record.empty() && settings.force.empty()) return nullptr;
  const Identity own = identify();
  return !settings.force.empty() ? start_forcing(settings, own, thread_level)
                                 : start_recording(settings, own, thread_level);
}

void finish_races() {
  if (RaceRecorder* const current = recorder.exchange(nullptr, std::memory_order_acq_rel))
    guarded([&] { current->finish(); });
  if (RaceForcer* const current = forcer.exchange(nullptr, std::memory_order_acq_rel))
    guarded([&] { current->finish(); });
}

void forget_races() noexcept {
  recorder.store(nullptr, std::memory_order_relaxed);
  forcer.store(nullptr, std::memory_order_relaxed);
}

void note_for_races(vmpi::FunctionId function) noexcept {
  if (RaceRecorder* const current = recorder.load(std::memory_order_relaxed)) current->note(function);
}

}  // namespace ardoise::instrument
