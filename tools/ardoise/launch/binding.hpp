// Keeps the programs' ranks bound as they are without analyzers. Open MPI 4 maps and binds ranks by the number of
// processes of the whole launch, and binds nothing if there are more processes than processors. The analyzers count as
// processes of the launch, so the launch line must name what Open MPI would choose for the programs alone. (MPICH binds
// nothing by default. If asked to, it binds each process by its rank; the analyzers have the last ranks and change
// nothing.)
//
// Defaults of Open MPI 4.1, as far as they matter here (orte/mca/rmaps/base/rmaps_base_map_job.c):
//   up to two processes                    mapped by core, bound to core
//   more                                   mapped by NUMA node, bound to NUMA node
//   an option maps by an object            ranked by that object, else by slot; bound to it by default
//   more processes than processors         nothing is bound; with an option to bind: an error
// If a context has no free slot, Open MPI binds nothing unless asked to, and maps the whole launch by slot. A mapping
// with ":span" avoids the latter; on one machine it is otherwise the same.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

// Value of an MCA parameter from outside the launch line.
using McaParameter = std::function<std::optional<std::string>(std::string_view name)>;

// Reads the environment (OMPI_MCA_…), then the user's file (~/.openmpi/mca-params.conf), then the machine's.
[[nodiscard]] std::optional<std::string> mca_parameter(std::string_view name);

struct BindingFacts {
  std::optional<unsigned> ranks;       // of all programs; nullopt: only mpirun can compute it
  std::optional<unsigned> processors;  // slots, at most one for each core; nullopt: not known
  bool lacks_slots = false;            // no free slots for the analyzers
  bool one_machine = false;
  McaParameter parameter;
};

// False: the line or a parameter disables binding, or names the place of each rank.
[[nodiscard]] bool may_bind(const LaunchLine& line, const McaParameter& parameter);

// Adds to a line without analyzers the options that keep the programs' ranks where they are.
void keep_binding(LaunchLine& line, const BindingFacts& facts);

// Cores, or hardware threads, that this process may use.
[[nodiscard]] unsigned usable_cores(bool hardware_threads);
[[nodiscard]] bool uses_hardware_threads(const LaunchLine& line, const McaParameter& parameter);

}  // namespace ardoise::launcher
