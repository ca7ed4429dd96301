// libFuzzer target: whatever bytes profile.json holds, reading gives a model that fulfils its rules and can be rendered
// as text, or one sentence. Seeds: tests/fuzz/profile_json_seeds (a written profile is the best one).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reports/document/sections.hpp"
#include "reports/model_check.hpp"
#include "reports/model_json.hpp"
#include "reports/text/text_document.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ardoise::reports;
  const Result<Run> run = profile_from_json({reinterpret_cast<const char*>(data), size});
  if (!run) {
    if (run.error.empty() || run.error.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (!check_model(*run.value)) std::abort();
  (void)summary_text(document_of(*run.value));
  if (!profile_from_json(profile_to_json(*run.value))) std::abort();  // what we write, we read
  return 0;
}
