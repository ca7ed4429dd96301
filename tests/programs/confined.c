// confined FOLDER... -- COMMAND: runs the command so that it can write below these folders only, and use no network, by
// Landlock and seccomp. Exits with 77 if the kernel lacks them.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kNotHere = 77, kWrong = 78 };

static const unsigned long long kWrites =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
    LANDLOCK_ACCESS_FS_MAKE_SYM;

static int allow(int rules, const char* path, unsigned long long access) {
  struct landlock_path_beneath_attr beneath = {access, open(path, O_PATH | O_CLOEXEC)};
  if (beneath.parent_fd < 0) return -1;
  const long result = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  close(beneath.parent_fd);
  return (int)result;
}

/* Sockets but for those on this machine fail with EACCES. */
static int refuse_network(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof code[0], code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int count, char** arguments) {
  const struct landlock_ruleset_attr handled = {.handled_access_fs = kWrites};
  const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  if (rules < 0) return kNotHere;
  int next = 1;
  for (; next < count && strcmp(arguments[next], "--") != 0; ++next) {
    if (allow(rules, arguments[next], kWrites) != 0) return kWrong;
  }
  if (next + 1 >= count || allow(rules, "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE) != 0) return kWrong;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_landlock_restrict_self, rules, 0) != 0 ||
      refuse_network() != 0)
    return kNotHere;
  execv(arguments[next + 1], arguments + next + 1);
  perror(arguments[next + 1]);
  return kWrong;
}
