// Describes the living program from the survivor: if it makes no progress in MPI for a while, or on request, the place
// of each of its threads and its totals go into a file (format/process_states.hpp). This code runs beside the program's
// threads, in their memory, and must not disturb them: it waits for no lock, allocates nothing, and touches no
// thread-local memory (which is the main thread's). The memory it reads may change meanwhile, so its output may be
// wrong for a moment. If that memory is unmapped, the survivor ends.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "instrument/format/definition_writer.hpp"
#include "instrument/process/session/session.hpp"
#include "instrument/unwind/unwinder.hpp"

namespace ardoise::instrument {

class ProcessStateWriter {
 public:
  // seconds: the file is written after that long without progress. 0: only on request. helpers: threads of MPI and of
  // this library, which call no MPI.
  ProcessStateWriter(Session& of, const PackIdentity& identity, const std::string& folder, double seconds,
                     std::size_t helpers);

  void check() noexcept;
  // The program makes progress, or ended.
  void remove_file() noexcept;

  // Tick at which MPI_Finalize began.
  std::atomic<std::uint64_t> finalizes_since = 0;

 private:
  struct CpuTime {
    std::uint64_t cpu_ns = 0, wall_ns = 0;
  };
  // The times since the previous call; both 0: the first call.
  CpuTime take_cpu_time(std::uint64_t tick, std::uint64_t cpu_ticks) noexcept;
  [[nodiscard]] std::uint64_t last_progress() const noexcept;
  [[nodiscard]] bool is_requested() const noexcept;
  void write(std::uint64_t tick, std::uint64_t since) noexcept;
  bool add_collectives(DefinitionWriter& out, std::span<const std::uint32_t> described) noexcept;
  std::size_t write_definitions(std::uint64_t tick, std::uint64_t since) noexcept;
  std::size_t write_totals(std::size_t at, std::uint64_t tick) noexcept;
  void write_header(std::size_t at, PackClass pack_class, std::size_t payload_bytes, std::size_t records,
                    std::uint64_t tick) noexcept;

  Session& session_;
  const PackIdentity identity_;
  const std::string folder_, name_, beside_, program_, stat_path_;
  const std::uint64_t start_tick_, ticks_, helpers_;
  std::uint64_t written_ = 0, written_since_ = 0;   // ticks; 0: there is no file
  std::uint64_t cpu_before_ = 0, time_before_ = 0;  // at the previous check
  Unwinder unwinder_;
  alignas(8) std::array<std::byte, std::size_t{64} << 10> room_{};
};

}  // namespace ardoise::instrument
