// Writes seeds for fuzz_profile_json: a profile without empty lists, and a reduced one for each key of a program with
// the other keys it needs, so that small changes reach each of them. Run: build/bin/fuzz_profile_json_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reports/model_json.hpp"
#include "tests/reports/synthetic_run.hpp"

using namespace ardoise::reports;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("fuzz_profile_json_seeds FOLDER\n", stderr);
    return 2;
  }
  const auto whole = nlohmann::json::parse(profile_to_json(testing::full_run()));
  const auto write = [&](const std::string& name, const nlohmann::json& json) {
    std::ofstream file(std::filesystem::path(argv[1]) / name, std::ios::binary);
    if (file << json.dump() << std::flush) return true;
    std::fprintf(stderr, "A seed cannot be written to %s.\n", argv[1]);
    return false;
  };
  bool written = write("whole", whole);
  for (const auto& [key, value] : whole["applications"][0].items()) {
    nlohmann::json part{{"schema_version", whole["schema_version"]}, {"applications", {nlohmann::json::object()}}};
    for (const char* needed : {"name", "ranks", "first_rank", "world_ranks", "wall_seconds", "hosts", "per_rank"})
      part["applications"][0][needed] = whole["applications"][0][needed];
    part["applications"][0][key] = value;
    written = written && write(key, part);
  }
  return written ? 0 : 1;
}
