#include "vmpi/world/launch_secret.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>

namespace ardoise::vmpi {

std::uint64_t sip_hash(std::uint64_t key0, std::uint64_t key1, std::string_view text) noexcept {
  std::uint64_t v0 = key0 ^ 0x736f6d6570736575, v1 = key1 ^ 0x646f72616e646f6d, v2 = key0 ^ 0x6c7967656e657261,
                v3 = key1 ^ 0x7465646279746573;
  const auto round = [&] {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  };
  const auto take = [&](std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  };
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (i % 8 * 8);
    if (i % 8 != 7) continue;
    take(word);
    word = 0;
  }
  take(word | std::uint64_t{text.size()} << 56);
  v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

std::uint64_t launch_secret(std::string_view purpose) noexcept {
  const char* const key = std::getenv("OMPI_MCA_orte_precondition_transports");  // two numbers of 64 bits
  unsigned long long first = 0, second = 0;
  if (key == nullptr || std::sscanf(key, "%16llx-%16llx", &first, &second) != 2) return 0;
  return sip_hash(first, second, purpose);
}

}  // namespace ardoise::vmpi
