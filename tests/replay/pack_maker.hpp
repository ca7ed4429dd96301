// Makes packs as a process would send them, from records that a test writes by hand: numbers the packs, keeps the
// ledger, counts the exact totals. Used by the tests of the knowledge sources, by the synthetic program and by the
// benchmarks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "instrument/format/definition_writer.hpp"
#include "instrument/format/event_format.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::replay {

// One pack, aligned for its header.
class Pack {
 public:
  Pack(const instrument::PackHeader& header, std::span<const std::byte> payload);
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)).first(size_); }
  [[nodiscard]] std::span<std::byte> writable() { return std::as_writable_bytes(std::span(words_)).first(size_); }
  [[nodiscard]] instrument::PackHeader& header() { return *reinterpret_cast<instrument::PackHeader*>(words_.data()); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

struct Origin {
  std::uint32_t partition = 0;
  std::uint32_t rank = 0;
  std::uint64_t origin_tick = 1000;
  double ticks_per_second = 1e9;
  std::uint32_t weight = 1;
};

class PackMaker {
 public:
  explicit PackMaker(Origin origin, std::size_t records_per_pack = 2044);

  // One record of any shape, unchanged; it does not count in the totals.
  void mpi(const instrument::MpiRecord& record);
  template <class Extension>
  void mpi_extension(const Extension& extension) {
    mpi(std::bit_cast<instrument::MpiRecord>(extension));
  }
  void posix(const instrument::PosixRecord& record);

  // A call: its record, and its share of the totals.
  void call(vmpi::FunctionId function, instrument::Shape shape, std::uint64_t begin, std::uint32_t duration,
            std::int32_t peer, std::int32_t tag, std::uint32_t bytes, std::uint32_t call_site = 1,
            std::uint32_t comm = instrument::kWorldComm);
  // Adds amounts to the totals of a function that its record does not show.
  void total(instrument::PackClass record_class, std::uint16_t function, std::uint64_t calls, std::uint64_t ticks,
             std::uint64_t sent, std::uint64_t received);

  // A pack of a thread's samples, contexts or calls by context, unchanged, at once. `counters` holds counter_count
  // values for each sample; weight of the pack is 2^level.
  void samples(std::uint32_t thread, std::span<const instrument::SampleRecord> records, std::uint32_t level = 0,
               std::span<const std::uint64_t> counters = {});
  void contexts(std::uint32_t thread, std::span<const instrument::ContextRecord> records);
  void context_totals(std::uint32_t thread, std::span<const instrument::ContextTotalsRecord> records);

  // Adds one definition: define(structure, strings …) with the arguments of DefinitionWriter::add.
  template <class... Arguments>
  void define(Arguments&&... arguments) {
    if (writer_.add(arguments...)) return;
    flush_definitions();
    (void)writer_.add(std::forward<Arguments>(arguments)...);
  }

  void flush();        // makes packs of all pending records
  void send_totals();  // as they are now
  void finish();       // flush, totals, and the last pack's flag
  // Records that were recorded and never sent.
  void drop(std::uint64_t mpi, std::uint64_t posix);

  std::uint64_t sending_ticks = 0;  // of the packs that follow
  [[nodiscard]] std::vector<Pack> take() { return std::exchange(packs_, {}); }

 private:
  static constexpr std::size_t kDefinitionRoom = 32 << 10;
  void flush_definitions();
  void emit(instrument::PackClass pack_class, std::span<const std::byte> payload, std::size_t records,
            std::uint64_t first_tick, std::uint64_t last_tick);

  Origin origin_;
  std::size_t records_per_pack_;
  std::uint64_t sequence_ = 0, mpi_packs_ = 0, posix_packs_ = 0;
  instrument::ClassLedger mpi_ledger_{}, posix_ledger_{}, samples_ledger_{};
  std::vector<instrument::MpiRecord> mpi_;
  std::vector<instrument::PosixRecord> posix_;
  std::vector<std::uint64_t> room_;
  instrument::DefinitionWriter writer_;
  std::map<std::pair<std::uint16_t, std::uint16_t>, instrument::TotalsRecord> totals_;
  std::vector<Pack> packs_;
};

}  // namespace ardoise::replay
