// A condition on a rank's activity so far: when it becomes true, a snapshot is taken.
//
//   calls(MPI_Alltoall) % 1000 == 0        time(MPI_Wait) > 5 s since last        bytes(write) > 1 GB since last
//   time(mpi) / time() > 0.5 and time() > 10 s                                    value(residual) < 1e-6
//   calls(world) % 100 == 0                                                       balance(step) < 0.8
//
//   condition  = any { "or" any } [ "since last" ]           any     = comparison { "and" comparison }
//   comparison = sum ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum
//   sum        = product { ( "+" | "-" ) product }           product = factor { ( "*" | "/" | "%" ) factor }
//   factor     = number [ unit ] | measure "(" [ name ] ")" | "(" sum ")"
//   unit       = "s" | "ms" | "us" | "min" | "h" | "kB" | "MB" | "GB" | "KiB" | "MiB" | "GiB"
//
// Measures: calls, time (s) and bytes of an MPI or POSIX function, of all of "mpi", of "io", or of the collectives on
// MPI_COMM_WORLD, "world"; time() since MPI_Init; value(NAME), the last value passed to ardoise_value();
// counter(EVENT), events counted with samples so far.
// balance(NAME) covers all ranks of the program and can be combined with time() only: the load balance in the latest
// round (load.hpp) of the snapshots or phases of this name, or, balance(), in the latest second. With "since last",
// calls, times and bytes count from the last snapshot of this condition. Evaluated after each call of a function that
// it names, or, if it names none, after each call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::knowledge_sources {

class Condition {
 public:
  enum class Measure : std::uint8_t { kCalls, kTime, kBytes, kElapsed, kValue, kBalance, kCounter };
  struct Variable {
    Measure measure;
    bool is_mpi = false, is_posix = false;  // of all functions of these, or of one
    bool is_world = false;                  // of the collectives on MPI_COMM_WORLD
    std::int32_t function = -1;             // number of one function
    std::string name;                       // of a value, of marks, or of an event
  };

  // Throws std::invalid_argument with a sentence that names the position and what was expected.
  explicit Condition(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  [[nodiscard]] bool is_since_last() const { return is_since_last_; }
  // True: a condition on the whole program, not on a rank.
  [[nodiscard]] bool is_of_program() const;
  // values: of the variables, in the same order.
  [[nodiscard]] bool holds(const std::vector<double>& values) const;

  // Used by the parser.
  enum class Code : std::uint8_t {
    kNumber,
    kVariable,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRest,
    kEqual,
    kUnequal,
    kLess,
    kAtMost,
    kGreater,
    kAtLeast,
    kAnd,
    kOr
  };
  struct Step {
    Code code;
    std::uint32_t variable = 0;
    double number = 0;
  };

 private:
  std::string text_;
  std::vector<Variable> variables_;
  std::vector<Step> steps_;  // in reverse Polish notation
  bool is_since_last_ = false;
};

}  // namespace ardoise::knowledge_sources
