// Checks that the MPI of this process is the one that the wrappers were built for.
#pragma once

namespace ardoise::vmpi {

// False: the difference was reported once on standard error; the wrappers only pass their arguments on. The answer
// never changes.
bool is_expected_library() noexcept;

}  // namespace ardoise::vmpi
