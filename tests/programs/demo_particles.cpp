// Demo program: particles passed around a ring in many tiny messages; the report should name the cost of small
// messages. Each particle travels in a message of its own. Plain MPI without Ardoise.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int kParticles = 2000;
constexpr int kSteps = 240;

struct Particle {
  double position, velocity;
};

void move(std::vector<Particle>& particles) {
  for (auto& particle : particles) {
    for (int i = 0; i < 50; ++i) {
      particle.velocity += 1e-3 * std::sin(particle.position);
      particle.position += 1e-3 * particle.velocity;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<Particle> particles(kParticles);
  for (int i = 0; i < kParticles; ++i) particles[i] = {rank + i * 1e-3, 1.0 - i * 1e-4};
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int step = 0; step < kSteps; ++step) {
    move(particles);
    for (auto& particle : particles) {
      MPI_Sendrecv_replace(&particle, 2, MPI_DOUBLE, next, 7, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  double energy = 0, total = 0;
  for (const auto& particle : particles) energy += 0.5 * particle.velocity * particle.velocity;
  MPI_Reduce(&energy, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("particles: %d ranks, %d messages each, energy %.6f\n", size, kSteps * kParticles, total);
  MPI_Finalize();
}
