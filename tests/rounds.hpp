// The number of repeats of a test with random cases: a tenth under a sanitizer, where each takes ten times as long.
#pragma once

namespace ardoise {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr unsigned kRoundsDivisor = 10;
#else
inline constexpr unsigned kRoundsDivisor = 1;
#endif
#else
inline constexpr unsigned kRoundsDivisor = 1;
#endif

[[nodiscard]] constexpr unsigned rounds(unsigned count) { return count / kRoundsDivisor; }

}  // namespace ardoise
