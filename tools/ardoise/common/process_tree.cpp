#include "tools/ardoise/common/process_tree.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

struct Process {
  pid_t parent = 0, session = 0;
};

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> processes;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry->path() / "stat");
    std::string stat;
    std::getline(file, stat, '\0');  // a process may end meanwhile: the stream's buffer would throw
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream fields(stat.substr(name_end + 1));
    char state = 0;
    pid_t group = 0;
    Process process;
    if (fields >> state >> process.parent >> group >> process.session) processes[std::stoi(name)] = process;
  }
  return processes;
}

}  // namespace

std::vector<pid_t> processes_below(pid_t process) {
  const auto all = all_processes();
  const auto top = all.find(process);
  std::vector<pid_t> below;
  if (top == all.end()) return below;
  for (const auto& [number, candidate] : all) {
    if (candidate.session != top->second.session) continue;
    auto above = all.find(candidate.parent);
    while (above != all.end() && above->first != process) above = all.find(above->second.parent);
    if (above != all.end()) below.push_back(number);
  }
  return below;
}

}  // namespace ardoise::launcher
