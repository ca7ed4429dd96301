// Control messages between processes of different partitions: one format of 32 bytes, on one tag of the control
// communicator, so that messages between two processes stay in order. docs/internals/streams.md describes the protocol.
// They are sent as the bytes of the struct, between machines of one architecture.
#pragma once

#include <cstdint>

namespace ardoise::vmpi {

// Tags on the control communicator, a duplicate of the universe for maps and streams.
inline constexpr int kMapTag = 1;
inline constexpr int kControlTag = 2;
// Data of a stream. Each end chooses the tag on which it receives and announces it in its hello.
inline constexpr int kFirstDataTag = 16;

enum class ControlKind : std::uint8_t {
  hello,    // opens a stream with the receiver
  verdict,  // `code`: the result of the opening so far, as the sender sees it
  gone,     // the sender is in MPI_Finalize and will open no more streams
  left,     // the sender ends while the receiver's stream on `tag` is open
};

struct ControlMessage {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  ControlKind kind = ControlKind::hello;
  std::uint8_t reads_writes = 0;  // hello: 1 it reads, 2 it writes
  std::uint64_t block_bytes = 0;  // hello
  std::uint32_t number = 0;       // hello, verdict: number of this opening between the two processes
  std::int32_t tag = 0;           // hello: the tag on which the sender receives
  std::int32_t code = 0;          // verdict: a VMPI code
  std::int32_t unused = 0;

  static constexpr std::uint32_t kMagic = 0x4d525453;  // "STRM"
  static constexpr std::uint16_t kVersion = 4;
};
static_assert(sizeof(ControlMessage) == 32);

}  // namespace ardoise::vmpi
