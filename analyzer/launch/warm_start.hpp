// What programs would otherwise wait for in their MPI_Init: done here while they load.
//
// MPI: its components are opened, which takes most of MPI_Init (some 200 ms with the libraries of several networks), so
// that the programs do not wait for an analyzer that begins with it once they have come that far. Connects nowhere.
//
// Kernel: the first perf event of a machine switches hooks of its scheduler on, which takes 10 to 30 ms, and the last
// one switches them off again. While this process has one, the programs' samplers get theirs at once.
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
  int event_ = -1;  // negative: the kernel gives none, to programs neither
};

}  // namespace ardoise::analyzer
