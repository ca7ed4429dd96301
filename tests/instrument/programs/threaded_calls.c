/* One rank, four threads that call MPI and write to a file at the same time, 3,000 times each; exits 77 if MPI has
 * no MPI_THREAD_MULTIPLE. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 3000 };

/* With their first calls: one that has its first when another thread has ended goes on under that one's number. */
static pthread_barrier_t all_there;

static void* work(void* communicator) {
  MPI_Comm comm = *(MPI_Comm*)communicator;
  int sent = 1, received = 0;
  const int sink = open("/dev/null", O_WRONLY);
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < kRounds; ++i) {
    MPI_Request requests[2];
    MPI_Irecv(&received, 1, MPI_INT, 0, i, comm, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, 0, i, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (write(sink, &sent, sizeof(sent)) != sizeof(sent)) return NULL;
  }
  close(sink);
  return NULL;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) return 77;
  pthread_t threads[kThreads];
  MPI_Comm comms[kThreads];
  pthread_barrier_init(&all_there, NULL, kThreads);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  MPI_Finalize();
  return 0;
}
