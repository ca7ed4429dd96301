#include "analyzer/states/memory_kills.hpp"

#include <fstream>
#include <string>

namespace ardoise::analyzer {

std::uint64_t memory_kills() {
  std::ifstream file("/proc/vmstat");
  std::string name;
  for (std::uint64_t value = 0; file >> name >> value;) {
    if (name == "oom_kill") return value;
  }
  return 0;
}

}  // namespace ardoise::analyzer
