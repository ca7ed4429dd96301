#include "reports/stack_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

using Json = nlohmann::json;

// Calls visit(functions, value) for each node with a value; functions are indices, root first.
template <class Visit>
void for_each_stack(const SampleProfile& s, Visit&& visit) {
  const std::vector<double>& values = s.tree.self;
  std::vector<std::uint32_t> stack;
  for (std::size_t node = 0; node < values.size(); ++node) {
    if (!(values[node] > 0)) continue;
    stack.assign(1, s.tree.function[node]);
    for (std::uint32_t up = s.tree.parent[node]; up != kNoParent; up = s.tree.parent[up]) {
      stack.push_back(s.tree.function[up]);
    }
    std::reverse(stack.begin(), stack.end());
    visit(stack, values[node]);
  }
}

std::string folded_name(const std::string& name) {
  std::string out = name;
  for (char& c : out) {
    if (c == ';') c = ':';
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return printable(out);
}

void fold(const Application& app, std::string& out) {
  const SampleProfile& s = app.samples;
  const double scale = s.unit == "seconds" ? 1e6 : 1;
  std::vector<std::string> names;
  for (const SampledFunction& f : s.functions) names.push_back(folded_name(full_name(f)));
  const std::string root = folded_name(app.name.empty() ? "program" : app.name);
  for_each_stack(s, [&](const std::vector<std::uint32_t>& stack, double value) {
    const double rounded = std::round(value * scale);
    if (rounded < 1) return;
    out += root;
    for (const std::uint32_t function : stack) out += ";" + names[function];
    out += fmt::format(" {:.0f}\n", rounded);
  });
}

std::string speedscope(const std::vector<const Application*>& apps, const Run& run) {
  Json frames = Json::array(), profiles = Json::array();
  for (const Application* app : apps) {
    const SampleProfile& s = app->samples;
    const std::size_t first = frames.size();
    for (const SampledFunction& f : s.functions) {
      Json frame{{"name", printable(full_name(f))}};
      if (!f.source_file.empty()) frame["file"] = printable(f.source_file);
      if (f.line != 0) frame["line"] = f.line;
      frames.push_back(std::move(frame));
    }
    Json samples = Json::array(), weights = Json::array();
    double end = 0;
    for_each_stack(s, [&](const std::vector<std::uint32_t>& stack, double value) {
      Json indices = Json::array();
      for (const std::uint32_t function : stack) indices.push_back(first + function);
      samples.push_back(std::move(indices));
      weights.push_back(value);
      end += value;
    });
    profiles.push_back({{"type", "sampled"},
                        {"name", printable(app->name.empty() ? "program" : app->name)},
                        {"unit", s.unit == "seconds" ? "seconds" : "none"},
                        {"startValue", 0},
                        {"endValue", end},
                        {"samples", std::move(samples)},
                        {"weights", std::move(weights)}});
  }
  const Json document{{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                      {"exporter", "ardoise@" + printable(run.tool_version)},
                      {"name", printable(run.command.empty() ? "ardoise" : run.command)},
                      {"activeProfileIndex", 0},
                      {"shared", {{"frames", std::move(frames)}}},
                      {"profiles", std::move(profiles)}};
  return document.dump() + "\n";
}

}  // namespace

Result<std::string> export_stacks(const Run& run, const std::string& program, StackFormat format) {
  std::vector<const Application*> apps;
  std::string names;
  for (const Application& app : run.applications) {
    names += (names.empty() ? "" : ", ") + in_sentence(app.name);
    if (program.empty() || app.name == program) apps.push_back(&app);
  }
  if (apps.empty()) {
    return Result<std::string>::fail(
        fmt::format("This profile has no program {}; its programs are: {}.", in_sentence(program), names));
  }
  std::erase_if(apps, [](const Application* app) { return app->samples.tree.parent.empty(); });
  if (apps.empty()) {
    return Result<std::string>::fail(
        "This profile has no call stacks: its programs were not sampled; profile again with sampling switched on.");
  }
  if (format == StackFormat::speedscope) return Result<std::string>::ok(speedscope(apps, run));
  std::string out;
  for (const Application* app : apps) fold(*app, out);
  return Result<std::string>::ok(std::move(out));
}

}  // namespace ardoise::reports
