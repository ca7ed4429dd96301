// Findings: sentences on where the time goes, what to change and how reliable the numbers are. Pure functions of the
// model. The summary and the report's cover show them first; profile.json has them too. Each rule is one function in a
// file findings_<topic>.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reports/findings/efficiency.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

enum class Severity { note, medium, high };
[[nodiscard]] const char* to_string(Severity severity);

struct Finding {
  std::string id;  // stable, for programs that read profile.json: "late.static"
  Severity severity = Severity::note;
  double weight = 0;   // share of the program's time concerned, 0 … 1: orders findings of one severity
  std::string text;    // the observation with its numbers; says which are estimates
  std::string advice;  // may be empty
  std::vector<std::pair<std::string, double>>
      evidence;  // the numbers behind the text, in seconds, bytes, counts, shares
};

// Sorted by severity, then by weight, both descending; never empty.
[[nodiscard]] std::vector<Finding> findings_of(const Application& application);

// The input of a rule.
struct Facts {
  explicit Facts(const Application& application);
  const Application& app;
  Efficiency efficiency;
  double rank_seconds = 0;                 // wall time summed over ranks; 0: unknown
  double mpi_seconds = 0, io_seconds = 0;  // summed over ranks
  [[nodiscard]] double share(double seconds) const;  // of rank_seconds, 0 … 1
  // Shares of the ranks' time, or where that is unknown, of all threads.
  [[nodiscard]] double mpi_share() const { return efficiency.known ? efficiency.mpi_share : share(mpi_seconds); }
  [[nodiscard]] double io_share() const { return efficiency.known ? efficiency.io_share : share(io_seconds); }
  // "99 %", with file I/O by MPI "99 % (95 % in MPI-IO)".
  [[nodiscard]] std::string mpi_share_in_words() const;
  [[nodiscard]] const DensityMap* density(const std::string& function) const;
  // The call site of `function` with most time: "halo_exchange (solver.cpp:214)", "libslepc.so+0x16e647" without
  // symbols; "": unknown.
  [[nodiscard]] std::string main_call_site(const std::string& function) const;
};

// The rules. Each appends its findings, if any.
void find_ending(const Facts& facts, std::vector<Finding>& out);
void find_quality(const Facts& facts, std::vector<Finding>& out);
// Losses by their ceilings, or why there are none.
void find_losses(const Facts& facts, std::vector<Finding>& out);
void find_calls(const Facts& facts, std::vector<Finding>& out);
void find_memory(const Facts& facts, std::vector<Finding>& out);
void find_iterations(const Facts& facts, std::vector<Finding>& out);
// Called by find_iterations for a series without trend and change.
void find_rank_drift(const Facts& facts, const SnapshotSeries& series, std::vector<Finding>& out);
void find_program(const Facts& facts, std::vector<Finding>& out);

// A source location: "solve_step (solver.cpp:214)", "solver+0x4a20" if not resolved.
[[nodiscard]] std::string name_of_place(const std::string& symbol, const std::string& source_file, std::uint32_t line,
                                        const std::string& module, std::uint64_t offset);
// For structs with these fields: CallSite, StackPlace, WaitCause …
template <class Place>
[[nodiscard]] std::string name_of(const Place& place) {
  if constexpr (requires { place.module; }) {
    return name_of_place(place.symbol, place.source_file, place.line, place.module, place.offset);
  } else {
    return name_of_place(place.symbol, place.source_file, place.line, "", 0);
  }
}

// A C++ name without its parameters. Names with "(anonymous namespace)" or operator(), or that begin with a bracket, as
// "[program (deleted)]", stay unchanged.
[[nodiscard]] std::string without_parameters(const std::string& symbol);

// A program's name for use in a sentence: printable, shortened.
[[nodiscard]] std::string in_sentence(const std::string& name);

// The last part of a path.
[[nodiscard]] std::string base_name(const std::string& path);

}  // namespace ardoise::reports
