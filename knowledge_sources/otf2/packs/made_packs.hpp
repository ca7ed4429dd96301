// Makes packs, as a process under Ardoise would send them, from records of other origin: numbered, with the ledger and
// the exact totals. MPI and I/O records of a thread are buffered until a pack is full, and longer while the content of
// a record is unknown (hold(), settle()).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "instrument/format/definition_writer.hpp"
#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {

// One pack, aligned for its header.
struct MadePack {
  std::vector<std::uint64_t> words;
  std::size_t size = 0;
  [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)).first(size); }
};
using TakePack = std::function<void(MadePack pack)>;

struct PacksOrigin {
  std::uint32_t rank;
  std::uint64_t origin_tick;
  double ticks_per_second;
};

// Makes the packs of one process. Not thread safe.
class MadePacks {
 public:
  static constexpr std::size_t kRecords = 2044;  // of a pack
  // Limit of a thread's buffered records while some of them are incomplete: 8 MiB. hpcc calls MPI_Testany 98,909 times
  // while a receive is open.
  static constexpr std::size_t kMostHeld = std::size_t{1} << 18;

  // take receives the packs, in order, and outlives this object.
  MadePacks(PacksOrigin origin, const TakePack& take) : origin_(origin), take_(take) {}

  // define(structure, strings …), with the arguments of DefinitionWriter::add. It is sent before any record added
  // later.
  template <class... Arguments>
  void define(Arguments&&... arguments) {
    if (room_.empty()) begin_definitions();
    if (writer_.add(arguments...)) return;
    flush_definitions();
    begin_definitions();
    (void)writer_.add(std::forward<Arguments>(arguments)...);
  }

  // A record of any shape; extension records must follow their call directly. Returns its number in the thread.
  std::uint64_t add(std::uint32_t thread, const instrument::MpiRecord& record);
  template <class Extension>
  std::uint64_t add_extension(std::uint32_t thread, const Extension& extension) {
    return add(thread, std::bit_cast<instrument::MpiRecord>(extension));
  }
  void add(std::uint32_t thread, const instrument::PosixRecord& record);
  // Sends full packs. Between two calls of the thread.
  void end_call(std::uint32_t thread) {
    Thread& own = thread_of(thread);
    if (own.mpi.size() >= own.next_flush || own.posix.size() >= kRecords) flush(own, false);
  }
  // Holds the record back until settle(), while there is room.
  void hold(std::uint32_t thread, std::uint64_t number) { thread_of(thread).held.insert(number); }
  // The held record's content is known. nullptr: it has already been sent.
  [[nodiscard]] instrument::MpiRecord* settle(std::uint32_t thread, std::uint64_t number);

  void add_total(instrument::PackClass record_class, std::uint32_t function, std::uint64_t calls, std::uint64_t ticks,
                 std::uint64_t sent, std::uint64_t received);
  // Sent at once.
  void samples(std::uint32_t thread, std::span<const instrument::SampleRecord> records);
  void contexts(std::uint32_t thread, std::span<const instrument::ContextRecord> records);
  void context_totals(std::uint32_t thread, std::span<const instrument::ContextTotalsRecord> records);

  // Several threads of the process have made MPI calls.
  void set_several_threads() { flags_ = instrument::kSeveralMpiThreads; }

  void flush();   // all that are not held
  void finish();  // all records, totals, and the last pack's flag

  [[nodiscard]] std::uint64_t sent_before_known() const { return sent_before_known_; }

 private:
  struct Thread {
    std::uint32_t number;
    std::vector<instrument::MpiRecord> mpi;
    std::vector<instrument::PosixRecord> posix;
    std::uint64_t mpi_sent = 0;  // records
    std::uint64_t mpi_packs = 0, posix_packs = 0;
    std::set<std::uint64_t> held;
    std::size_t next_flush = kRecords;  // size of `mpi` at which to send
  };
  [[nodiscard]] Thread& thread_of(std::uint32_t number);
  void begin_definitions();
  void flush_definitions();
  void flush(Thread& thread, bool all);
  void send(Thread& thread, std::span<const instrument::MpiRecord> records);
  void send(Thread& thread, std::span<const instrument::PosixRecord> records);
  MadePack& emit(instrument::PackClass pack_class, std::uint32_t thread, std::span<const std::byte> payload,
                 std::size_t records, std::uint64_t first_tick, std::uint64_t last_tick);
  void pass();  // the latest pack

  PacksOrigin origin_;
  std::uint16_t flags_ = 0;
  const TakePack& take_;
  std::uint64_t sequence_ = 0;
  instrument::ClassLedger mpi_{}, posix_{}, samples_{};
  std::vector<std::unique_ptr<Thread>> threads_;  // by number
  std::vector<std::uint64_t> room_;
  instrument::DefinitionWriter writer_{{}};
  std::map<std::pair<std::uint16_t, std::uint16_t>, instrument::TotalsRecord> totals_;
  std::uint64_t sent_before_known_ = 0;
  MadePack pack_;
};

}  // namespace ardoise::knowledge_sources
