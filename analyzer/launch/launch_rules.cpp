#include "analyzer/launch/launch_rules.hpp"

#include <chrono>

#include "analyzer/output_folder/command_file.hpp"

namespace ardoise::analyzer {
namespace {

using Milliseconds = std::chrono::milliseconds;

// The interval at which processes check for commands.
constexpr Milliseconds kLooksForHeld(50), kNoRules = std::chrono::hours(24 * 365);

}  // namespace

LaunchRules::LaunchRules(EventLoop& loop, AnalyzerRun& run, const Options& options,
                         const std::vector<knowledge_sources::Program>& programs)
    : run_(run),
      actions_(options.rules, programs, run.rule_counts(),
               [folder = options.output](const instrument::ControlCommand& command, std::size_t most_bytes) {
                 return append_command(folder, command, WhenBusy::kReturn, most_bytes);
               }),
      looks_(loop.every(options.rules.empty() ? kNoRules : kLooksForHeld,
                        [this] { actions_.act(run_.held_rules().take(), EventLoop::Clock::now()); })) {}

}  // namespace ardoise::analyzer
