#include "analyzer/output_folder/live_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace ardoise::analyzer {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

bool may_live(const std::string& host, std::int64_t process, const std::string& program) {
  if (host != host_name()) return true;
  std::ifstream file(fmt::format("/proc/{}/cmdline", process));
  std::string command;
  std::getline(file, command, '\0');
  return command.ends_with(program);
}

}  // namespace ardoise::analyzer
