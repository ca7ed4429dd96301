// Open MPI 4 chooses where ranks go and what they are bound to by the number of processes of the whole launch, and
// gives binding up altogether where there are more processes than processors. The analyzers are processes of the
// launch: what was chosen for the programs alone has to be named in the launch line. (MPICH binds nothing unless told,
// and then each process by its rank: the analyzers, which come last, change nothing.)
//
// What Open MPI 4.1 does by itself, as far as it matters here (orte/mca/rmaps/base/rmaps_base_map_job.c):
//   up to two processes                    mapped by core, bound to core
//   more                                   mapped by NUMA node, bound to NUMA node
//   told to map by an object               ranked by that object, else by slot; bound to it unless told otherwise
//   more processes than processors         told to bind: an error, else nothing is bound
// A context for which no slot is free makes it bind nothing unless told to, and map the whole launch by slot, unless it
// is mapped with ":span", which on one machine is otherwise the same.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

// Value of an MCA parameter that is not on the launch line.
using McaParameter = std::function<std::optional<std::string>(std::string_view name)>;

// From the environment (OMPI_MCA_…), the user's file (~/.openmpi/mca-params.conf) or the machine's, in this order.
[[nodiscard]] std::optional<std::string> mca_parameter(std::string_view name);

struct BindingFacts {
  std::optional<unsigned> ranks;       // of all programs; nothing: only mpirun can work it out
  std::optional<unsigned> processors;  // slots, at most one for each core; nothing: not known
  bool lacks_slots = false;            // for the analyzers
  bool one_machine = false;
  McaParameter parameter;
};

// False: the line or a parameter says that nothing is bound, or names the place of each rank.
[[nodiscard]] bool may_bind(const LaunchLine& line, const McaParameter& parameter);

// Adds what keeps the programs' ranks where they are without the analyzers to a line that they will be added to.
void keep_binding(LaunchLine& line, const BindingFacts& facts);

// Cores that this process may use, or hardware threads.
[[nodiscard]] unsigned usable_cores(bool hardware_threads);
[[nodiscard]] bool uses_hardware_threads(const LaunchLine& line, const McaParameter& parameter);

}  // namespace ardoise::launcher
