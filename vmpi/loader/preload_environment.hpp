// Our entry in LD_PRELOAD of a program that has us loaded.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::vmpi {

// `list` (entries separated by ':' or blanks) without our libraries (file names libvmpi.so, libardoise.so, with or
// without version, and the file this code was loaded from), and without the AddressSanitizer runtime when it comes
// first and is followed by ours. Other entries keep their order.
std::string without_own_entries(std::string_view list, std::string_view loaded_as = {});

// The file this code was loaded from; "" when unknown.
std::string_view own_library() noexcept;

// Removes us from LD_PRELOAD, so that commands started by this process are unaffected. Called when MPI starts: until
// then a shell or `env` has to pass the entry on to the program.
void remove_own_preload() noexcept;

}  // namespace ardoise::vmpi
