// Work that programs would otherwise wait for in MPI_Init, done while they load.
//
// MPI: opens its components, which takes most of MPI_Init (some 200 ms with the libraries of several networks).
// Connects nowhere.
//
// Kernel: the first perf event of a machine enables hooks of its scheduler, which takes 10 to 30 ms, and the last one
// disables them again. While this process has one, the programs' samplers get theirs at once.
#pragma once

namespace ardoise::analyzer {

class WarmStart {
 public:
  WarmStart();
  ~WarmStart();
  WarmStart(const WarmStart&) = delete;
  WarmStart& operator=(const WarmStart&) = delete;

 private:
  bool has_mpi_ = false;
  int event_ = -1;  // negative: the kernel refuses, as it does to programs
};

}  // namespace ardoise::analyzer
