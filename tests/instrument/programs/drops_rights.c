// Gives up rights in the way that its argument names. Fails if Ardoise's survivor, which shares its memory, still
// exists afterwards, or if a way that gives up nothing ends it.
#define _GNU_SOURCE
#include <dirent.h>
#include <grp.h>
#include <linux/capability.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kNobody = 65534 };

int capset(cap_user_header_t header, const cap_user_data_t data);

/* The process that runs this program under the name of the survivor; 0: none. */
static int find_survivor(void) {
  char own[4096] = "";
  if (readlink("/proc/self/exe", own, sizeof own - 1) < 0) exit(90);
  int found = 0;
  DIR* const processes = opendir("/proc");
  for (struct dirent* each; (each = readdir(processes)) != NULL;) {
    const int id = atoi(each->d_name);
    char path[64], name[32] = "", program[4096] = "";
    if (id == 0) continue;
    snprintf(path, sizeof path, "/proc/%d/exe", id);
    if (readlink(path, program, sizeof program - 1) < 0 || strcmp(program, own) != 0) continue;
    snprintf(path, sizeof path, "/proc/%d/comm", id);
    FILE* const file = fopen(path, "r");
    if (file != NULL && fscanf(file, "%31s", name) == 1 && strcmp(name, "ardoise") == 0) found = id;
    if (file != NULL) fclose(file);
  }
  closedir(processes);
  return found;
}

static int is_alive(int id) {
  char path[64], state = 'X';
  snprintf(path, sizeof path, "/proc/%d/stat", id);
  FILE* const file = fopen(path, "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%*d %*s %c", &state) != 1) state = 'X';
  fclose(file);
  return state != 'X' && state != 'Z';
}

static int in_child(void) {
  const pid_t child = fork();
  if (child == 0) _exit(setuid(kNobody) == 0 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const char* const way = count > 1 ? arguments[1] : "";
  int survivor = 0, waited = 0;
  while ((survivor = find_survivor()) == 0 && waited++ < 500) usleep(10000);
  const gid_t group = kNobody;
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  int failed = 0, stays = 0;
  if (strcmp(way, "setuid") == 0) failed = setuid(kNobody);
  else if (strcmp(way, "setresuid") == 0) failed = setresuid(kNobody, kNobody, kNobody);
  else if (strcmp(way, "seteuid") == 0) failed = seteuid(kNobody);
  else if (strcmp(way, "setgroups") == 0) failed = setgroups(1, &group);
  else if (strcmp(way, "capset") == 0) failed = capset(&header, none);
  else if (strcmp(way, "unshare") == 0) failed = unshare(CLONE_FS);
  else if (strcmp(way, "sandbox") == 0) failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  else if (strcmp(way, "child") == 0) failed = in_child(), stays = 1;
  else if (strcmp(way, "name") == 0) failed = prctl(PR_SET_NAME, "solver"), stays = 1;
  else failed = 1;
  const int alive = is_alive(survivor);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (survivor == 0) return 10;
  if (failed != 0) return 11;
  return alive == stays ? 0 : 12;
}
