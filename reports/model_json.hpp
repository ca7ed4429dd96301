// profile.json: the model as a file, written by the analyzer, read by `ardoise report` and other programs (schema:
// docs/reference/profile_schema.md).
#pragma once

#include <string>
#include <string_view>

#include "reports/model.hpp"
#include "reports/result.hpp"

namespace ardoise::reports {

// Writes the whole file or none (see AtomicFile), with constant memory besides the model.
[[nodiscard]] Outcome write_profile_json(const Run& run, const std::string& path);

// Reads any file. If it is not a complete profile of this schema version, the error names the file, the place in it and
// what to do. A returned model fulfils check_model(). Derived values in the file are ignored.
[[nodiscard]] Result<Run> read_profile_json(const std::string& path);

[[nodiscard]] std::string profile_to_json(const Run& run);
[[nodiscard]] Result<Run> profile_from_json(std::string_view text_untrusted);

}  // namespace ardoise::reports
