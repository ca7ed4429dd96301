// MPI_Init builds the partitions in steps that every process takes, and a step can fail in one process alone. All of
// them must know, or some would be in their partition's world and wait for others that are in the real one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>

namespace ardoise::vmpi {

// The first thing that failed in this process; nullptr: nothing. The step that all reach together may be a later one.
class Failure {
 public:
  void note(const char* what) {
    if (what_ == nullptr) what_ = what;
  }
  void check(int result, const char* what) {
    if (result != MPI_SUCCESS) note(what);
  }
  // Work without MPI, which may run out of memory.
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

// Collective over MPI_COMM_WORLD, whose handler returns errors: true when nothing has failed in any process. A process
// that failed says so in one sentence on standard error. false: nothing has come of it in any process, and the launch
// has one program only (`context`, the number of the program, is the same everywhere). A launch of several programs
// ends here: in one real world they would take part in each other's collectives.
[[nodiscard]] bool all_succeeded(const Failure& failure, std::int32_t context, int rank);

}  // namespace ardoise::vmpi
