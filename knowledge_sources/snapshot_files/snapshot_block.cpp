// The payload. All numbers are LEB128 (varint.hpp), signed ones marked ±; a text is its position in the list of texts:
//
//   texts     count, then of each: bytes, them
//   programs  count, then of each: number, ranks, first rank, name
//   series    count, then of each: program, kind, number, name
//   calls     count, then of each: program, kind, rank, place, thread, function, stack, module, symbol, source file,
//             offset, line
//   values    count, then of each: program, number, name
//   records   count, then of each: series, rank, 1 rest | 2 late | 4 lacks calls | 8 has spread, ±index, ±number,
//             rounds, ±begin, ±length, ±(ns -
//             length), cells, value cells; index, number and begin less those of the record before
//   cells     of all records: their ids (in a record: less the one before), then calls, then ns, then bytes,
//             then ns of waiting
//   values    of all records: id, count, then sum, minimum and maximum as 8 bytes each, little endian
#include "knowledge_sources/snapshot_files/snapshot_block.hpp"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>

#include "knowledge_sources/containers/varint.hpp"

namespace ardoise::knowledge_sources {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int kLevel = 3;
constexpr std::uint64_t kRest = 1, kLate = 2, kLacks = 4, kSpread = 8;

class Encoder {
 public:
  void number(std::uint64_t value) { put_varint(bytes_, value); }
  void difference(std::uint64_t value, std::uint64_t before) {
    put_signed(bytes_, static_cast<std::int64_t>(value - before));
  }
  void text(const std::string& value) {
    const auto [found, is_new] = places_.try_emplace(value, texts_.size());
    if (is_new) texts_.push_back(&found->first);
    number(found->second);
  }
  void real(double value) {
    const auto bits = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bits.begin(), bits.end());
  }
  // The texts come first.
  [[nodiscard]] std::vector<std::byte> take() const {
    std::vector<std::byte> all;
    put_varint(all, texts_.size());
    for (const std::string* const each : texts_) {
      put_varint(all, each->size());
      const auto bits = std::as_bytes(std::span(*each));
      all.insert(all.end(), bits.begin(), bits.end());
    }
    all.insert(all.end(), bytes_.begin(), bytes_.end());
    return all;
  }

 private:
  std::vector<std::byte> bytes_;
  std::map<std::string, std::size_t> places_;
  std::vector<const std::string*> texts_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes_untrusted) : rest_(bytes_untrusted) {
    texts_.resize(count(1));
    for (std::string& each : texts_) {
      const auto bytes = take(number());
      each.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }
  [[nodiscard]] std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1)[0]);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    throw BadSnapshotBlock("it has a number of more than 64 bits");
  }
  [[nodiscard]] std::uint32_t small(std::uint64_t below = std::uint64_t{1} << 32) {
    const std::uint64_t value = number();
    check(value < below, "it has a number that is too large");
    return static_cast<std::uint32_t>(value);
  }
  [[nodiscard]] std::uint64_t difference(std::uint64_t before) {
    const std::uint64_t value = number();
    return before + (value >> 1 ^ (~(value & 1) + 1));
  }
  // Count of elements of at least `bytes_each` bytes.
  [[nodiscard]] std::size_t count(std::size_t bytes_each) {
    const std::uint64_t value = number();
    check(value <= rest_.size() / bytes_each, "it has a count larger than its bytes allow");
    return static_cast<std::size_t>(value);
  }
  [[nodiscard]] const std::string& text() {
    const std::string& text = texts_[small(texts_.size())];
    // One text may be used as many names.
    copied_ += text.size();
    check(copied_ <= kMostTexts, "its names are too long");
    return text;
  }
  [[nodiscard]] double real() {
    double value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }
  static void check(bool condition, const char* wrong) {
    if (!condition) throw BadSnapshotBlock(wrong);
  }

 private:
  std::span<const std::byte> take(std::uint64_t bytes) {
    check(bytes <= rest_.size(), "it ends too early");
    const auto result = rest_.first(static_cast<std::size_t>(bytes));
    rest_ = rest_.subspan(static_cast<std::size_t>(bytes));
    return result;
  }
  std::span<const std::byte> rest_;
  static constexpr std::uint64_t kMostTexts = std::uint64_t{16} * kMostPayload;  // bytes, repetitions included
  std::vector<std::string> texts_;
  std::uint64_t copied_ = 0;
};

using Block = SnapshotBlock;

void put_tables(Encoder& out, const Block& block) {
  out.number(block.programs.size());
  for (const Block::Program& each : block.programs) {
    for (const std::uint32_t value : {each.number, each.ranks, each.first_rank}) out.number(value);
    out.text(each.name);
  }
  out.number(block.series.size());
  for (const Block::Series& each : block.series) {
    out.number(each.program);
    out.number(static_cast<std::uint64_t>(each.kind));
    out.number(each.number);
    out.text(each.name);
  }
  out.number(block.calls.size());
  for (const Block::Call& each : block.calls) {
    out.number(each.program);
    out.number(static_cast<std::uint64_t>(each.kind));
    out.number(each.rank);
    out.number(each.place);
    out.number(each.thread);
    for (const std::string* const text : {&each.function, &each.stack, &each.module, &each.symbol, &each.source_file})
      out.text(*text);
    out.number(each.offset);
    out.number(each.line);
  }
  out.number(block.values.size());
  for (const Block::Value& each : block.values) {
    out.number(each.program);
    out.number(each.number);
    out.text(each.name);
  }
}

void get_tables(Decoder& in, Block& block) {
  block.programs.resize(in.count(4));
  for (Block::Program& each : block.programs) {
    for (std::uint32_t* const value : {&each.number, &each.ranks, &each.first_rank}) *value = in.small();
    each.name = in.text();
  }
  const std::size_t programs = block.programs.size();
  block.series.resize(in.count(4));
  for (Block::Series& each : block.series) {
    each.program = in.small(programs);
    each.kind = static_cast<SeriesKind>(in.small(static_cast<std::uint64_t>(SeriesKind::kIteration) + 1));
    each.number = in.small();
    each.name = in.text();
  }
  block.calls.resize(in.count(12));
  for (Block::Call& each : block.calls) {
    each.program = in.small(programs);
    each.kind = static_cast<Block::CallKind>(in.small(static_cast<std::uint64_t>(Block::CallKind::kCounted) + 1));
    each.rank = in.small();
    each.place = in.small();
    each.thread = in.small();
    for (std::string* const text : {&each.function, &each.stack, &each.module, &each.symbol, &each.source_file})
      *text = in.text();
    each.offset = in.number();
    each.line = in.small();
  }
  block.values.resize(in.count(3));
  for (Block::Value& each : block.values) {
    each.program = in.small(programs);
    each.number = in.small();
    each.name = in.text();
  }
}

void put_records(Encoder& out, const Block& block) {
  out.number(block.records.size());
  const Block::Record none;
  const Block::Record* before = &none;
  for (const Block::Record& each : block.records) {
    const auto length = static_cast<std::uint64_t>(each.end - each.begin);
    out.number(each.series);
    out.number(each.rank);
    out.number((each.is_rest ? kRest : 0) | (each.is_late ? kLate : 0) | (each.lacks_calls ? kLacks : 0) |
               (each.has_spread ? kSpread : 0));
    out.difference(each.index, before->index);
    out.difference(static_cast<std::uint64_t>(each.number), static_cast<std::uint64_t>(before->number));
    out.number(each.rounds);
    out.difference(static_cast<std::uint64_t>(each.begin), static_cast<std::uint64_t>(before->begin));
    out.number(length);
    out.difference(each.ns, length);
    out.number(each.calls.size());
    out.number(each.values.size());
    before = &each;
  }
  for (const Block::Record& each : block.records) {
    std::uint64_t last = 0;
    for (const CallCell& cell : each.calls) {
      out.difference(cell.id, last);
      last = cell.id;
    }
  }
  for (const auto part : {&CallSums::calls, &CallSums::ns, &CallSums::bytes, &CallSums::waited}) {
    for (const Block::Record& each : block.records) {
      for (const CallCell& cell : each.calls) out.number(cell.sums.*part);
    }
  }
  for (const Block::Record& each : block.records) {
    for (const ValueCell& cell : each.values) {
      out.number(cell.id);
      out.number(cell.sums.count);
      for (const double value : {cell.sums.sum, cell.sums.least, cell.sums.most}) out.real(value);
    }
  }
}

void get_record(Decoder& in, const Block& block, const Block::Record& before, Block::Record& each,
                std::uint64_t& cells) {
  each.series = in.small(block.series.size());
  each.rank = in.small(block.programs[block.series[each.series].program].ranks);
  const std::uint64_t flags = in.number();
  in.check(flags <= (kRest | kLate | kLacks | kSpread), "it has a snapshot of an unknown kind");
  each.is_rest = (flags & kRest) != 0;
  each.is_late = (flags & kLate) != 0;
  each.lacks_calls = (flags & kLacks) != 0;
  each.has_spread = (flags & kSpread) != 0;
  each.index = in.difference(before.index);
  each.number = static_cast<std::int64_t>(in.difference(static_cast<std::uint64_t>(before.number)));
  each.rounds = in.number();
  in.check(each.rounds >= 1 && each.rounds <= SnapshotList::kMostRounds, "it has a snapshot of too many rounds");
  each.begin = static_cast<std::int64_t>(in.difference(static_cast<std::uint64_t>(before.begin)));
  const std::uint64_t length = in.number();
  in.check(SnapshotList::is_time(each.begin) && length < static_cast<std::uint64_t>(SnapshotList::kLatest) &&
               SnapshotList::is_time(each.begin + static_cast<std::int64_t>(length)),
           "it has a snapshot out of time");
  each.end = each.begin + static_cast<std::int64_t>(length);
  each.ns = in.difference(length);
  const std::uint64_t calls = in.number(), values = in.number();
  cells += calls + values;
  // A cell of a call takes at least five bytes, one of a value more.
  in.check(calls <= in.left() && values <= in.left() && cells <= in.left() / 5,
           "it has a count larger than its bytes allow");
  each.calls.resize(static_cast<std::size_t>(calls));
  each.values.resize(static_cast<std::size_t>(values));
}

void get_records(Decoder& in, Block& block) {
  block.records.resize(in.count(11));
  const Block::Record none;
  const Block::Record* before = &none;
  std::uint64_t cells = 0;
  for (Block::Record& each : block.records) {
    get_record(in, block, *before, each, cells);
    before = &each;
  }
  for (Block::Record& each : block.records) {
    std::uint64_t last = 0;
    for (CallCell& cell : each.calls) {
      last = in.difference(last);
      in.check(last < block.calls.size(), "it has sums without an owner");
      cell.id = static_cast<std::uint32_t>(last);
    }
  }
  for (const auto part : {&CallSums::calls, &CallSums::ns, &CallSums::bytes, &CallSums::waited}) {
    for (Block::Record& each : block.records) {
      for (CallCell& cell : each.calls) cell.sums.*part = in.number();
    }
  }
  for (Block::Record& each : block.records) {
    for (ValueCell& cell : each.values) {
      cell.id = in.small(block.values.size());
      cell.sums.count = in.number();
      for (double* const value : {&cell.sums.sum, &cell.sums.least, &cell.sums.most}) *value = in.real();
    }
  }
  in.check(in.left() == 0, "it is longer than its contents");
}

}  // namespace

bool read_head(std::span<const std::byte> bytes_untrusted, SnapshotHead& head) {
  if (bytes_untrusted.size() < kSnapshotHead) return false;
  if (std::memcmp(bytes_untrusted.data(), kSnapshotMagic, 8) != 0) return false;
  std::memcpy(&head.run, bytes_untrusted.data() + 8, 8);
  std::memcpy(&head.frame_bytes, bytes_untrusted.data() + 16, 4);
  std::memcpy(&head.payload_bytes, bytes_untrusted.data() + 20, 4);
  return head.frame_bytes <= kMostFrame && head.payload_bytes <= kMostPayload;
}

std::vector<std::byte> encode(const SnapshotBlock& block) {
  Encoder out;
  put_tables(out, block);
  put_records(out, block);
  const std::vector<std::byte> payload = out.take();
  if (payload.size() > kMostPayload) throw std::length_error("the snapshots are too many for one block");
  std::vector<std::byte> bytes(kSnapshotHead + ZSTD_compressBound(payload.size()));
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const std::size_t frame = ZSTD_compress2(context.get(), bytes.data() + kSnapshotHead, bytes.size() - kSnapshotHead,
                                           payload.data(), payload.size());
  if (ZSTD_isError(frame) != 0) throw std::length_error(ZSTD_getErrorName(frame));
  bytes.resize(kSnapshotHead + frame);
  const auto frame_bytes = static_cast<std::uint32_t>(frame),
             payload_bytes = static_cast<std::uint32_t>(payload.size());
  std::memcpy(bytes.data(), kSnapshotMagic, 8);
  std::memcpy(bytes.data() + 8, &block.run, 8);
  std::memcpy(bytes.data() + 16, &frame_bytes, 4);
  std::memcpy(bytes.data() + 20, &payload_bytes, 4);
  return bytes;
}

SnapshotBlock decode(const SnapshotHead& head, std::span<const std::byte> frame_untrusted) {
  std::vector<std::byte> payload(head.payload_bytes);
  const std::size_t bytes =
      ZSTD_decompress(payload.data(), payload.size(), frame_untrusted.data(), frame_untrusted.size());
  Decoder::check(ZSTD_isError(bytes) == 0 && bytes == payload.size(), "its bytes have changed since they were written");
  SnapshotBlock block;
  block.run = head.run;
  Decoder in(payload);
  get_tables(in, block);
  get_records(in, block);
  return block;
}

}  // namespace ardoise::knowledge_sources
