// Numbers with units in three significant digits. Used by summary, findings and the report.
#pragma once

#include <cstdint>
#include <string>

namespace ardoise::reports {

[[nodiscard]] std::string human_seconds(
    double seconds);  // "120 ns", "4.50 µs", "12.3 ms", "42.7 s", "12 min 30 s", "2 h 13 min"
[[nodiscard]] std::string human_bytes(double bytes);         // "512 B", "4.00 KiB", "2.36 GiB"
[[nodiscard]] std::string human_count(double count);         // "999", "12,345", "12.3 M", "4.56 G"
[[nodiscard]] std::string human_share(double share);         // of 1: "42 %", "4.2 %", "< 0.1 %", "0 %"
[[nodiscard]] std::string with_separators(std::uint64_t n);  // "1,234,567"

// "1 call", "12.3 M calls"
[[nodiscard]] std::string human_counted(double count, const std::string& singular);

// Seconds since 1970 as a time in UTC. `form`: of strftime, for at most 63 characters.
[[nodiscard]] std::string utc_time(std::int64_t seconds, const char* form);

[[nodiscard]] std::string capitalised(std::string text);  // ASCII letters only

// "1 rank", "64 ranks"
[[nodiscard]] std::string counted(std::uint64_t n, const std::string& singular);
// "1 rank is", "64 ranks are".
[[nodiscard]] std::string counted(std::uint64_t n, const std::string& singular, const char* verb_of_one,
                                  const char* verb_of_several);

}  // namespace ardoise::reports
