// See export_stacks.hpp.
#include "tools/ardoise/export_stacks.hpp"

#include <cstdio>

#include "reports/atomic_file.hpp"
#include "reports/model_json.hpp"
#include "reports/stack_export.hpp"
#include "tools/ardoise/measure.hpp"
#include "tools/ardoise/message.hpp"

namespace ardoise::launcher {

int export_stacks(const std::string& profile, const std::string& format, const std::string& program,
                  const std::string& output) {
  const auto run = reports::read_profile_json(profile);
  if (!run) return say("{}", run.error), kFailedStatus;
  const bool folded = format == "folded";
  const auto text = reports::export_stacks(*run.value, program,
                                           folded ? reports::StackFormat::folded : reports::StackFormat::speedscope);
  if (!text) return say("{}", text.error), kFailedStatus;
  if (output == "-") {
    const bool written = std::fwrite(text.value->data(), 1, text.value->size(), stdout) == text.value->size() &&
                         std::fflush(stdout) == 0;
    if (!written) say("Cannot write to standard output; give a file with -o.");
    return written ? 0 : kFailedStatus;
  }
  if (const auto written = reports::write_file(output, *text.value); !written) {
    return say("{}", written.error), kFailedStatus;
  }
  say("the call stacks are '{}', {}.", output,
      folded ? "folded, values in microseconds (or events), summed over ranks and threads"
             : "for https://www.speedscope.app, weights summed over ranks and threads");
  return 0;
}

}  // namespace ardoise::launcher
