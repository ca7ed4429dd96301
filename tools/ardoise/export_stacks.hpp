// `ardoise export`: call stacks of a profile for the tools that people use.
#pragma once

#include <string>

namespace ardoise::launcher {

// `format` is "folded" or "speedscope", `program` "" for all of them, `output` "-" for standard output. Returns the
// exit status; says in one sentence what went wrong, or what was written and in which unit.
[[nodiscard]] int export_stacks(const std::string& profile, const std::string& format, const std::string& program,
                                const std::string& output);

}  // namespace ardoise::launcher
