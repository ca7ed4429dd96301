/* A program that checks how it was started: its world, what is preloaded, and the environment that its children get,
 * by system() and by fork and exec. Prints what rank 0 sees; started in any way, with or without a tool, it must be the
 * same text. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

/* The variables of Ardoise in an environment, in order, with values. (OMPI_ARGV repeats the launch line.) */
static const char* const kSearch = "env | grep -v ^OMPI_ARGV | grep -iE 'ardoise_|vmpi_|libardoise|libvmpi|^LD_' | sort";

int main(int argc, char** argv) {
  int rank, size, sum, status = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    const char* const preload = getenv("LD_PRELOAD");
    printf("world of %d, sum %d, preload %s\n", size, sum, preload != NULL ? preload : "(none)");
    for (char** variable = environ; *variable != NULL; ++variable) {
      if (strncmp(*variable, "ARDOISE", 7) == 0 || strncmp(*variable, "VMPI", 4) == 0) printf("own: %s\n", *variable);
    }
    fflush(stdout);
    status = system(kSearch);
    printf("system() gave %d\n", status);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      execlp("sh", "sh", "-c", kSearch, (char*)NULL);
      _exit(127);
    }
    waitpid(child, &status, 0);
    printf("the child gave %d\n", WEXITSTATUS(status));
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
