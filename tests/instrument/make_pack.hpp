// Hand-made packs for tests: a valid header that a test then damages, and payloads after it.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

struct Pack {
  std::vector<std::uint64_t> storage;  // keeps the bytes aligned

  [[nodiscard]] PackHeader& header() { return *reinterpret_cast<PackHeader*>(storage.data()); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(storage)); }
};

inline Pack make_pack(PackClass pack_class, std::span<const std::byte> payload, std::size_t records) {
  PackHeader header{};
  header.magic = kPackMagic;
  header.version = kPackVersion;
  header.header_bytes = sizeof(PackHeader);
  header.pack_class = static_cast<std::uint16_t>(pack_class);
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.record_count = static_cast<std::uint32_t>(records);
  header.weight = 1;
  Pack pack;
  pack.storage.resize((sizeof(header) + payload.size() + 7) / 8);
  std::memcpy(pack.storage.data(), &header, sizeof(header));
  if (!payload.empty())
    std::memcpy(reinterpret_cast<char*>(pack.storage.data()) + sizeof(header), payload.data(), payload.size());
  return pack;
}

template <class Record>
Pack make_record_pack(PackClass pack_class, std::span<const Record> records) {
  return make_pack(pack_class, std::as_bytes(records), records.size());
}

}  // namespace ardoise::instrument
