// Writes the arguments of one call as ArgumentsExtensions of its thread, before the call's record. Allocates nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "instrument/format/argument_bytes.hpp"
#include "instrument/format/event_format.hpp"
#include "instrument/record/thread_recorder.hpp"
#include "vmpi/argument_kinds.hpp"

namespace ardoise::instrument {

// Not thread safe. Call finish() after the last argument.
class ArgumentRecords {
 public:
  ArgumentRecords(ThreadRecorder& thread, std::uint32_t function, std::uint64_t begin, std::uint64_t end)
      : thread_(thread), begin_(begin), end_(end) {
    extension_.call = static_cast<std::uint32_t>(begin);
    extension_.word = make_word(static_cast<std::uint32_t>(ExtensionKind::kArguments), function, Shape::kExtension);
  }

  void add(vmpi::ArgumentKind kind, std::int64_t value) {
    put(static_cast<std::uint8_t>(kind));
    add_number(value);
  }
  // Followed by `count` calls of add_number().
  void begin_array(vmpi::ArgumentKind kind, std::int64_t count) {
    put(static_cast<std::uint8_t>(static_cast<std::uint8_t>(kind) | kArrayBit));
    add_number(count);
  }
  void add_number(std::int64_t value) {
    put_argument_number(value, [this](std::uint8_t byte) { put(byte); });
  }
  void finish() {
    if (used_ != 0) write();
  }

 private:
  void put(std::uint8_t byte) {
    extension_.bytes[used_++] = byte;
    if (used_ == ArgumentsExtension::kBytes) write();
  }
  void write() {
    *thread_.mpi_room(1, begin_, end_) = std::bit_cast<MpiRecord>(extension_);
    ++extension_.number;
    used_ = 0;
    for (std::uint8_t& byte : extension_.bytes) byte = 0;
  }

  ThreadRecorder& thread_;
  const std::uint64_t begin_, end_;
  ArgumentsExtension extension_{};
  std::size_t used_ = 0;
};

}  // namespace ardoise::instrument
