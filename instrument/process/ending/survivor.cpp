// Until the program has ended, the survivor uses no thread-local memory, including errno, since it belongs to the
// parent. So it uses direct system calls.
#include "instrument/process/ending/survivor.hpp"

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <string_view>

#if defined(__x86_64__) && defined(__LP64__)

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "instrument/machine/kernel_call.hpp"
#include "instrument/machine/mapped_memory.hpp"
#include "instrument/machine/process_stat.hpp"

#endif

namespace ardoise::instrument {
namespace {

constinit std::atomic<bool> is_wanted = false;

}  // namespace

void dismiss_survivor() noexcept { is_wanted.store(false, std::memory_order_release); }

#if defined(__x86_64__) && defined(__LP64__)

namespace {

constexpr std::size_t kStackBytes = std::size_t{512} << 10;
constexpr unsigned kPatienceSeconds = 10;  // limit for writing

struct Start {
  SurvivorTasks tasks;
  long program = 0;  // its process id, then the descriptor that signals its end
  std::byte* inner_stack = nullptr;
  std::array<char, 32> stat_path{};
};
constinit Start start;
// The process id of the survivor. The kernel sets it to 0 when the survivor releases the program's memory, shortly
// before its end.
constinit std::atomic<std::int32_t> survivor = 0;
constinit std::atomic<pid_t> owner = 0;  // the program's id: a forked child has this memory, but no survivor

// From /proc/<pid>/stat, after the process ended and before its parent waited for it; -1: it waited.
int status_of_zombie(const char* stat_path) noexcept {
  const ProcessStat stat = process_stat(stat_path);
  return stat.state == 'Z' ? stat.wait_status : -1;
}

// The status of an ended process: from /proc until its parent waits for it, then from the descriptor (Linux 6.15).
int wait_status_of(long descriptor) noexcept {
  if (const int status = status_of_zombie(start.stat_path.data()); status >= 0) return status;
  struct {
    std::uint64_t mask = std::uint64_t{1} << 3;  // PIDFD_INFO_EXIT
    std::uint64_t control_group = 0;
    std::uint32_t ids[11] = {};
    std::int32_t exit_code = -1;
  } information;
  constexpr long kGetInformation = 0xC0000000 | 64 << 16 | 0xFF << 8 | 11;  // PIDFD_GET_INFO of 64 bytes
  if (call_kernel(SYS_ioctl, descriptor, kGetInformation, argument(&information)) != 0) return -1;
  return (information.mask & std::uint64_t{1} << 3) != 0 ? information.exit_code : -1;
}

constexpr int kShareMemory = CLONE_VM | CLONE_UNTRACED;  // without a signal to the parent at its end

[[noreturn]] void end_quietly(int) noexcept {
  for (;;) call_kernel(SYS_exit_group, 0);
}

// The survivor handles none of the program's signals. A fault leaves no core, since older kernels would end the program
// for it.
void forget_handlers() noexcept {
  struct {
    void (*handler)(int) noexcept = end_quietly;
    unsigned long flags = 0x04000000;  // SA_RESTORER, which the kernel requires
    void* restorer = nullptr;
    std::uint64_t mask = 0;
  } const quiet;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGALRM})
    call_kernel(SYS_rt_sigaction, signal, argument(&quiet), 0, sizeof quiet.mask);
}

void close_descriptors(long but) noexcept {
  if (but > 0) call_kernel(SYS_close_range, 0, but - 1);
  if (call_kernel(SYS_close_range, but + 1, ~0u) == 0) return;
  for (long descriptor = 0; descriptor < 65'536; ++descriptor) {  // Linux before 5.9
    if (descriptor != but) call_kernel(SYS_close, descriptor);
  }
}

int survive(void*) noexcept {
  call_kernel(SYS_setsid);
  forget_handlers();
  const long program = start.program;
  close_descriptors(program);
  constexpr char kRoot[] = "/", kName[] = "ardoise";
  call_kernel(SYS_chdir, argument(kRoot));
  call_kernel(SYS_prctl, PR_SET_NAME, argument(kName));
  const rlimit no_core{0, 0};
  call_kernel(SYS_prlimit64, 0, RLIMIT_CORE, argument(&no_core));
  pollfd ended{static_cast<int>(program), POLLIN, 0};
  const long period = start.tasks.check != nullptr ? start.tasks.check_milliseconds : -1;
  for (long found = 0; (found = call_kernel(SYS_poll, argument(&ended), 1, period)) == 0 || found == -EINTR;) {
    if (found == 0) start.tasks.check();
  }
  if (start.tasks.check != nullptr) start.tasks.end_checks();
  if (ended.revents == 0 || !is_wanted.load(std::memory_order_acquire)) return 0;
  const int how = wait_status_of(program);
  const std::uint64_t alarm_only = std::uint64_t{1} << (SIGALRM - 1);
  call_kernel(SYS_rt_sigprocmask, SIG_UNBLOCK, argument(&alarm_only), 0, sizeof alarm_only);
  call_kernel(SYS_alarm, kPatienceSeconds);
  start.tasks.after_death(how);
  return 0;
}

// Ends at once, so that no process is the survivor's parent and would have to wait for it.
int let_go(void*) noexcept {
  // Runs while the program waits, which could otherwise end before the survivor starts.
  start.program = call_kernel(SYS_pidfd_open, start.program);
  if (start.program < 0) return 0;
  (void)::clone(survive, start.inner_stack + kStackBytes, kShareMemory | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
                nullptr, &survivor, nullptr, &survivor);
  return 0;
}

bool is_under_valgrind() noexcept {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "vgpreload") != nullptr;
}

}  // namespace

void start_survivor(const SurvivorTasks& tasks) noexcept {
  const pid_t program = ::getpid();
  if (is_wanted.load(std::memory_order_relaxed) || ::syscall(SYS_gettid) != program || is_under_valgrind()) return;
  auto* const stacks = static_cast<std::byte*>(map_memory(2 * kStackBytes));
  if (stacks == nullptr) return;
  start = {tasks, program, stacks + kStackBytes, {}};
  fmt::format_to_n(start.stat_path.data(), start.stat_path.size() - 1, "/proc/{}/stat", program);
  // Both children inherit the current mask: no handler of the program ever runs there.
  std::uint64_t before = 0;
  const std::uint64_t all = ~std::uint64_t{0};
  call_kernel(SYS_rt_sigprocmask, SIG_SETMASK, argument(&all), argument(&before), sizeof all);
  const int saved = errno;
  const int child = ::clone(let_go, stacks + kStackBytes, kShareMemory, nullptr);
  while (child > 0 && call_kernel(SYS_wait4, child, 0, __WALL) == -EINTR) continue;
  errno = saved;
  call_kernel(SYS_rt_sigprocmask, SIG_SETMASK, argument(&before), 0, sizeof before);
  owner.store(child > 0 ? program : 0, std::memory_order_relaxed);
  is_wanted.store(child > 0, std::memory_order_release);
}

void end_survivor() noexcept {
  if (call_kernel(SYS_getpid) != owner.load(std::memory_order_relaxed)) return;
  dismiss_survivor();
  const std::int32_t id = survivor.load();
  const long descriptor = id == 0 ? -1 : call_kernel(SYS_pidfd_open, id);
  if (descriptor < 0) return;
  // A survivor that still lives held the number all the time, so the descriptor is not of another process.
  if (survivor.load() == id && call_kernel(SYS_pidfd_send_signal, descriptor, SIGKILL) == 0) {
    pollfd ended{static_cast<int>(descriptor), POLLIN, 0};
    while (call_kernel(SYS_poll, argument(&ended), 1, -1) == -EINTR) continue;
  }
  call_kernel(SYS_close, descriptor);
}

#else

void start_survivor(const SurvivorTasks&) noexcept {}
void end_survivor() noexcept {}

#endif

}  // namespace ardoise::instrument
