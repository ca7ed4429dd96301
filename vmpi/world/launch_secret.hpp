// Names that all processes of a launch can make up by themselves, before they can talk to each other, and no other user
// of the machine can guess: Open MPI's launcher draws a key for each job and gives it to its processes in the
// environment, which nobody else can read. Hydra has no such key.
#pragma once

#include <cstdint>
#include <string_view>

namespace ardoise::vmpi {

// A number for this purpose, which tells nothing of those for others. 0: the launch has no key.
[[nodiscard]] std::uint64_t launch_secret(std::string_view purpose) noexcept;

// SipHash-2-4 (Aumasson and Bernstein, 2012).
[[nodiscard]] std::uint64_t sip_hash(std::uint64_t key0, std::uint64_t key1, std::string_view text) noexcept;

}  // namespace ardoise::vmpi
