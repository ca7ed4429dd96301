// libFuzzer target: for any bytes in profile.json, reading returns one sentence, or a valid model from which text,
// page, figures, tables and exports can be made. Seeds: tests/fuzz/profile_json_seeds, and a program with complete
// data: fuzz_profile_json_seeds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reports/model_check.hpp"
#include "reports/model_json.hpp"
#include "tests/tools/shown_everywhere.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ardoise::reports;
  const Result<Run> run = profile_from_json({reinterpret_cast<const char*>(data), size});
  if (!run) {
    if (run.error.empty() || run.error.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (!check_model(*run.value)) std::abort();
  ardoise::launcher::show_everywhere(*run.value);
  if (!profile_from_json(profile_to_json(*run.value))) std::abort();  // written files are readable
  return 0;
}
