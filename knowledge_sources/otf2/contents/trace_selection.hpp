// The part of a run that goes into its trace, as text (--trace):
//
//   all        ranks=0-3,8        functions=MPI_Send,MPI_Recv,io        from=10s,to=12s        min=1ms
//   ranks=0-3,8,functions=mpi,from=1m
//
//   selection = ( "all" | item ) { "," item }
//   item      = "ranks=" range { "," range } | "threads=" range { "," range } | "functions=" function { "," function }
//             | "phases=" name { "," name } | "iterations=" range { "," range }
//             | "last=" duration | "limit=" size | "keep=" name { "," name }
//             | "attributes=" class { "," class }
//             | "from=" duration | "to=" duration | "min=" duration
//   class     = "all" | "arguments" | "messages" | "waiting" | "clocks" | "plugins" | "errors" | "stacks"
//   range     = number [ "-" number ]         duration = number [ "us" | "ms" | "s" | "m" | "h" ]
//
// An absent item does not restrict. Ranks are those of MPI_COMM_WORLD; functions are those of MPI and of I/O, all of
// "mpi", all of "io"; times are since MPI_Init, and a call counts at its begin; min is the minimum duration of a call.
// A message is in the trace if the call that started it is. Iterations are those of the main loop, from 1 on, which are
// known only when the program has ended: all are traced until then.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "instrument/settings/function_set.hpp"
#include "instrument/settings/number_ranges.hpp"
#include "knowledge_sources/otf2/contents/trace_attribute.hpp"

namespace ardoise::knowledge_sources {

class TraceSelection {
 public:
  // Throws std::invalid_argument with a sentence that names the position and what was expected.
  explicit TraceSelection(std::string_view text);

  [[nodiscard]] bool has_rank(std::uint32_t world_rank) const;
  [[nodiscard]] bool has_function(bool is_posix, std::uint32_t function) const {
    return functions_.has(is_posix, function);
  }
  // Samples are no calls: a trace contains them if only ranks and times restrict it.
  [[nodiscard]] bool has_samples() const { return !has_functions_ && least_ == 0 && phases_.empty(); }
  [[nodiscard]] bool has_thread(std::uint32_t number) const;
  // By number (mark_name_id()); empty: all of the time.
  [[nodiscard]] const std::vector<std::uint32_t>& phases() const { return phases_; }
  // Data kept until the end: the last so many ns (0: all), at most so many bytes (0: unlimited) of each analyzer; and
  // data around snapshots of these names.
  [[nodiscard]] std::int64_t last() const { return last_; }
  [[nodiscard]] std::uint64_t most_bytes() const { return most_bytes_; }
  [[nodiscard]] const std::vector<std::uint32_t>& kept_names() const { return kept_names_; }
  [[nodiscard]] bool is_ring() const { return last_ != 0 || most_bytes_ != 0; }
  // has_call() alone decides whether a call is included.
  [[nodiscard]] bool is_by_call() const { return phases_.empty() && threads_.empty() && kept_names_.empty(); }
  // All calls of the selected ranks, threads and times are included.
  [[nodiscard]] bool has_all_calls() const { return has_samples(); }
  [[nodiscard]] AttributeClasses attributes() const { return attributes_; }
  [[nodiscard]] bool has_iterations() const { return !iterations_.empty(); }
  // One of these iterations, from 1 on, is selected.
  [[nodiscard]] bool has_iteration_in(std::uint64_t first, std::uint64_t last) const;
  // In ns since MPI_Init.
  [[nodiscard]] bool has_time(std::int64_t ns) const {
    return ns >= from_ && ns < to_ && (windows_.empty() || is_in_windows(ns));
  }
  // From here on only data in one of these times: begin and end.
  void restrict_to(std::vector<std::pair<std::int64_t, std::int64_t>> windows) { windows_ = std::move(windows); }
  [[nodiscard]] bool has_call(bool is_posix, std::uint32_t function, std::int64_t begin_ns,
                              std::int64_t duration_ns) const {
    return has_time(begin_ns) && duration_ns >= least_ && has_function(is_posix, function);
  }

 private:
  using Ranges = std::vector<instrument::NumberRange>;  // empty: all
  [[nodiscard]] bool is_in_windows(std::int64_t ns) const;
  std::vector<std::pair<std::int64_t, std::int64_t>> windows_;
  static bool has(const Ranges& ranges, std::uint32_t number);
  Ranges ranks_, threads_, iterations_;
  std::vector<std::uint32_t> phases_, kept_names_;
  std::int64_t last_ = 0;
  std::uint64_t most_bytes_ = 0;
  instrument::FunctionSet functions_ = instrument::FunctionSet::all();
  bool has_functions_ = false;  // functions are restricted
  AttributeClasses attributes_;
  std::int64_t from_ = INT64_MIN, to_ = INT64_MAX, least_ = 0;
};

}  // namespace ardoise::knowledge_sources
