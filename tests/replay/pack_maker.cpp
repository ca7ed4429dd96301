#include "replay/pack_maker.hpp"

#include <algorithm>
#include <cstring>

#include "instrument/format/event_reader.hpp"

namespace ardoise::replay {

using instrument::PackClass;
using instrument::Shape;

Pack::Pack(const instrument::PackHeader& header, std::span<const std::byte> payload)
    : words_((sizeof header + payload.size() + 7) / 8), size_(sizeof header + payload.size()) {
  std::memcpy(words_.data(), &header, sizeof header);
  if (!payload.empty()) {
    std::memcpy(reinterpret_cast<std::byte*>(words_.data()) + sizeof header, payload.data(), payload.size());
  }
}

PackMaker::PackMaker(Origin origin, std::size_t records_per_pack)
    : origin_(origin),
      records_per_pack_(records_per_pack),
      room_(kDefinitionRoom / sizeof(std::uint64_t)),
      writer_(std::as_writable_bytes(std::span(room_))) {}

void PackMaker::emit(PackClass pack_class, std::span<const std::byte> payload, std::size_t records,
                     std::uint64_t first_tick, std::uint64_t last_tick) {
  instrument::PackHeader header{};
  header.magic = instrument::kPackMagic;
  header.version = instrument::kPackVersion;
  header.header_bytes = sizeof header;
  header.pack_class = static_cast<std::uint16_t>(pack_class);
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.record_count = static_cast<std::uint32_t>(records);
  header.table_hash = vmpi::kTableHash;
  header.partition = origin_.partition;
  header.rank = origin_.rank;
  header.weight = origin_.weight;
  header.sequence = sequence_++;
  header.first_tick = first_tick;
  header.last_tick = last_tick;
  header.mpi = mpi_ledger_;
  header.posix = posix_ledger_;
  header.samples = samples_ledger_;
  header.sending_ticks = sending_ticks;
  if (pack_class == PackClass::kMpi) header.order = mpi_packs_++;
  if (pack_class == PackClass::kPosix) header.order = posix_packs_++;
  // As in ThreadRecorder.
  const auto open_before = [last_tick](const auto& waiting) {
    return waiting.empty() || waiting.front().begin > last_tick
               ? 0u
               : static_cast<std::uint32_t>((last_tick - waiting.front().begin) / instrument::PackHeader::kOpenTicks +
                                            1);
  };
  if (pack_class == PackClass::kMpi) header.other_open = open_before(posix_);
  if (pack_class == PackClass::kPosix) header.other_open = open_before(mpi_);
  header.origin_tick = origin_.origin_tick;
  header.ticks_per_second = origin_.ticks_per_second;
  packs_.emplace_back(header, payload);
}

void PackMaker::mpi(const instrument::MpiRecord& record) {
  mpi_.push_back(record);
  ++mpi_ledger_.recorded;
  if (mpi_.size() == records_per_pack_) flush();
}

void PackMaker::posix(const instrument::PosixRecord& record) {
  posix_.push_back(record);
  ++posix_ledger_.recorded;
  if (posix_.size() == records_per_pack_) flush();
}

void PackMaker::call(vmpi::FunctionId function, Shape shape, std::uint64_t begin, std::uint32_t duration,
                     std::int32_t peer, std::int32_t tag, std::uint32_t bytes, std::uint32_t call_site,
                     std::uint32_t comm) {
  const auto number = static_cast<std::uint16_t>(function);
  mpi({begin, duration, call_site, peer, tag, bytes, instrument::make_word(comm, number, shape)});
  const bool both_ways = instrument::goes_both_ways(shape);
  const bool sends = both_ways || shape == Shape::kSend || shape == Shape::kPut || shape == Shape::kFileWrite;
  const bool receives = shape == Shape::kReceive || shape == Shape::kGet || shape == Shape::kFileRead;
  total(PackClass::kMpi, number, 1, duration, sends ? bytes : 0,
        receives    ? bytes
        : both_ways ? static_cast<std::uint32_t>(tag)
                    : 0);
}

void PackMaker::total(PackClass record_class, std::uint16_t function, std::uint64_t calls, std::uint64_t ticks,
                      std::uint64_t sent, std::uint64_t received) {
  auto& total = totals_[{static_cast<std::uint16_t>(record_class), function}];
  total.record_class = static_cast<std::uint16_t>(record_class);
  total.function = function;
  total.calls += calls;
  total.ticks += ticks;
  total.bytes_sent += sent;
  total.bytes_received += received;
  total.bytes += sent != 0 ? sent : received;
}

void PackMaker::samples(std::uint32_t thread, std::span<const instrument::SampleRecord> records, std::uint32_t level,
                        std::span<const std::uint64_t> counters) {
  const std::size_t each = records.empty() ? 0 : counters.size() / records.size();
  std::vector<std::byte> payload;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto fixed = std::as_bytes(records.subspan(i, 1)), values = std::as_bytes(counters.subspan(i * each, each));
    payload.insert(payload.end(), fixed.begin(), fixed.end());
    payload.insert(payload.end(), values.begin(), values.end());
  }
  samples_ledger_.recorded += records.size();
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (const auto& record : records) {
    first = std::min(first, record.tick);
    last = std::max(last, record.tick);
  }
  emit(PackClass::kSamples, payload, records.size(), std::min(first, last), last);
  auto& header = packs_.back().header();
  header.thread = thread;
  header.weight = 1u << level;
  header.level = level;
  header.counter_count = static_cast<std::uint32_t>(each);
}

void PackMaker::contexts(std::uint32_t thread, std::span<const instrument::ContextRecord> records) {
  emit(PackClass::kContexts, std::as_bytes(records), records.size(), 0, 0);
  packs_.back().header().thread = thread;
}

void PackMaker::context_totals(std::uint32_t thread, std::span<const instrument::ContextTotalsRecord> records) {
  emit(PackClass::kContextTotals, std::as_bytes(records), records.size(), 0, 0);
  packs_.back().header().thread = thread;
}

void PackMaker::flush_definitions() {
  if (writer_.count() == 0) return;
  emit(PackClass::kDefinitions, std::as_bytes(std::span(room_)).first(writer_.bytes()), writer_.count(), 0, 0);
  writer_ = instrument::DefinitionWriter(std::as_writable_bytes(std::span(room_)));
}

void PackMaker::flush() {
  flush_definitions();
  const auto send = [this](PackClass pack_class, auto& records) {
    if (records.empty()) return;
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (const auto& record : records) {
      if constexpr (requires { record.shape(); }) {
        if (record.shape() >= Shape::kCompletion) continue;
      }
      first = std::min(first, record.begin);
      last = std::max(last, record.begin + record.duration);
    }
    emit(pack_class, std::as_bytes(std::span(records)), records.size(), std::min(first, last), last);
    records.clear();
  };
  send(PackClass::kMpi, mpi_);
  send(PackClass::kPosix, posix_);
}

void PackMaker::send_totals() {
  std::vector<instrument::TotalsRecord> records;
  for (const auto& [key, record] : totals_) records.push_back(record);
  emit(PackClass::kTotals, std::as_bytes(std::span(records)), records.size(), 0, 0);
}

void PackMaker::finish() {
  flush();
  send_totals();
  packs_.back().header().flags |= instrument::kLastPack;
}

void PackMaker::drop(std::uint64_t mpi, std::uint64_t posix) {
  mpi_ledger_.recorded += mpi;
  mpi_ledger_.dropped += mpi;
  posix_ledger_.recorded += posix;
  posix_ledger_.dropped += posix;
}

}  // namespace ardoise::replay
