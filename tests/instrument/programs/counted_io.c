/* One rank; POSIX and stdio calls with known bytes on files of their own in TEST_DIRECTORY, children that must not be
 * recorded, and errno that must be kept. Exits 1 if anything differs from a native run. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUIRE(condition)                                                  \
  do {                                                                      \
    if (!(condition)) {                                                     \
      fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
      return 1;                                                             \
    }                                                                       \
  } while (0)

static const char* path(const char* name) {
  static char text[4096];
  snprintf(text, sizeof(text), "%s/%s", getenv("TEST_DIRECTORY"), name);
  return text;
}

int main(int argc, char** argv) {
  const int early = open(path("early"), O_RDWR | O_CREAT | O_TRUNC, 0644);
  MPI_Init(&argc, &argv);
  static char block[100000];

  /* Opened before MPI_Init, but known by name. */
  REQUIRE(write(early, block, 1111) == 1111);
  REQUIRE(close(early) == 0);

  const int raw = open(path("raw"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < 10; ++i) REQUIRE(write(raw, block, 1000) == 1000);
  REQUIRE(pwrite(raw, block, 500, 10000) == 500);
  struct iovec parts[2] = {{block, 300}, {block, 200}};
  REQUIRE(lseek(raw, 0, SEEK_END) == 10500);
  REQUIRE(writev(raw, parts, 2) == 500);
  REQUIRE(lseek(raw, 0, SEEK_SET) == 0);
  REQUIRE(read(raw, block, 100000) == 11000);
  REQUIRE(pread(raw, block, 700, 0) == 700);
  REQUIRE(readv(raw, parts, 2) == 0);
  REQUIRE(fsync(raw) == 0);
  /* Descriptors whose file changes. */
  const int other = open(path("other"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  REQUIRE(write(other, block, 10) == 10);
  REQUIRE(dup2(raw, other) == other);
  REQUIRE(write(other, block, 20) == 20); /* into raw */
  REQUIRE(close(other) == 0);
  void* mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, raw, 0);
  REQUIRE(mapped != MAP_FAILED);
  REQUIRE(munmap(mapped, 4096) == 0);
  REQUIRE(close(raw) == 0);

  /* Copies within the kernel. */
  const int source = open(path("raw"), O_RDONLY), sent = open(path("sent"), O_RDWR | O_CREAT | O_TRUNC, 0600),
            copied = open(path("copied"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  REQUIRE(sendfile(sent, source, NULL, 3000) == 3000);
  REQUIRE(copy_file_range(sent, &(off64_t){0}, copied, NULL, 2500, 0) == 2500);
  REQUIRE(sendfile(sent, 4711, NULL, 800) == -1 && errno == EBADF);
  REQUIRE(close(source) == 0 && close(sent) == 0 && close(copied) == 0);

  FILE* stream = fopen(path("stream"), "w+");
  REQUIRE(stream != NULL);
  REQUIRE(fwrite(block, 8, 1000, stream) == 1000);
  REQUIRE(fprintf(stream, "%d lines\n", 12) == 9);
  REQUIRE(fputs("one line\n", stream) >= 0);
  REQUIRE(fflush(stream) == 0);
  REQUIRE(fseek(stream, 0, SEEK_SET) == 0);
  REQUIRE(fread(block, 1, 8000, stream) == 8000);
  REQUIRE(fgets(block, 100, stream) == block && strlen(block) == 9);
  REQUIRE(fclose(stream) == 0);

  /* Names of files. */
  struct stat found;
  struct statx more;
  char renamed[4096];
  snprintf(renamed, sizeof(renamed), "%s.renamed", path("stream"));
  for (int i = 0; i < 5; ++i) REQUIRE(stat(path("raw"), &found) == 0 && found.st_size == 11020);
  REQUIRE(lstat(path("raw"), &found) == 0 && fstatat(AT_FDCWD, path("raw"), &found, 0) == 0);
  REQUIRE(statx(AT_FDCWD, path("raw"), 0, STATX_SIZE, &more) == 0 && more.stx_size == 11020);
  for (int i = 0; i < 3; ++i) REQUIRE(access(path("raw"), R_OK) == 0);
  REQUIRE(faccessat(AT_FDCWD, path("raw"), R_OK, 0) == 0);
  REQUIRE(mkdir(path("folder"), 0700) == 0 && rename(path("stream"), renamed) == 0);
  REQUIRE(rename(renamed, path("stream")) == 0);
  DIR* folder = opendir(path("folder"));
  REQUIRE(folder != NULL && closedir(folder) == 0);
  REQUIRE(rmdir(path("folder")) == 0 && remove(path("sent")) == 0 && unlink(path("copied")) == 0);
  errno = 0;
  REQUIRE(stat(path("missing"), &found) == -1 && errno == ENOENT);

  /* Failures: errno is the program's. */
  errno = 0;
  REQUIRE(open(path("missing/file"), O_RDONLY) == -1 && errno == ENOENT);
  errno = 0;
  REQUIRE(read(4711, block, 1) == -1 && errno == EBADF);
  errno = 42;
  const int again = open(path("raw"), O_RDONLY);
  REQUIRE(again >= 0 && read(again, block, 1) == 1 && errno == 42);
  close(again);

  /* Children: their I/O is not recorded. */
  REQUIRE(getenv("LD_PRELOAD") == NULL || strstr(getenv("LD_PRELOAD"), "/libardoise.so") == NULL);
  const pid_t child = fork();
  if (child == 0) {
    const int mine = open(path("child"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (write(mine, block, 5000) != 5000) _exit(1);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  REQUIRE(system("true") == 0);
  char command[5000];
  snprintf(command, sizeof(command), "echo from the shell > %s", path("shell"));
  REQUIRE(system(command) == 0);

  MPI_Finalize();
  FILE* after = fopen(path("after"), "w");
  REQUIRE(after != NULL && fputs("after\n", after) >= 0 && fclose(after) == 0);
  return 0;
}
