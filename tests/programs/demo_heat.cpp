// Demo program: heat on a plate, a Jacobi iteration on a two-dimensional process grid. Rank 0 computes three times as
// much as the others (a refined "hot spot"), so all ranks wait for it in MPI_Allreduce: the report should find that.
// Writes its result to a file. Plain MPI without Ardoise.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr int kCells = 512;  // a side of one process's part
constexpr int kSteps = 1200;

struct Plate {
  std::vector<double> now, next;
  Plate() : now((kCells + 2) * (kCells + 2)), next(now) {}
  double& at(std::vector<double>& cells, int row, int column) { return cells[row * (kCells + 2) + column]; }
};

void exchange_halo(Plate& plate, MPI_Comm grid, MPI_Datatype column) {
  int north, south, west, east;
  MPI_Cart_shift(grid, 0, 1, &north, &south);
  MPI_Cart_shift(grid, 1, 1, &west, &east);
  auto& cells = plate.now;
  MPI_Request requests[8];
  MPI_Irecv(&plate.at(cells, 0, 1), kCells, MPI_DOUBLE, north, 1, grid, &requests[0]);
  MPI_Irecv(&plate.at(cells, kCells + 1, 1), kCells, MPI_DOUBLE, south, 2, grid, &requests[1]);
  MPI_Irecv(&plate.at(cells, 1, 0), 1, column, west, 3, grid, &requests[2]);
  MPI_Irecv(&plate.at(cells, 1, kCells + 1), 1, column, east, 4, grid, &requests[3]);
  MPI_Isend(&plate.at(cells, kCells, 1), kCells, MPI_DOUBLE, south, 1, grid, &requests[4]);
  MPI_Isend(&plate.at(cells, 1, 1), kCells, MPI_DOUBLE, north, 2, grid, &requests[5]);
  MPI_Isend(&plate.at(cells, 1, kCells), 1, column, east, 3, grid, &requests[6]);
  MPI_Isend(&plate.at(cells, 1, 1), 1, column, west, 4, grid, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

double relax(Plate& plate) {
  double change = 0;
  for (int row = 1; row <= kCells; ++row) {
    for (int column = 1; column <= kCells; ++column) {
      const double value = 0.25 * (plate.at(plate.now, row - 1, column) + plate.at(plate.now, row + 1, column) +
                                   plate.at(plate.now, row, column - 1) + plate.at(plate.now, row, column + 1));
      change += std::abs(value - plate.at(plate.now, row, column));
      plate.at(plate.next, row, column) = value;
    }
  }
  return change;
}

void write_plate(const Plate& plate, int rank) {
  char name[64];
  std::snprintf(name, sizeof name, "/tmp/demo_heat.%d.out", rank);
  std::FILE* file = std::fopen(name, "wb");
  if (file == nullptr) return;
  for (int row = 1; row <= kCells; ++row) std::fwrite(&plate.now[row * (kCells + 2) + 1], sizeof(double), kCells, file);
  std::fclose(file);
  std::remove(name);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int extents[2] = {0, 0}, periods[2] = {0, 0};
  MPI_Dims_create(size, 2, extents);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
  int rank;
  MPI_Comm_rank(grid, &rank);
  MPI_Datatype column;
  MPI_Type_vector(kCells, 1, kCells + 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);

  Plate plate;
  for (int row = 1; rank == 0 && row <= kCells; ++row) {
    for (int column_of_spot = 1; column_of_spot <= kCells; ++column_of_spot) {
      const double distance = std::hypot(row - kCells / 2, column_of_spot - kCells / 2);
      plate.at(plate.now, row, column_of_spot) = 1000 * std::exp(-distance * distance / 2000);
    }
  }
  double total = 0;
  for (int step = 0; step < kSteps; ++step) {
    exchange_halo(plate, grid, column);
    double change = relax(plate);
    for (int refinement = 0; rank == 0 && refinement < 2; ++refinement) change = relax(plate);
    std::swap(plate.now, plate.next);
    MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, grid);
  }
  write_plate(plate, rank);
  if (rank == 0) std::printf("heat: %d ranks, %d steps, last change %.6e\n", size, kSteps, total);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  MPI_Finalize();
}
