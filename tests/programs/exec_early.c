/* Starts programs before any constructor of a library has run, in each way. Its status is 0 when all of them ran. */
#define _GNU_SOURCE
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kWays = 5 }; /* posix_spawn, posix_spawnp, vfork, fork, fork with a search of PATH */

static pid_t started(int way, char** environment) {
  char* arguments[] = {"sh", "-c", "exit 7", NULL};
  pid_t child = -1;
  if (way == 0) return posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environment) == 0 ? child : -1;
  if (way == 1) return posix_spawnp(&child, "sh", NULL, NULL, arguments, environment) == 0 ? child : -1;
  child = way == 2 ? vfork() : fork();
  if (child == 0) {
    if (way == 4) execvpe("sh", arguments, environment);
    execve("/bin/sh", arguments, environment);
    _exit(1);
  }
  return child;
}

static void start_all(int argc, char** argv, char** environment) {
  (void)argc;
  (void)argv;
  for (int way = 0; way < kWays; ++way) {
    int status = 0;
    const pid_t child = started(way, environment);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
      _exit(10 + way);
  }
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char**, char**) = start_all;

int main(void) { return 0; }
