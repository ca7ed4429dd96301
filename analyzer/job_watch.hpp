// Waits with MPI_Init until a program of the launch has called it. Open MPI keeps a job alive (or ends it as failed)
// when one process initialises MPI and another never does: `ardoise mpirun hostname` would hang. So the analyzer looks,
// from outside: a process that initialised MPI has connected to the PMIx server of the launch on this machine; under
// MPICH, our library in it sets a mark (vmpi/world/init_mark.hpp). When all other processes of the launch on this
// machine ended without that, there is nothing to analyze.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::analyzer {

enum class JobState { kUsesMpi, kEndedWithoutMpi };

// True: started by the launcher of MPICH.
[[nodiscard]] bool is_mpich_launch() noexcept;

// Returns at once when launched by neither Open MPI nor MPICH, or when no program of the launch is on this machine.
[[nodiscard]] JobState wait_for_programs();

// Name of a program of this launch, on this machine, that has loaded MPI but neither libardoise nor libvmpi; empty:
// none. Its MPI_COMM_WORLD would hold the analyzers, and MPI_Init of the analyzer would wait for it for ever.
[[nodiscard]] std::string program_without_library();

// Pure parts.

// Port in the address of a PMIx server, "1932001280.0;tcp4://127.0.0.1:35309"; 0: none.
[[nodiscard]] std::uint16_t port_of(std::string_view server_address);
// Does the text of /proc/<pid>/maps show MPI without one of our libraries?
[[nodiscard]] bool has_bare_mpi(std::string_view maps);
// Does the text of /proc/net/tcp or tcp6 have a connection to this port?
[[nodiscard]] bool has_connection_to(std::string_view table, std::uint16_t port);

}  // namespace ardoise::analyzer
