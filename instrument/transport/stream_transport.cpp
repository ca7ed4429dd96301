#include "instrument/transport/stream_transport.hpp"

#include "vmpi/streams/open_streams.hpp"

namespace ardoise::instrument {

int StreamTransport::open(int analyzer_partition, std::size_t block_bytes, std::chrono::nanoseconds patience) {
  VMPI_Map map{};
  int code = VMPI_Map_clear(&map);
  if (code == VMPI_SUCCESS) code = VMPI_Map_partitions(analyzer_partition, VMPI_MAP_ROUND_ROBIN, &map);
  // All packs of a process go to one analyzer rank, even if it is mapped to several (more analyzers than processes):
  // definitions are sent once, and the receiver checks sequence numbers.
  if (code == VMPI_SUCCESS) code = VMPI_Stream_init(&stream_, block_bytes, VMPI_STREAM_BALANCE_NONE);
  if (code == VMPI_SUCCESS) code = VMPI_Stream_open_map(&stream_, &map, "w");
  VMPI_Map_free(&map);
  if (code == VMPI_SUCCESS) vmpi::mark_as_tool_stream(stream_, patience);
  return code;
}

bool StreamTransport::send(Bin* bin, std::size_t bytes) {
  return VMPI_Stream_lend(&stream_, bin, bytes) == VMPI_SUCCESS;
}

Bin* StreamTransport::reclaim(bool wait) {
  void* block = nullptr;
  return VMPI_Stream_reclaim(&stream_, &block, wait ? 0 : VMPI_STREAM_NONBLOCK) == 1 ? static_cast<Bin*>(block)
                                                                                     : nullptr;
}

bool StreamTransport::close() { return VMPI_Stream_close(&stream_) != VMPI_ERR_TIMEOUT; }

}  // namespace ardoise::instrument
