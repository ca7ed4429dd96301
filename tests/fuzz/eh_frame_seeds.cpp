// fuzz_eh_frame_seeds DIRECTORY: writes inputs of fuzz_eh_frame there, made of functions of this program and of the
// libraries that it has loaded: small objects that hold one function's entry each, and its common part (CIE).
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

namespace {

constexpr std::size_t kSeedsOfObject = 150;
constexpr std::int32_t kFunction = 0x10000;  // where a seed's function begins, from the object's first byte

using Bytes = std::vector<char>;

template <class Value>
Value at(const char* place) {
  Value value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}
template <class Value>
void put(Bytes& bytes, Value value) {
  const auto* const first = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(value));
}
std::size_t length_of(const char* entry) { return 4 + at<std::uint32_t>(entry); }

// The entry of one function, in the encoding that compilers use on x86-64 (pcrel, sdata4), which the copy keeps.
Bytes seed_of(const char* fde) {
  const char* const cie = fde + 4 - at<std::uint32_t>(fde + 4);
  const auto function_bytes = at<std::uint32_t>(fde + 12);
  constexpr std::int32_t kHeader = 20;
  const auto place = static_cast<std::int32_t>(kHeader + length_of(cie));  // of the FDE
  Bytes seed;
  put(seed, static_cast<std::int32_t>(kFunction + (function_bytes == 0 ? 0 : function_bytes - 1)));
  put(seed, std::uint32_t{0x3B031B01});  // version 1; pcrel sdata4, udata4, datarel sdata4
  put(seed, std::int32_t{kHeader - 4});
  put(seed, std::uint32_t{1});  // entries
  put(seed, kFunction);
  put(seed, place);
  seed.insert(seed.end(), cie, cie + length_of(cie));
  put(seed, at<std::uint32_t>(fde));
  put(seed, static_cast<std::uint32_t>(place + 4 - kHeader));
  put(seed, kFunction - (place + 8));
  seed.insert(seed.end(), fde + 12, fde + length_of(fde));
  return seed;
}

int write_seeds(dl_phdr_info* info, std::size_t, void* seeds_untyped) {
  auto& seeds = *static_cast<std::vector<Bytes>*>(seeds_untyped);
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    const auto* const header = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    if (at<std::uint32_t>(header) != 0x3B031B01) continue;
    const std::size_t entries = at<std::uint32_t>(header + 8);
    const std::size_t step = std::max<std::size_t>(entries / kSeedsOfObject, 1);
    for (std::size_t i = 0; i < entries; i += i < 10 ? 1 : step) {  // the procedure linkage table comes first
      seeds.push_back(seed_of(header + at<std::int32_t>(header + 12 + 8 * i + 4)));
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: fuzz_eh_frame_seeds DIRECTORY\n");
    return 2;
  }
  std::vector<Bytes> seeds;
  ::dl_iterate_phdr(write_seeds, &seeds);
  bool all = !seeds.empty();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(std::filesystem::path(argv[1]) / std::to_string(i), std::ios::binary);
    file.write(seeds[i].data(), static_cast<std::streamsize>(seeds[i].size()));
    all = file.good() && all;
  }
  if (!all) fmt::print(stderr, "fuzz_eh_frame_seeds: cannot write into {}.\n", argv[1]);
  return all ? 0 : 1;
}
