// What others in this process ask of open streams: MPI_Finalize (world.cpp), the analyzer's loop. Implemented by
// stream_api.cpp.
#pragma once

#include <chrono>
#include <vector>

#include "vmpi/vmpi.h"

namespace ardoise::vmpi {

// This stream is the tool's own: when it is left open, the program is not to blame, and nothing is said about it. Its
// end does not wait for readers that take nothing for so long; VMPI_Stream_close returns VMPI_ERR_TIMEOUT then.
void set_tools_own(const VMPI_Stream& stream, std::chrono::nanoseconds patience) noexcept;

// MPI is at work on a block for this stream: it is worth polling again soon.
bool is_receiving(const VMPI_Stream& stream) noexcept;

// Processes of this machine at the other end that do not run any more and have not closed it. Some of what they sent
// may still be on its way: only later does the stream tell of them (VMPI_ERR_PEER). Ranks of the universe.
std::vector<int> gone_peers(const VMPI_Stream& stream);

// Before the real MPI_Finalize: says so in one sentence on standard error, waits until what was written was received,
// tells the peers the end, and that it is no proper one. Free when no stream is open.
void leave_open_streams() noexcept;

}  // namespace ardoise::vmpi
