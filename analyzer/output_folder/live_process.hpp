// Whether a process that left a file lives, as far as one can see from here.
#pragma once

#include <cstdint>
#include <string>

namespace ardoise::analyzer {

// "" where it is not known.
[[nodiscard]] std::string host_name();

// False: it was one of `program` on this host, and has ended. (A zombie has no command line.)
[[nodiscard]] bool may_live(const std::string& host, std::int64_t process, const std::string& program);

}  // namespace ardoise::analyzer
