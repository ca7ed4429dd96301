// The options of the recorder (option_table.hpp), as a program reads them from its environment. Read once, when MPI is
// up, by preload.cpp; the analyzer takes the size of blocks from here.
#pragma once

#include <cstddef>
#include <string>

#include "instrument/settings/function_set.hpp"
#include "instrument/settings/option_values.hpp"

namespace ardoise::instrument {

// What happens when no bin is free.
enum class Policy {
  kAdapt,  // less is recorded: samples of the lowest level go, MPI and POSIX records become aggregates
  kBlock,  // the program waits for the analyzer
};

struct Settings {
  bool disabled = false;
  std::size_t budget_bytes = std::size_t{16} << 20;  // memory for bins
  std::size_t bin_bytes = std::size_t{64} << 10;     // one pack, and one block of the stream
  Policy policy = Policy::kAdapt;
  double mpi_share = 0.5;             // part of the budget for records of MPI, and of I/O
  FunctionSet sums;                   // whose calls become part of sums at once
  bool arguments = false;             // of MPI calls are recorded
  bool call_stacks = false;           // of calls of MPI and I/O are recorded
  double finalize_seconds = 5;        // at MPI_Finalize, with an analyzer that takes nothing; 0: without end
  double hang_seconds = 60;           // without progress in MPI, after which a launch is said to hang; 0: never
  double flush_seconds = 1.0;         // age at which a partly filled bin is sent
  std::string capture_directory;      // "": none
  bool no_command = false;            // of the command line only the program's name is kept
  std::string record_races, replay_races;  // folders of records of races; "": none
  bool stops_at_divergence = false;        // where a program diverges from the record that it is forced to
  std::string complaint;              // sentences about values of any option of programs that are not allowed; "": none
};

[[nodiscard]] Settings read_settings(GetVariable get);

}  // namespace ardoise::instrument
