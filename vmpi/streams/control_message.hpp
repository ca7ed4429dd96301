// The messages by which processes of different partitions agree: all of one form, 32 bytes, on one tag of the control
// communicator, so that those of one process to another stay in order. docs/internals/streams.md lists who sends which
// when. As they travel: bytes of a C struct, between processes of one launch on machines of one kind.
#pragma once

#include <cstdint>

namespace ardoise::vmpi {

// Tags on the control communicator, a duplicate of the universe that only maps and streams use.
inline constexpr int kMapTag = 1;
inline constexpr int kControlTag = 2;
// Data of a stream. Each end picks the tag on which it wants to receive, and says it in its hello.
inline constexpr int kFirstDataTag = 16;

enum class ControlKind : std::uint8_t {
  hello,    // opens a stream with the receiver
  verdict,  // `code`: the result of the opening so far, as the sender sees it
  gone,     // the sender is in MPI_Finalize and will open nothing any more
  left,     // the sender goes, with the stream that the receiver has on `tag` still open
};

struct ControlMessage {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  ControlKind kind = ControlKind::hello;
  std::uint8_t reads_writes = 0;  // hello: 1 it reads, 2 it writes
  std::uint64_t block_bytes = 0;  // hello
  std::uint32_t number = 0;       // hello, verdict: which opening between these two processes
  std::int32_t tag = 0;           // hello: where the sender wants to receive
  std::int32_t code = 0;          // verdict: a VMPI code
  std::int32_t unused = 0;

  static constexpr std::uint32_t kMagic = 0x4d525453;  // "STRM"
  static constexpr std::uint16_t kVersion = 4;
};
static_assert(sizeof(ControlMessage) == 32);

}  // namespace ardoise::vmpi
