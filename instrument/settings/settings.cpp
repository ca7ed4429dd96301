#include "instrument/settings/settings.hpp"

#include <fmt/core.h>

#include "instrument/settings/option_table.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::size_t kMinBins = 8, kPage = 4096;

}  // namespace

Settings read_settings(GetVariable get) {
  Settings settings;
  const OptionValues values = read_program_options(get, settings.complaint);
  settings.disabled = values.is_on(*option("disable"));
  settings.bin_bytes = static_cast<std::size_t>(values.size(*option("bin"))) / kPage * kPage;
  settings.budget_bytes = static_cast<std::size_t>(values.size(*option("budget")));
  if (const std::size_t least = kMinBins * settings.bin_bytes; settings.budget_bytes < least) {
    if (settings.complaint.empty()) {
      settings.complaint = fmt::format(
          "ARDOISE_BUDGET: {} KiB have no room for a bin of {} KiB for each class of events; {} KiB are used.",
          settings.budget_bytes >> 10, settings.bin_bytes >> 10, least >> 10);
    }
    settings.budget_bytes = least;
  }
  settings.policy = values.text(*option("policy")) == "block" ? Policy::kBlock : Policy::kAdapt;
  (void)parse_record(values.text(*option("record")), settings.sums);
  settings.arguments = values.is_on(*option("arguments"));
  settings.call_stacks = values.is_on(*option("call-stacks"));
  settings.mpi_share = values.number(*option("mpi-share"));
  settings.hang_seconds = values.seconds(*option("hang"));
  settings.flush_seconds = values.seconds(*option("flush-every"));
  settings.finalize_seconds = values.seconds(*option("finalize-timeout"));
  settings.record_races = values.text(*option("record-races"));
  settings.replay_races = values.text(*option("replay-races"));
  settings.stops_at_divergence = values.text(*option("replay-divergence")) == "stop";
  settings.capture_directory = values.text(*option("capture"));
  settings.no_command = values.is_on(*option("no-command"));
  return settings;
}

}  // namespace ardoise::instrument
