// A program whose every number can be counted by hand: each rank sends `rounds` messages of 1,000 bytes to the next one
// and joins one MPI_Allreduce of 8 bytes in every tenth round.
//   ring_program ROUNDS [exit STATUS | signal NUMBER | late FILE | held FILE]
// exit: rank 0 ends with this status after MPI_Finalize; signal: rank 0 kills itself before; late FILE: every rank
// works on for half a second after MPI_Finalize and then appends a byte to FILE; held FILE: the same, but every rank
// first appends a byte to FILE.begun and begins when FILE exists.
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::string action = argc > 2 ? argv[2] : "";
  const std::string value = argc > 3 ? argv[3] : "";
  std::vector<char> out(1000), in(1000);
  double sum = 0;
  if (action == "held") {
    std::ofstream(value + ".begun", std::ios::app) << 'x';
    while (!std::ifstream(value)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (int round = 0; round < rounds; ++round) {
    MPI_Request request;
    MPI_Irecv(in.data(), 1000, MPI_CHAR, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &request);
    MPI_Send(out.data(), 1000, MPI_CHAR, (rank + 1) % size, 7, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double one = 1;
    if (round % 10 == 0) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0 && action == "signal") std::raise(std::atoi(value.c_str()));
  if (rank == 0) std::printf("ring of %d ranks, sum %.0f\n", size, sum);
  MPI_Finalize();
  if (action == "late" || action == "held") {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::ofstream(value, std::ios::app) << 'x';
  }
  return rank == 0 && action == "exit" ? std::atoi(value.c_str()) : 0;
}
