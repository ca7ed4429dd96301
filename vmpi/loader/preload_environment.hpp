// LD_PRELOAD in the environment of a program that has us loaded.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::vmpi {

// `list` (entries separated by ':' or blanks) without the entries whose file name is that of one of our libraries
// (libvmpi.so, libardoise.so, with or without version) or the one this code was loaded from, and without the runtime of
// AddressSanitizer where that stands first and we behind it. Others keep their order.
std::string without_own_entries(std::string_view list, std::string_view loaded_as = {});

// The file that this code was loaded from; "" when that is not known.
std::string_view own_library() noexcept;

// Takes us out of LD_PRELOAD, so that commands which this process starts are not touched. Called when MPI starts: up to
// then a shell or `env` has to pass the entry on to the program.
void remove_own_preload() noexcept;

}  // namespace ardoise::vmpi
