// All situations that are hard for samplers, in several threads at once, for so many seconds (argument). Every thread
// checks its own results; at the end one line has the number of errors. Exits 77 if MPI has no
// MPI_THREAD_MULTIPLE.
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace {

std::atomic<long> faults{0};
std::atomic<bool> stop{false};

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      ++faults;                                                                             \
      std::fprintf(stderr, "wrong: %s (line %d, errno %d)\n", #condition, __LINE__, errno); \
    }                                                                                       \
  } while (0)

[[gnu::noinline]] long burn(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    sum += i ^ (sum >> 3);
    asm volatile("" : "+r"(sum));
  }
  return sum;
}

// ---- allocation, exceptions, jumps

[[gnu::noinline]] void throw_at(int depth) {
  std::string text(static_cast<std::size_t>(depth) + 20, 'x');
  if (depth == 0) throw std::runtime_error(text);
  throw_at(depth - 1);
  asm volatile("" ::: "memory");
}

void allocate() {
  std::map<int, std::string> words;
  for (int i = 0; i < 300; ++i) words[i * 7919 % 1009] = std::to_string(i);
  CHECK(words.size() == 300);
  std::vector<char*> blocks;
  for (std::size_t i = 1; i < 200; ++i) {
    blocks.push_back(static_cast<char*>(std::malloc(i * 97)));
    std::memset(blocks.back(), static_cast<int>(i), i * 97);
  }
  for (std::size_t i = 1; i < 200; ++i) {
    CHECK(blocks[i - 1][i * 97 - 1] == static_cast<char>(i));
    std::free(blocks[i - 1]);
  }
}

void throw_and_catch() {
  int caught = 0;
  for (int depth = 0; depth < 20; ++depth) {
    try {
      throw_at(depth);
    } catch (const std::exception& fault) {
      caught += static_cast<int>(std::strlen(fault.what())) >= 20 ? 1 : 0;
    }
  }
  CHECK(caught == 20);
}

[[gnu::noinline]] int jump_from(std::jmp_buf& back, int depth) {
  volatile char room[256];
  room[0] = static_cast<char>(depth);
  if (depth == 0) std::longjmp(back, 42);
  const int below = depth > 0 ? jump_from(back, depth - 1) : 0;
  return below + room[0];
}

void jump() {
  for (int i = 0; i < 50; ++i) {
    std::jmp_buf back;
    const int came = setjmp(back);
    if (came == 0) (void)jump_from(back, 20);
    CHECK(came == 42);
  }
}

// ---- I/O

ssize_t jump_out(void* back_untyped, char*, std::size_t) { std::longjmp(*static_cast<std::jmp_buf*>(back_untyped), 7); }

[[gnu::noinline]] bool reads_until_jump(std::FILE* stream, std::jmp_buf& back) {
  char bytes[16];
  const int came = setjmp(back);
  if (came == 0) (void)::fread_unlocked(bytes, 1, sizeof(bytes), stream);
  return came == 7;
}

// Calls that are left by a jump.
void leave_reads() {
  for (int i = 0; i < 20; ++i) {
    std::jmp_buf back;
    cookie_io_functions_t functions{};
    functions.read = jump_out;
    std::FILE* const stream = ::fopencookie(&back, "r", functions);
    CHECK(stream != nullptr);
    if (stream == nullptr) return;
    std::setvbuf(stream, nullptr, _IONBF, 0);
    ::__fsetlocking(stream, FSETLOCKING_BYCALLER);
    CHECK(reads_until_jump(stream, back));
    std::fclose(stream);
  }
}

void write_and_read() {
  int ends[2];
  CHECK(::pipe(ends) == 0);
  char bytes[512] = {};
  for (int i = 0; i < 100; ++i) {
    CHECK(::write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes));
    CHECK(::read(ends[0], bytes, sizeof(bytes)) == sizeof(bytes));
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);

// ---- modules

void load_and_unload() {
  const std::string path = std::string(std::getenv("PROGRAM_DIRECTORY")) + "/libtorture_plugin.so";
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr);
  if (library == nullptr) return;
  auto* const work = reinterpret_cast<long (*)(long)>(::dlsym(library, "torture_plugin"));
  CHECK(work(70'000) == 210'000);
  CHECK(::dlclose(library) == 0);
}

// ---- signals of the program's own

pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
std::atomic<long> handled{0};
thread_local long handled_here = 0;

// Takes a lock in a handler; code that holds it outside a handler blocks the signal.
void on_usr1(int) {
  const int saved = errno;
  pthread_mutex_lock(&handler_lock);
  handled_here = handled_here + 1;
  ++handled;
  burn(3000);
  CHECK(::write(nowhere, &saved, sizeof(saved)) == sizeof(saved));
  pthread_mutex_unlock(&handler_lock);
  errno = saved;
}

void use_signals() {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  for (int i = 0; i < 20; ++i) {
    const long seen = handled_here;
    pthread_kill(pthread_self(), SIGUSR1);
    CHECK(handled_here == seen + 1);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    pthread_mutex_lock(&handler_lock);
    burn(1000);
    pthread_mutex_unlock(&handler_lock);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

// Blocks all signals, checks the mask, waits for one signal of a full set.
void use_full_masks() {
  sigset_t all, before, now;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  for (int number = 1; number < 32; ++number) {
    if (number != SIGKILL && number != SIGSTOP) CHECK(sigismember(&now, number) == 1);
  }
  for (int i = 0; i < 10; ++i) {
    burn(20'000);
    pthread_kill(pthread_self(), SIGUSR2);
    int number = 0;
    CHECK(sigwait(&all, &number) == 0);
    CHECK(number == SIGUSR2);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void use_alternate_stack() {
  std::vector<char> stack(65536);
  stack_t own{}, before{}, now{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  CHECK(sigaltstack(&own, &before) == 0);
  for (int i = 0; i < 20; ++i) {
    const long seen = handled_here;
    pthread_kill(pthread_self(), SIGWINCH);
    CHECK(handled_here == seen + 1);
  }
  CHECK(sigaltstack(nullptr, &now) == 0);
  CHECK(now.ss_sp == own.ss_sp);
  before.ss_flags = SS_DISABLE;
  CHECK(sigaltstack(&before, nullptr) == 0);
}

void switch_stacks() {
  static thread_local ucontext_t here, there;
  static thread_local long result;
  std::vector<char> stack(65536);
  getcontext(&there);
  there.uc_stack.ss_sp = stack.data();
  there.uc_stack.ss_size = stack.size();
  there.uc_link = &here;
  makecontext(&there, reinterpret_cast<void (*)()>(+[] { result = burn(50'000); }), 0);
  result = 0;
  swapcontext(&here, &there);
  CHECK(result == burn(50'000));
}

// ---- calls that signals interrupt

// SIGCHLD, which this program ignores, would make the kernel restart a wait: a documented limit of sampling.
void wait_in_system_calls() {
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &child, &before);
  timespec short_time{0, 300'000};
  CHECK(nanosleep(&short_time, nullptr) == 0);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, nullptr) == 0);
  CHECK(usleep(200) == 0);
  CHECK(poll(nullptr, 0, 1) == 0);
  timeval time{0, 300};
  CHECK(select(0, nullptr, nullptr, nullptr, &time) == 0);
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += 300'000;
  if (deadline.tv_nsec >= 1'000'000'000) ++deadline.tv_sec, deadline.tv_nsec -= 1'000'000'000;
  errno = 0;
  CHECK(sem_timedwait(&semaphore, &deadline) == -1 && errno == ETIMEDOUT);
  sem_destroy(&semaphore);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  burn(30'000);
}

// ---- processes

void fork_and_spawn() {
  const pid_t child = fork();
  if (child == 0) {
    const long sum = burn(200'000);
    _exit(sum == burn(200'000) ? 23 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR) ++faults;
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 23);
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  pid_t spawned = 0;
  CHECK(posix_spawn(&spawned, program, nullptr, nullptr, arguments, environ) == 0);
  CHECK(waitpid(spawned, &status, 0) == spawned);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// ---- threads that come and go, with little stack, cancelled, left by pthread_exit

void* small_work(void*) {
  burn(20'000);
  pthread_exit(reinterpret_cast<void*>(7));
}
void* endless_work(void*) {
  for (;;) {
    burn(1000);
    pthread_testcancel();
  }
}

void make_threads() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN));
  pthread_t threads[4];
  for (auto& thread : threads) CHECK(pthread_create(&thread, &attributes, small_work, nullptr) == 0);
  for (auto& thread : threads) {
    void* result = nullptr;
    CHECK(pthread_join(thread, &result) == 0 && result == reinterpret_cast<void*>(7));
  }
  pthread_attr_destroy(&attributes);
  pthread_t cancelled;
  CHECK(pthread_create(&cancelled, nullptr, endless_work, nullptr) == 0);
  usleep(500);
  pthread_cancel(cancelled);
  void* result = nullptr;
  CHECK(pthread_join(cancelled, &result) == 0 && result == PTHREAD_CANCELED);
}

// ---- MPI

void call_mpi(MPI_Comm comm) {
  for (int i = 0; i < 50; ++i) {
    int sent = i, received = -1;
    MPI_Request requests[2];
    MPI_Irecv(&received, 1, MPI_INT, 0, i, comm, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, 0, i, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(received == i);
    int sum = 0;
    MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == i);
  }
}

using Step = void (*)();

std::thread repeat(std::vector<Step> steps, std::atomic<long>& rounds) {
  return std::thread([steps = std::move(steps), &rounds] {
    while (!stop) {
      for (const Step step : steps) step();
      ++rounds;
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) return 77;
  struct sigaction action {};
  action.sa_handler = on_usr1;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  sigaction(SIGWINCH, &action, nullptr);

  MPI_Comm comms[2];
  for (auto& comm : comms) MPI_Comm_dup(MPI_COMM_SELF, &comm);
  std::atomic<long> rounds[6] = {};
  std::vector<std::thread> threads;
  threads.push_back(repeat({leave_reads, allocate, throw_and_catch, jump}, rounds[0]));
  threads.push_back(repeat({load_and_unload, throw_and_catch}, rounds[1]));
  threads.push_back(repeat({use_signals, use_alternate_stack, write_and_read, switch_stacks, jump}, rounds[2]));
  threads.push_back(repeat({use_full_masks, wait_in_system_calls}, rounds[3]));
  threads.push_back(repeat({fork_and_spawn, make_threads, allocate}, rounds[4]));
  threads.push_back(std::thread([&] {
    while (!stop) call_mpi(comms[0]), ++rounds[5];
  }));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    call_mpi(comms[1]);
    burn(100'000);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  for (const auto& count : rounds) CHECK(count > 0);
  std::printf("torture: %ld wrong\n", faults.load());
  MPI_Finalize();
  return faults == 0 ? 0 : 1;
}
