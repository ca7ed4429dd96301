// Is the MPI in this process the one these wrappers were built for?
#pragma once

namespace ardoise::vmpi {

// False: said once on standard error; the wrappers then only pass their arguments on. The answer never changes.
bool is_expected_library() noexcept;

}  // namespace ardoise::vmpi
