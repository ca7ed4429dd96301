#include "reports/text/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>

namespace ardoise::reports {

namespace {

// Three significant digits without an exponent, for 0 <= v < 1000 (or whatever is left over in the last unit).
std::string three_digits(double v) { return fmt::format("{:.{}f}", v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0); }

}  // namespace

std::string human_seconds(double s) {
  if (!std::isfinite(s)) return "–";
  if (s <= 0) return "0 s";
  if (s < 0.9995e-6) return fmt::format("{:.0f} ns", std::ceil(s * 1e9));
  if (s < 0.9995e-3) return three_digits(s * 1e6) + " µs";
  if (s < 0.9995) return three_digits(s * 1e3) + " ms";
  if (s < 599.5) return three_digits(s) + " s";
  if (s < 7199.5)
    return fmt::format("{:.0f} min {:.0f} s", std::floor(std::round(s) / 60), std::fmod(std::round(s), 60));
  const double minutes = std::round(s / 60);
  return fmt::format("{:.0f} h {:.0f} min", std::floor(minutes / 60), std::fmod(minutes, 60));
}

std::string human_bytes(double bytes) {
  if (!std::isfinite(bytes)) return "–";
  if (bytes < 1023.5) return fmt::format("{:.0f} B", bytes);
  static constexpr std::array<const char*, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 999.5 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return three_digits(bytes) + " " + kUnits[unit];
}

std::string with_separators(std::uint64_t n) {
  if (n < 1000) return std::to_string(n);
  return fmt::format("{},{:03}", with_separators(n / 1000), n % 1000);
}

std::string human_count(double count) {
  if (!std::isfinite(count)) return "–";
  if (count < 9999999.5) return with_separators(static_cast<std::uint64_t>(std::llround(std::fmax(0, count))));
  static constexpr std::array<const char*, 5> kUnits{"M", "G", "T", "P", "E"};
  std::size_t unit = 0;
  for (count /= 1e6; count >= 999.5 && unit + 1 < kUnits.size(); ++unit) count /= 1000;
  return three_digits(count) + " " + kUnits[unit];
}

std::string human_counted(double count, const std::string& singular) {
  const std::string text = human_count(count);
  return text + ' ' + singular + (text == "1" ? "" : "s");
}

std::string human_share(double share) {
  if (!std::isfinite(share)) return "–";
  const double percent = share * 100;
  if (percent <= 0) return "0 %";
  if (percent < 0.1) return "< 0.1 %";
  return percent < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string utc_time(std::int64_t seconds, const char* form) {
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 64> text;
  return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string counted(std::uint64_t n, const std::string& singular) {
  return fmt::format("{} {}{}", with_separators(n), singular, n == 1 ? "" : "s");
}

std::string counted(std::uint64_t n, const std::string& singular, const char* verb_of_one,
                    const char* verb_of_several) {
  return counted(n, singular) + ' ' + (n == 1 ? verb_of_one : verb_of_several);
}

}  // namespace ardoise::reports
