#include "knowledge_sources/otf2/packs/made_packs.hpp"

#include <algorithm>
#include <cstring>

#include "instrument/format/event_reader.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

using instrument::ExtensionKind;
using instrument::MpiRecord;
using instrument::PackClass;
using instrument::PackHeader;
using instrument::PosixRecord;
using instrument::Shape;

namespace {

constexpr std::size_t kDefinitionBytes = std::size_t{32} << 10;

// True: it must be in the same pack as the previous record.
bool belongs_to_call(const MpiRecord& record) {
  if (record.shape() != Shape::kExtension) return false;
  const ExtensionKind kind = instrument::extension_kind(record);
  return kind == ExtensionKind::kWideValues || kind == ExtensionKind::kReceiveHalf;
}

bool is_call(const MpiRecord& record) { return record.shape() < Shape::kCompletion; }

}  // namespace

MadePacks::Thread& MadePacks::thread_of(std::uint32_t number) {
  if (number >= threads_.size()) threads_.resize(number + 1);
  auto& thread = threads_[number];
  if (!thread) {
    thread = std::make_unique<Thread>();
    thread->number = number;
  }
  return *thread;
}

std::uint64_t MadePacks::add(std::uint32_t thread, const MpiRecord& record) {
  Thread& own = thread_of(thread);
  own.mpi.push_back(record);
  ++mpi_.recorded;
  return own.mpi_sent + own.mpi.size() - 1;
}

void MadePacks::add(std::uint32_t thread, const PosixRecord& record) {
  thread_of(thread).posix.push_back(record);
  ++posix_.recorded;
}

MpiRecord* MadePacks::settle(std::uint32_t thread, std::uint64_t number) {
  Thread& own = thread_of(thread);
  own.held.erase(number);
  if (number < own.mpi_sent || number - own.mpi_sent >= own.mpi.size()) return nullptr;
  return &own.mpi[number - own.mpi_sent];
}

void MadePacks::add_total(PackClass record_class, std::uint32_t function, std::uint64_t calls, std::uint64_t ticks,
                          std::uint64_t sent, std::uint64_t received) {
  const auto number = static_cast<std::uint16_t>(function);
  auto& total = totals_[{static_cast<std::uint16_t>(record_class), number}];
  total.record_class = static_cast<std::uint16_t>(record_class);
  total.function = number;
  total.calls += calls;
  total.ticks += ticks;
  total.bytes_sent += sent;
  total.bytes_received += received;
  total.bytes += sent != 0 ? sent : received;
}

MadePack& MadePacks::emit(PackClass pack_class, std::uint32_t thread, std::span<const std::byte> payload,
                          std::size_t records, std::uint64_t first_tick, std::uint64_t last_tick) {
  PackHeader header{};
  header.magic = instrument::kPackMagic;
  header.version = instrument::kPackVersion;
  header.header_bytes = sizeof header;
  header.pack_class = static_cast<std::uint16_t>(pack_class);
  header.flags = flags_;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.record_count = static_cast<std::uint32_t>(records);
  header.table_hash = vmpi::kTableHash;
  header.rank = origin_.rank;
  header.thread = thread;
  header.weight = 1;
  header.sequence = sequence_++;
  header.first_tick = first_tick;
  header.last_tick = last_tick;
  header.mpi = mpi_;
  header.posix = posix_;
  header.samples = samples_;
  header.origin_tick = origin_.origin_tick;
  header.ticks_per_second = origin_.ticks_per_second;
  pack_.size = sizeof header + payload.size();
  pack_.words.assign((pack_.size + 7) / 8, 0);
  std::memcpy(pack_.words.data(), &header, sizeof header);
  if (!payload.empty())
    std::memcpy(reinterpret_cast<std::byte*>(pack_.words.data()) + sizeof header, payload.data(), payload.size());
  return pack_;
}

void MadePacks::pass() { take_(std::exchange(pack_, {})); }

void MadePacks::begin_definitions() {
  room_.resize(kDefinitionBytes / sizeof(std::uint64_t));
  writer_ = instrument::DefinitionWriter(std::as_writable_bytes(std::span(room_)));
}

void MadePacks::flush_definitions() {
  if (room_.empty() || writer_.count() == 0) return;
  emit(PackClass::kDefinitions, 0, std::as_bytes(std::span(room_)).first(writer_.bytes()), writer_.count(), 0, 0);
  pass();
  room_ = {};
  writer_ = instrument::DefinitionWriter({});
}

void MadePacks::send(Thread& thread, std::span<const MpiRecord> records) {
  flush_definitions();
  while (!records.empty()) {
    std::size_t count = std::min(records.size(), kRecords);
    while (count < records.size() && count > 1 && belongs_to_call(records[count])) --count;
    const auto some = records.first(count);
    std::uint64_t first = UINT64_MAX, last = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!is_call(some[i])) continue;
      std::uint64_t duration = some[i].duration;
      if (i + 1 < some.size() && belongs_to_call(some[i + 1]) &&
          instrument::extension_kind(some[i + 1]) == ExtensionKind::kWideValues)
        duration = instrument::as<instrument::WideExtension>(some[i + 1]).duration;
      first = std::min(first, some[i].begin);
      last = std::max(last, some[i].begin + duration);
    }
    MadePack& pack =
        emit(PackClass::kMpi, thread.number, std::as_bytes(some), some.size(), std::min(first, last), last);
    auto& header = *reinterpret_cast<PackHeader*>(pack.words.data());
    header.order = thread.mpi_packs++;
    if (!thread.posix.empty() && thread.posix.front().begin <= last)
      header.other_open = static_cast<std::uint32_t>((last - thread.posix.front().begin) / PackHeader::kOpenTicks + 1);
    pass();
    thread.mpi_sent += count;
    records = records.subspan(count);
  }
}

void MadePacks::send(Thread& thread, std::span<const PosixRecord> records) {
  flush_definitions();
  while (!records.empty()) {
    const auto some = records.first(std::min(records.size(), kRecords));
    std::uint64_t last = 0;
    for (const PosixRecord& each : some) last = std::max(last, each.begin + each.duration);
    MadePack& pack = emit(PackClass::kPosix, thread.number, std::as_bytes(some), some.size(), some.front().begin, last);
    auto& header = *reinterpret_cast<PackHeader*>(pack.words.data());
    header.order = thread.posix_packs++;
    if (const auto held = std::ranges::find_if(thread.mpi, is_call); held != thread.mpi.end() && held->begin <= last)
      header.other_open = static_cast<std::uint32_t>((last - held->begin) / PackHeader::kOpenTicks + 1);
    pass();
    records = records.subspan(some.size());
  }
}

void MadePacks::flush(Thread& thread, bool all) {
  std::size_t ready = thread.mpi.size();
  if (!thread.held.empty()) {
    if (all || thread.mpi.size() >= kMostHeld) {
      sent_before_known_ += thread.held.size();
      thread.held.clear();
    } else {
      ready = static_cast<std::size_t>(*thread.held.begin() - thread.mpi_sent);
    }
  }
  if (ready != 0) {
    send(thread, std::span<const MpiRecord>(thread.mpi).first(ready));
    thread.mpi.erase(thread.mpi.begin(), thread.mpi.begin() + static_cast<std::ptrdiff_t>(ready));
  }
  thread.next_flush = thread.mpi.size() + kRecords;
  if (thread.posix.empty()) return;
  send(thread, std::span<const PosixRecord>(thread.posix));
  thread.posix.clear();
}

void MadePacks::samples(std::uint32_t thread, std::span<const instrument::SampleRecord> records) {
  flush_definitions();
  for (; !records.empty(); records = records.subspan(std::min(records.size(), kRecords))) {
    const auto some = records.first(std::min(records.size(), kRecords));
    samples_.recorded += some.size();
    emit(PackClass::kSamples, thread, std::as_bytes(some), some.size(), some.front().tick, some.back().tick);
    pass();
  }
}

void MadePacks::contexts(std::uint32_t thread, std::span<const instrument::ContextRecord> records) {
  flush_definitions();
  for (; !records.empty(); records = records.subspan(std::min(records.size(), kRecords))) {
    const auto some = records.first(std::min(records.size(), kRecords));
    emit(PackClass::kContexts, thread, std::as_bytes(some), some.size(), 0, 0);
    pass();
  }
}

void MadePacks::context_totals(std::uint32_t thread, std::span<const instrument::ContextTotalsRecord> records) {
  for (; !records.empty(); records = records.subspan(std::min(records.size(), kRecords))) {
    const auto some = records.first(std::min(records.size(), kRecords));
    emit(PackClass::kContextTotals, thread, std::as_bytes(some), some.size(), 0, 0);
    pass();
  }
}

void MadePacks::flush() {
  flush_definitions();
  for (const auto& thread : threads_) {
    if (thread) flush(*thread, false);
  }
}

void MadePacks::finish() {
  flush_definitions();
  for (const auto& thread : threads_) {
    if (thread) flush(*thread, true);
  }
  std::vector<instrument::TotalsRecord> records;
  for (const auto& [key, record] : totals_) records.push_back(record);
  MadePack& pack = emit(PackClass::kTotals, 0, std::as_bytes(std::span(records)), records.size(), 0, 0);
  reinterpret_cast<PackHeader*>(pack.words.data())->flags |= instrument::kLastPack;
  pass();
  threads_.clear();
}

}  // namespace ardoise::knowledge_sources
