#include "analyzer/output_folder/command_file.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "analyzer/output_folder/own_files.hpp"
#include "instrument/machine/own_folder.hpp"

namespace ardoise::analyzer {
namespace {

std::string line_of(const instrument::ControlCommand& command, std::uint32_t number) {
  const std::string rule = command.rule != 0 ? fmt::format("{}{} ", instrument::kOfRule, command.rule) : std::string();
  return fmt::format("{}/{}/{}/{}{}\n", number, command.ranks, command.program, rule, command.settings);
}

}  // namespace

Appended append_command(const std::filesystem::path& folder, const instrument::ControlCommand& command,
                        WhenBusy when_busy, std::size_t most_bytes) {
  Appended appended;
  if (command.program.find_first_of("/\n") != std::string_view::npos) {
    appended.why = "its program name has a '/'";
    return appended;
  }
  const auto file = static_cast<int>(instrument::OwnFolder(folder.c_str()).append(instrument::kControlName, 0600));
  if (file < 0) {
    appended.why = std::strerror(-file);
    return appended;
  }
  if (::flock(file, LOCK_EX | (when_busy == WhenBusy::kReturn ? LOCK_NB : 0)) != 0) {
    appended.is_busy = errno == EWOULDBLOCK;
    appended.why = std::strerror(errno);
    ::close(file);
    return appended;
  }
  const std::string before = read_own_file(folder / instrument::kControlName).value_or("");
  std::uint32_t number = 1;
  const bool is_good =
      before.empty() || instrument::for_each_command(before, [&](const instrument::ControlCommand& each) {
        number = std::max(number, each.number + 1);
      });
  const std::string line =
      (before.empty() ? std::string(instrument::kControlHead) : std::string()) + line_of(command, number);
  if (!is_good) {
    appended.why = "it is damaged, so processes would ignore the command";
  } else if (before.size() + line.size() > most_bytes) {
    appended.why = fmt::format("the command file is full ({} KiB)", most_bytes >> 10);
  } else if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    appended.why = std::strerror(errno);
  }
  ::close(file);
  if (appended.why.empty()) appended.number = number;
  return appended;
}

}  // namespace ardoise::analyzer
