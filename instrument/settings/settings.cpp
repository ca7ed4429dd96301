// See settings.hpp.
#include "instrument/settings/settings.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "instrument/settings/parse_number.hpp"

namespace ardoise::instrument {
namespace {

// A pack holds the totals of all functions (some 21 KiB), and its length fits 32 bits.
constexpr std::uint64_t kMinBin = std::uint64_t{32} << 10, kMaxBin = std::uint64_t{64} << 20;
constexpr std::uint64_t kMinBins = 8, kMaxBudget = std::uint64_t{64} << 30;

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{}) return std::nullopt;
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unsigned shift = 0;
  if (suffix == "k" || suffix == "K") {
    shift = 10;
  } else if (suffix == "M") {
    shift = 20;
  } else if (suffix == "G") {
    shift = 30;
  } else if (!suffix.empty()) {
    return std::nullopt;
  }
  if (value > UINT64_MAX >> shift) return std::nullopt;
  return value << shift;
}

}  // namespace

Settings read_settings(const char* (*get)(const char* name)) {
  Settings settings;
  const auto complain = [&](const char* name, const char* value, std::string_view wanted) {
    if (settings.complaint.empty()) {
      settings.complaint = fmt::format("{}={} is not {}; the default is used.", name, value, wanted);
    }
  };
  if (const char* value = get("ARDOISE_DISABLE")) settings.disabled = *value != '\0' && std::strcmp(value, "0") != 0;
  if (const char* value = get("ARDOISE_BIN")) {
    const auto size = parse_size(value);
    if (size && *size >= kMinBin && *size <= kMaxBin) {
      settings.bin_bytes = static_cast<std::size_t>(*size) / 4096 * 4096;
    } else {
      complain("ARDOISE_BIN", value, "a size from 32k to 64M");
    }
  }
  if (const char* value = get("ARDOISE_BUDGET")) {
    const auto size = parse_size(value);
    if (size && *size <= kMaxBudget) {
      settings.budget_bytes = static_cast<std::size_t>(*size);
    } else {
      complain("ARDOISE_BUDGET", value, "a size up to 64G");
    }
  }
  if (const std::size_t least = kMinBins * settings.bin_bytes; settings.budget_bytes < least) {
    if (settings.complaint.empty()) {
      settings.complaint = fmt::format(
          "ARDOISE_BUDGET: {} KiB have no room for a bin of {} KiB for each class of events; {} KiB are used.",
          settings.budget_bytes >> 10, settings.bin_bytes >> 10, least >> 10);
    }
    settings.budget_bytes = least;
  }
  if (const char* value = get("ARDOISE_POLICY")) {
    const std::string_view text(value);
    if (text == "adapt" || text == "block") {
      settings.policy = text == "block" ? Policy::kBlock : Policy::kAdapt;
    } else {
      complain("ARDOISE_POLICY", value, "adapt or block");
    }
  }
  if (const char* value = get("ARDOISE_REDUCE")) {
    const std::string_view text(value);
    if (text == "class" || text == "depth" || text == "duration") {
      settings.reduce = text == "class" ? ReduceBy::kClass : text == "depth" ? ReduceBy::kDepth : ReduceBy::kDuration;
    } else {
      complain("ARDOISE_REDUCE", value, "class, depth or duration");
    }
  }
  if (const char* value = get("ARDOISE_MPI_SHARE")) {
    if (const auto share = parse_number(value, 0, 1)) {
      settings.mpi_share = *share;
    } else {
      complain("ARDOISE_MPI_SHARE", value, "a number from 0 to 1");
    }
  }
  if (const char* value = get("ARDOISE_FLUSH")) {
    if (const auto seconds = parse_number(value, 0.001, 1e6)) {
      settings.flush_seconds = *seconds;
    } else {
      complain("ARDOISE_FLUSH", value, "a number of seconds from 0.001 to 1e6");
    }
  }
  if (const char* value = get("ARDOISE_CAPTURE")) settings.capture_directory = value;
  return settings;
}

}  // namespace ardoise::instrument
