/* An error handler leaves a call of MPI, as interpreters do: by longjmp, then by siglongjmp. After each 2,000
 * reductions follow, from functions that are 10 frames deeper. */
#include <mpi.h>
#include <setjmp.h>

static sigjmp_buf out;
static jmp_buf back;
static int by_signal_form;

static void jump(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  if (by_signal_form) siglongjmp(out, 1);
  longjmp(back, 1);
}

static __attribute__((noinline)) int deeper(int frames) {
  volatile char room[256];
  room[0] = (char)frames;
  if (frames > 0) return deeper(frames - 1) + room[0] - frames;
  int one = 1, all = 0;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void send_to_nowhere(void) {
  int value = 0;
  MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  static int sum, world;
  if (setjmp(back) == 0) {
    send_to_nowhere();
    return 2;
  }
  for (int i = 0; i < 2000; ++i) sum += deeper(10);
  by_signal_form = 1;
  if (sigsetjmp(out, 1) == 0) {
    send_to_nowhere();
    return 2;
  }
  for (int i = 0; i < 2000; ++i) sum += deeper(10);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return sum == 4000 * world ? 0 : 1;
}
