// What the numbers say, in sentences: where the time goes, what to change, how far to trust it. Pure functions of the
// model, so the same model gives the same sentences. Shown first in the summary and on the report's cover; also written
// into profile.json. Each rule is one function in findings_ending, findings_time, findings_work,
// findings_threads, findings_communication, findings_calls, findings_io, findings_memory,
// findings_samples, findings_iterations, findings_drift, findings_program or findings_quality.
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
  std::string id;  // stable, for programs that read profile.json: "load_imbalance"
  Severity severity = Severity::note;
  double weight = 0;   // share of the program's time that it is about, 0 … 1: orders findings of one severity
  std::string text;    // what is so, with its numbers; estimates are called estimates
  std::string advice;  // what to do about it; may be empty
  std::vector<std::pair<std::string, double>>
      evidence;  // the numbers behind the text, in seconds, bytes, counts, shares
};

// The most severe first, then the heaviest; never empty.
[[nodiscard]] std::vector<Finding> findings_of(const Application& application);

// What a rule looks at.
struct Facts {
  explicit Facts(const Application& application);
  const Application& app;
  Efficiency efficiency;
  double rank_seconds = 0;                 // wall time summed over ranks; 0 when nothing is known
  double mpi_seconds = 0, io_seconds = 0;  // summed over ranks
  double mpi_calls = 0;
  [[nodiscard]] double share(double seconds) const;  // of rank_seconds, 0 … 1
  // Of the time in which ranks had work of their own to do: they waited for a processor.
  [[nodiscard]] double share_without_processor() const;
  // How long a call took is then no measure of what it cost.
  [[nodiscard]] bool crowded() const { return share_without_processor() > 0.2; }
  [[nodiscard]] const DensityMap* density(const std::string& function) const;
  // "halo_exchange (solver.cpp:214)" of the call site of `function` that costs most; "" when not resolved.
  [[nodiscard]] std::string main_call_site(const std::string& function) const;
};

// Every program has a ledger, unless the plug-in that makes it could not be loaded.
[[nodiscard]] bool is_analyzed(const Application& application);

// Its cost is judged by a rule of its own: shared by ranks that wait, or by the operation itself.
[[nodiscard]] bool is_judged_as_collective(const Facts& facts, const FunctionProfile& function);

// The rules. Each appends what it finds, if anything.
void find_ending(const Facts& facts, std::vector<Finding>& out);
void find_quality(const Facts& facts, std::vector<Finding>& out);
void find_time(const Facts& facts, std::vector<Finding>& out);
void find_work(const Facts& facts, std::vector<Finding>& out);
void find_threads(const Facts& facts, std::vector<Finding>& out);
void find_communication(const Facts& facts, std::vector<Finding>& out);
void find_calls(const Facts& facts, std::vector<Finding>& out);
void find_io(const Facts& facts, std::vector<Finding>& out);
void find_memory(const Facts& facts, std::vector<Finding>& out);
void find_samples(const Facts& facts, std::vector<Finding>& out);
void find_iterations(const Facts& facts, std::vector<Finding>& out);
// One of find_iterations, where it says of a series neither a trend nor a change.
void find_rank_drift(const Facts& facts, const SnapshotSeries& series, std::vector<Finding>& out);
void find_program(const Facts& facts, std::vector<Finding>& out);

// A place in a program. "solve_step (solver.cpp:214)", "solver+0x4a20" when not resolved.
[[nodiscard]] std::string name_of_place(const std::string& symbol, const std::string& source_file, std::uint32_t line,
                                        const std::string& module, std::uint64_t offset);
// Of whatever says its place in these fields: CallSite, StackPlace, WaitCause …
template <class Place>
[[nodiscard]] std::string name_of(const Place& place) {
  if constexpr (requires { place.module; }) {
    return name_of_place(place.symbol, place.source_file, place.line, place.module, place.offset);
  } else {
    return name_of_place(place.symbol, place.source_file, place.line, "", 0);
  }
}

// A C++ name without its parameters, which make it unreadable in a sentence. "(anonymous namespace)" and operator()
// keep theirs, and so does what begins with a bracket, as "[program (deleted)]".
[[nodiscard]] std::string without_parameters(const std::string& symbol);

// A name from a program, fit for a sentence: printable and not too long.
[[nodiscard]] std::string in_sentence(const std::string& name);

// The last part of a path.
[[nodiscard]] std::string base_name(const std::string& path);

}  // namespace ardoise::reports
