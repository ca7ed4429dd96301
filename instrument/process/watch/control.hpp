// The way back from who watches a launch to its processes: the survivor looks for commands (settings/control_file.hpp)
// and stores what they set where the program's threads find it at their next slow moment or sample. No thread of the
// program waits for it, calls MPI for it, or has a descriptor more; it works as well while the program computes for
// hours. Runs beside the program's threads in their memory: as standing.hpp.
//
// Which settings: those of the option table with the flag kMayChange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "instrument/process/session/session.hpp"
#include "instrument/settings/control_file.hpp"

namespace ardoise::instrument {

// How often a process looks: where the folder is of this machine it costs 3 us, where it is of a server for
// thousands the server's time.
[[nodiscard]] long control_look_milliseconds(const std::string& folder) noexcept;

class Control {
 public:
  // Commands that are there already are not for this launch.
  Control(Session& of, const PackIdentity& identity, std::string_view program, const std::string& folder);

  void look() noexcept;
  // The program has ended.
  void leave() noexcept;

 private:
  [[nodiscard]] std::string_view read() noexcept;
  [[nodiscard]] bool apply(const ControlCommand& command) noexcept;
  [[nodiscard]] bool apply_one(std::string_view name, std::string_view value) noexcept;
  [[nodiscard]] bool set_back(std::string_view name) noexcept;  // to what the process was started with
  void answer(std::uint32_t number, std::uint32_t refused) noexcept;

  Session& session_;
  const double ticks_per_second_;
  const std::uint32_t rank_;
  const std::string folder_, answer_, beside_, program_;
  const std::uint64_t flush_ticks_;
  const FunctionSet sums_;
  std::uint64_t size_ = 0;     // of the file when it was read last
  std::uint32_t last_ = 0;     // command
  std::uint32_t refused_ = 0;  // commands
  bool has_answered_ = false;
  std::array<char, kMaxControlBytes> room_;  // touched where there is a command
};

}  // namespace ardoise::instrument
