// Feeds bytes to the reader of call frame information. Input: the distance of the program counter from the object's
// first byte (4 bytes), then the object, which begins with .eh_frame_hdr. Finds reads beyond the object (with the
// address sanitizer), undefined arithmetic, and rules that violate unwind_rule.hpp.
#include "instrument/unwind/eh_frame.hpp"

#include <cstdlib>
#include <cstring>

namespace {

using namespace ardoise::instrument;

void require(bool promise) {
  if (!promise) std::abort();
}

void check(const UnwindRule& rule) {
  require(rule.frame <= FrameKind::kOutermost && rule.cfa <= CfaKind::kMemory);
  require(rule.rbp <= SavedKind::kLost && rule.rbx <= SavedKind::kLost);
  require(rule.cfa_register <= kDwarfReturnAddress);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::int32_t distance = 0;
  if (size <= sizeof(distance)) return 0;
  std::memcpy(&distance, data, sizeof(distance));
  data += sizeof(distance);
  size -= sizeof(distance);
  // A copy of exactly this size on the heap (malloc aligns to 16): the sanitizer sees the first byte too far.
  auto* const copy = static_cast<std::byte*>(std::malloc(size));
  if (copy == nullptr) return 0;
  std::memcpy(copy, data, size);
  const auto begin = reinterpret_cast<std::uint64_t>(copy);
  UnwindRule rule;
  rule.cfa_offset = 12345;
  const UnwindRule before = rule;
  if (find_unwind_rule({begin, begin + size, begin}, begin + static_cast<std::uint64_t>(std::int64_t{distance}),
                       rule)) {
    check(rule);
  } else {
    require(rule == before);
  }
  std::free(copy);
  return 0;
}
