// Feeds bytes as a record of races (instrument/format/race_file.hpp): as a whole file, or, if the first byte is not 0,
// as the tokens of a thread, which the compression of a file hides from the fuzzer. Invalid input is refused; valid
// input is written again and must read the same.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "instrument/format/race_file.hpp"

using namespace ardoise::instrument;

namespace {

constexpr std::size_t kMostEntries = 20'000;  // one token may stand for any number of repeats

class Bytes final : public RaceBytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> next_piece() override { return std::exchange(bytes_, {}); }

 private:
  std::span<const std::byte> bytes_;
};

template <class Stream>
std::vector<RaceEntry> entries_of(Stream& stream) {
  std::vector<RaceEntry> entries;
  while (entries.size() < kMostEntries) {
    const RaceEntry* const entry = stream.next();
    if (entry == nullptr) break;
    entries.push_back(*entry);
  }
  return entries;
}

void read_file(std::span<const std::byte> bytes) {
  const RaceFile file(bytes, bytes);
  if (!file.error().empty()) return;
  for (std::uint32_t number = 0; number <= file.last_stream(); ++number) {
    RaceStream stream(file, number);
    (void)entries_of(stream);
  }
}

void read_tokens(std::span<const std::byte> bytes) {
  Bytes once(bytes);
  RaceDecoder decoder(once);
  const auto entries = entries_of(decoder);
  RaceEncoder encoder;
  std::vector<std::byte> written;
  const auto put = [&](std::span<const std::byte> token) { written.insert(written.end(), token.begin(), token.end()); };
  std::uint32_t repeated = 0;
  for (const RaceEntry& entry : entries) {
    const auto token = encoder.add(entry.key, entry.values, repeated, &decoder.keys()[entry.key]);
    repeated = token.empty() ? repeated + 1 : 0;
    put(token);
  }
  put(encoder.repeats(repeated));
  Bytes again(written);
  RaceDecoder second(again);
  if (entries_of(second) != entries || !second.is_sound()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] == 0) {
    read_file(bytes);
  } else {
    read_tokens(bytes);
  }
  return 0;
}
