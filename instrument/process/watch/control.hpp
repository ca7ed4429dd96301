// Receives commands for the process during a launch: the survivor reads them from a file (settings/control_file.hpp)
// and stores the settings in memory, and the program's threads read them at their next slow path or sample. No thread
// of the program waits for it, calls MPI for it, or has a descriptor more. It also works while the program computes for
// hours. Runs beside the program's threads in their memory, like process_state_writer.hpp.
//
// The option table marks the settings with the flag kMayChange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "instrument/process/session/session.hpp"
#include "instrument/settings/control_file.hpp"

namespace ardoise::instrument {

// The interval between checks. A check of a local folder costs 3 us; a check of a file server costs server time, for
// thousands of processes.
[[nodiscard]] long control_check_milliseconds(const std::string& folder) noexcept;

class Control {
 public:
  // Commands that exist already are not for this launch.
  Control(Session& of, const PackIdentity& identity, std::string_view program, const std::string& folder);

  void check() noexcept;
  // The program ended.
  void finish() noexcept;

 private:
  [[nodiscard]] std::string_view read() noexcept;
  [[nodiscard]] bool apply(const ControlCommand& command) noexcept;
  [[nodiscard]] bool apply_one(std::string_view name, std::string_view value) noexcept;
  [[nodiscard]] bool set_back(std::string_view name) noexcept;  // to its value at launch
  void answer(std::uint32_t number, std::uint32_t refused) noexcept;

  Session& session_;
  const double ticks_per_second_;
  const std::uint32_t rank_;
  const std::string folder_, answer_, beside_, program_;
  const std::uint64_t flush_ticks_;
  const FunctionSet sums_;
  std::uint64_t size_ = 0;     // of the file at the last read
  std::uint32_t last_ = 0;     // number of the last command
  std::uint32_t refused_ = 0;  // number of refused commands
  bool has_answered_ = false;
  std::array<char, kMaxControlBytes> room_;  // only written when there is a command
};

}  // namespace ardoise::instrument
