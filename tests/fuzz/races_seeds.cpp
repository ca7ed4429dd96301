// Writes seeds for fuzz_races: a record of races, and the tokens of a thread. Run: build/bin/fuzz_races_seeds FOLDER
#include <zstd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

#include "instrument/format/race_file.hpp"

using namespace ardoise::instrument;

namespace {

using Bytes = std::vector<std::byte>;

void put(Bytes& out, std::span<const std::byte> more) { out.insert(out.end(), more.begin(), more.end()); }
template <class T>
void put_value(Bytes& out, const T& value) {
  put(out, std::as_bytes(std::span(&value, 1)));
}

Bytes tokens() {
  Bytes out;
  RaceEncoder encoder;
  std::uint32_t repeated = 0;
  for (std::int32_t i = 0; i < 60; ++i) {
    const auto key = static_cast<std::uint32_t>(i % 3);
    const RaceKey made{key == 0 ? "MPI_Recv" : "MPI_Test", "/opt/solver", 0x1234 + key, 8};
    const std::array<std::int32_t, 2> values{i / 7, -i / 20};
    const auto token = encoder.add(key, std::span(values).first(key == 2 ? 0 : 2), repeated, &made);
    repeated = token.empty() ? repeated + 1 : 0;
    put(out, token);
  }
  put(out, encoder.repeats(repeated));
  return out;
}

Bytes file() {
  constexpr std::string_view kTexts("solver\0abc123\0Open MPI\0", 23);
  Bytes out;
  RaceFileHeader header;
  header.ranks = 8;
  header.text_bytes = kTexts.size();
  put_value(out, header);
  put(out, std::as_bytes(std::span(kTexts)));
  const Bytes all = tokens();
  for (std::uint32_t stream = 0; stream < 2; ++stream) {
    Bytes packed(ZSTD_compressBound(all.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), all.data(), all.size(), 1));
    RaceBlock block;
    block.stream = stream;
    block.packed = static_cast<std::uint32_t>(packed.size());
    block.bytes = static_cast<std::uint32_t>(all.size());
    put_value(out, block);
    put(out, packed);
  }
  RaceBlock last;
  last.stream = kRaceEnd;
  last.packed = sizeof(RaceEnd);
  put_value(out, last);
  put_value(out, RaceEnd{120, 1});
  return out;
}

bool write(const std::filesystem::path& path, char kind, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.put(kind);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("fuzz_races_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  if (write(folder / "file", 0, file()) && write(folder / "tokens", 1, tokens())) return 0;
  std::fprintf(stderr, "A seed cannot be written to %s.\n", argv[1]);
  return 1;
}
