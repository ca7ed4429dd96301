// Secrets that all processes of a launch can compute before they can communicate, and that other users of the machine
// cannot guess: Open MPI's launcher generates a key for each job and passes it in the environment, which only this user
// can read. Hydra has no such key.
#pragma once

#include <cstdint>
#include <string_view>

namespace ardoise::vmpi {

// A number for this purpose, which reveals nothing about those for other purposes. 0: the launch has no key.
[[nodiscard]] std::uint64_t launch_secret(std::string_view purpose) noexcept;

// SipHash-2-4 (Aumasson and Bernstein, 2012).
[[nodiscard]] std::uint64_t sip_hash(std::uint64_t key0, std::uint64_t key1, std::string_view text) noexcept;

}  // namespace ardoise::vmpi
