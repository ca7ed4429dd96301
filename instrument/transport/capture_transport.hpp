// Writes packs to a file as they are sent (ARDOISE_CAPTURE), and passes them on to the analyzer if there is one.
// pack_file.hpp reads the file.
#pragma once

#include <string>
#include <vector>

#include "instrument/transport/transport.hpp"

namespace ardoise::instrument {

// Uses direct system calls, which neither the hooks nor another tool sees.
class CaptureTransport final : public Transport {
 public:
  // Creates a new file; removes an existing one, but follows a link that this user made. Returns a descriptor, or
  // -errno.
  [[nodiscard]] static long make_file(const std::string& path);
  // next: nullptr means that bins are free again at once. descriptor: of the file, closed with this object; < 0: none,
  // see ready().
  CaptureTransport(long descriptor, Transport* next) : next_(next), descriptor_(descriptor) {}
  [[nodiscard]] bool ready() const { return descriptor_ >= 0; }

  // A failed write ends the capture. Without a next transport that is a failure of this transport.
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
