// The options of the recorder (option_table.hpp), read from the program's environment. preload.cpp reads them once,
// when MPI is up; the analyzer takes the size of blocks from here.
#pragma once

#include <cstddef>
#include <string>

#include "instrument/settings/function_set.hpp"
#include "instrument/settings/option_values.hpp"

namespace ardoise::instrument {

// The behaviour when no bin is free.
enum class Policy {
  kAdapt,  // less detail: samples of the lowest level are dropped, MPI and POSIX records become aggregates
  kBlock,  // the program waits for the analyzer
};

struct Settings {
  bool disabled = false;
  std::size_t budget_bytes = std::size_t{16} << 20;  // memory for bins
  std::size_t bin_bytes = std::size_t{64} << 10;     // one pack, and one block of the stream
  Policy policy = Policy::kAdapt;
  double mpi_share = 0.5;             // part of the budget for records of MPI, and the same for I/O
  FunctionSet sums;                   // functions with calls that become sums at once
  bool arguments = false;             // arguments of MPI calls are recorded
  bool call_stacks = false;           // call stacks of MPI and I/O calls are recorded
  double finalize_seconds = 5;        // limit of the wait in MPI_Finalize for an analyzer that accepts nothing; 0: none
  double hang_seconds = 60;           // time without progress in MPI after which a launch is reported as hung; 0: never
  double flush_seconds = 1.0;         // age at which a partly filled bin is sent
  std::string capture_directory;      // "": none
  bool no_command = false;            // only the program's name of the command line is kept
  std::string record_races, replay_races;  // folders for records of races; "": none
  bool stops_at_divergence = false;        // stops a program that diverges from the record forced on it
  std::string complaint;                   // sentences about invalid values of any option of programs; "": none
};

[[nodiscard]] Settings read_settings(GetVariable get);

}  // namespace ardoise::instrument
