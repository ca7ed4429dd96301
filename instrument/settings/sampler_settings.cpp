#include "instrument/settings/sampler_settings.hpp"

#include "instrument/settings/option_table.hpp"

namespace ardoise::instrument {

SamplerSettings read_sampler_settings(GetVariable get) {
  SamplerSettings settings;
  std::string told_by_read_settings;
  const OptionValues values = read_program_options(get, told_by_read_settings);
  const std::string_view sample = values.text(*option("sample"));
  if (sample == "off") {
    settings.mode = SampleMode::kOff;
  } else if (sample != "cpu") {
    settings.mode = SampleMode::kEvent;
    settings.event = find_perf_event(sample);
  }
  settings.hertz = values.number(*option("rate"));
  settings.period = values.count(*option("period"));
  settings.share = values.number(*option("sample-share"));
  settings.use_perf = values.is_on(*option("perf"));
  for (std::string_view rest = values.text(*option("counters")); !rest.empty();) {
    const std::string_view name = take_word(rest, ',');
    if (!name.empty()) settings.counters.push_back(find_perf_event(name));
  }
  return settings;
}

}  // namespace ardoise::instrument
