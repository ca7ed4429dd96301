// MPI_Init makes the partitions in collective steps, and a step can fail in one process alone. All processes must learn
// it, or some would be in their partition's world and wait for others in the real one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>

namespace ardoise::vmpi {

// The first failure of this process; nullptr: none. Later collective steps report it.
class Failure {
 public:
  void note(const char* what) {
    if (what_ == nullptr) what_ = what;
  }
  void check(int result, const char* what) {
    if (result != MPI_SUCCESS) note(what);
  }
  // Runs an action without MPI that may run out of memory.
  template <class Action>
  void attempt(Action action) {
    if (what_ != nullptr) return;
    try {
      action();
    } catch (const std::exception&) {
      note("there was not enough memory");
    }
  }
  const char* what() const { return what_; }

 private:
  const char* what_ = nullptr;
};

// Collective over MPI_COMM_WORLD, whose handler returns errors. true: no process has failed. A failed process reports
// it in one sentence on standard error. false: the steps have no effect in any process, and the launch has one program
// only (`context`, the number of the program, is equal everywhere). A launch of several programs is aborted here: in
// the real world the programs would take part in each other's collectives.
[[nodiscard]] bool all_succeeded(const Failure& failure, std::int32_t context, int rank);

}  // namespace ardoise::vmpi
