// Sends packs to the analyzer over a VMPI stream without copies: bins are lent and reclaimed. A bin is a block.
#pragma once

#include <chrono>

#include "instrument/transport/transport.hpp"
#include "vmpi/vmpi.h"

namespace ardoise::instrument {

class StreamTransport final : public Transport {
 public:
  // Maps this process to the analyzer and opens the stream: collective over the program's world and the analyzer.
  // Returns VMPI_SUCCESS or the error. close() waits at most `patience` while the analyzer accepts nothing; 0: no
  // limit.
  [[nodiscard]] int open(int analyzer_partition, std::size_t block_bytes, std::chrono::nanoseconds patience);

  [[nodiscard]] bool send(Bin* bin, std::size_t bytes) override;
  [[nodiscard]] Bin* reclaim(bool wait) override;
  [[nodiscard]] bool close() override;

 private:
  VMPI_Stream stream_{};
};

}  // namespace ardoise::instrument
