// Writes packs to a file as they are sent (ARDOISE_CAPTURE), and passes them on to the analyzer if there is one. What
// it writes, pack_file.hpp reads.
#pragma once

#include <string>
#include <vector>

#include "instrument/transport/transport.hpp"

namespace ardoise::instrument {

// By direct system calls: neither our own hooks nor a tool behind us sees them.
class CaptureTransport final : public Transport {
 public:
  // A new file; what has its name goes, but for a link that this user has made, which is followed. A descriptor, or
  // -errno.
  [[nodiscard]] static long make_file(const std::string& path);
  // next may be nullptr: bins are free again at once. descriptor: of the file, which is closed with this; < 0: there is
  // none, see ready().
  CaptureTransport(long descriptor, Transport* next) : next_(next), descriptor_(descriptor) {}
  [[nodiscard]] bool ready() const { return descriptor_ >= 0; }

  // A file that can't be written any more ends the capture. Without a next transport that is a failure.
  [[nodiscard]] bool send(Bin* bin, std::size_t bytes) override;
  [[nodiscard]] Bin* reclaim(bool wait) override;
  [[nodiscard]] bool close() override;

 private:
  bool write(const std::byte* data, std::size_t bytes);
  void close_file();

  Transport* next_;
  long descriptor_;
  std::vector<Bin*> written_;
};

}  // namespace ardoise::instrument
