// Checks whether a process that left a file is alive, as far as visible from here.
#pragma once

#include <cstdint>
#include <string>

namespace ardoise::analyzer {

// "" if unknown.
[[nodiscard]] std::string host_name();

// False: it was a process of `program` on this host and has ended. (A zombie has no command line.)
[[nodiscard]] bool may_live(const std::string& host, std::int64_t process, const std::string& program);

}  // namespace ardoise::analyzer
