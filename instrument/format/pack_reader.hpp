// Checks a pack that came from outside (a stream, a capture file) and gives access to its records. The analyzer's
// ingest and every replay call it first; all later code sees checked packs only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

struct SampleView {
  const SampleRecord& record;
  std::span<const std::uint64_t> counters;  // header().counter_count of them
};

// A pack with a valid header and extent. Borrows its bytes.
class PackView {
 public:
  explicit PackView(const PackHeader* header) : header_(header) {}

  [[nodiscard]] const PackHeader& header() const { return *header_; }
  [[nodiscard]] PackClass pack_class() const { return static_cast<PackClass>(header_->pack_class); }
  [[nodiscard]] std::span<const std::byte> payload() const {
    return {reinterpret_cast<const std::byte*>(header_) + header_->header_bytes, header_->payload_bytes};
  }
  [[nodiscard]] std::size_t bytes() const { return std::size_t{header_->header_bytes} + header_->payload_bytes; }

  // Record is the type that belongs to pack_class(): MpiRecord, PosixRecord, TotalsRecord …; not for kSamples.
  template <class Record>
  [[nodiscard]] std::span<const Record> records() const {
    return {reinterpret_cast<const Record*>(payload().data()), header_->record_count};
  }

  // kSamples only: the sample with this index below record_count.
  [[nodiscard]] SampleView sample(std::size_t index) const {
    const std::size_t each = sizeof(SampleRecord) + header_->counter_count * sizeof(std::uint64_t);
    const std::byte* const at = payload().data() + index * each;
    return {*reinterpret_cast<const SampleRecord*>(at),
            {reinterpret_cast<const std::uint64_t*>(at + sizeof(SampleRecord)), header_->counter_count}};
  }

 private:
  const PackHeader* header_;
};

struct PackCheck {
  std::optional<PackView> pack;  // empty: the bytes are no valid pack; `error` says why in one sentence
  std::string error;
  explicit operator bool() const { return pack.has_value(); }
};

// Requires that bytes_untrusted is aligned to 8 (checked) and at least as long as the pack; more bytes are ignored.
// O(1), except that the definitions of a kDefinitions pack are decoded once. Guarantees: header fields are consistent
// with each other and with the length, records() lies inside, every definition of a kDefinitions pack can be decoded.
// Not checked: whether the reader knows the rank, partition, function, comm and file numbers; readers of records must
// check every index.
[[nodiscard]] PackCheck check_pack(std::span<const std::byte> bytes_untrusted);

}  // namespace ardoise::instrument
