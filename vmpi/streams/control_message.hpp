// The messages by which processes of different partitions agree: all of one form, 40 bytes, on one tag of the control
// communicator, so that those of one process to another stay in order. docs/streams.md lists who sends which when. As
// they travel: bytes of a C struct, between processes of one launch on machines of one kind.
#pragma once

#include <cstdint>

namespace ardoise::vmpi {

enum class ControlKind : std::uint8_t {
  hello,       // wants to open a stream with the receiver
  verdict,     // `code` about the receiver's hello `number`
  withdrawal,  // the opening of the sender's hello `number` failed with `code`; so the receiver's does that meets it
  retreat,     // the same because of a circle: to who says its own hello only after this one came, it was never said
  gone,        // the sender is in MPI_Finalize and will open nothing any more
  left,        // the sender goes, with the stream that the receiver has on `tag` still open
  probe,       // the sender waits for the receiver; looks for a circle (meeting.hpp)
};

struct ControlMessage {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  ControlKind kind = ControlKind::hello;
  std::uint8_t reads_writes = 0;  // hello: 1 it reads, 2 it writes
  std::uint32_t number = 0;       // of a hello, unique in the process that sent it; probe: with which its sender waits
  std::int32_t tag = 0;           // hello: where the sender wants to receive
  std::uint64_t block_bytes = 0;  // hello
  std::int32_t code = 0;          // verdict, withdrawal, retreat: a VMPI code
  // Messages, probes apart. hello, probe: of the receiver, those that the sender had seen; retreat: of the sender to
  // the receiver, with this one.
  std::uint32_t seen = 0;
  std::int32_t origin = 0;   // probe: universe rank of who started it …
  std::uint32_t serial = 0;  // … and which of its probes

  static constexpr std::uint32_t kMagic = 0x4d525453;  // "STRM"
  static constexpr std::uint16_t kVersion = 3;
};
static_assert(sizeof(ControlMessage) == 40);

// Says of the sender's hello `number` that it is over.
inline bool takes_back(const ControlMessage& message) {
  return message.kind == ControlKind::withdrawal || message.kind == ControlKind::retreat;
}

}  // namespace ardoise::vmpi
