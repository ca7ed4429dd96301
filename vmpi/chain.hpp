// Other preloaded tools. When one of them stands behind us and defines MPI functions, our wrappers call those instead
// of the library's, so that both tools see the call.
#pragma once

namespace ardoise::vmpi {

// Before the real MPI_Init, by the only thread that may call MPI then.
void chain_to_next_tool() noexcept;

}  // namespace ardoise::vmpi
