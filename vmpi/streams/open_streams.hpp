// Operations on open streams for MPI_Finalize (world.cpp) and the analyzer's loop. Implemented by stream_api.cpp.
#pragma once

#include <chrono>
#include <vector>

#include "vmpi/vmpi.h"

namespace ardoise::vmpi {

// Marks a stream of the tool itself: no message when it is left open. Its close waits at most `patience` for readers
// that take no block; VMPI_Stream_close then returns VMPI_ERR_TIMEOUT. Where MPI_Finalize waits for all processes of
// the job, close waits without limit: the reader ends only after its writers, so giving up would block both for ever.
void mark_as_tool_stream(const VMPI_Stream& stream, std::chrono::nanoseconds patience) noexcept;

// True: MPI is transferring a block of this stream, so polling again soon is worthwhile.
bool is_receiving(const VMPI_Stream& stream) noexcept;

// Peers on this machine whose processes have ended without closing the stream, as universe ranks. Some of their blocks
// may still be in flight: the stream reports VMPI_ERR_PEER later.
std::vector<int> gone_peers(const VMPI_Stream& stream);

// Before the real MPI_Finalize: reports open streams in one sentence on standard error, waits until written blocks were
// received, and tells the peers that the stream ended without being closed. Costs nothing when no stream is open.
void end_open_streams() noexcept;

}  // namespace ardoise::vmpi
