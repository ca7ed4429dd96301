// The call trees of a run in the formats of other tools: folded stacks (flamegraph.pl, inferno, many viewers) and
// speedscope's JSON (https://www.speedscope.app/file-format-schema.json). Used by `ardoise export`.
#pragma once

#include <string>

#include "reports/model.hpp"
#include "reports/result.hpp"

namespace ardoise::reports {

enum class StackFormat { folded, speedscope };

// `program` "": all sampled programs. Fails if there is no such program, or no samples.
//
// Folded: a line for each stack, "program;main;solve 1234"; microseconds, or events if an event was sampled. A ';' in a
// name becomes ':', a line break a blank. Stacks of less than half a unit are omitted.
//
// Speedscope: one profile of type "sampled" for each program, unit "seconds" ("none" for events). Weights are sums over
// ranks and threads. Stacks are in the order of the tree, not of time.
//
// MPI and POSIX calls are leaves, with their exact time if known.
[[nodiscard]] Result<std::string> export_stacks(const Run& run, const std::string& program, StackFormat format);

}  // namespace ardoise::reports
