// `ardoise trace`: what is done with a trace in OTF2 after it was written, whoever wrote it.
#pragma once

namespace ardoise::launcher {

// Returns the exit status. Throws UsageError.
int trace(int argc, char** argv);

}  // namespace ardoise::launcher
