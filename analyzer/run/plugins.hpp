// The knowledge sources of an analyzer: the installed ones (lib/ardoise/*.so beside the executable), and those that the
// user adds.
#pragma once

#include <string>
#include <vector>

#include "knowledge_sources/interface/plugin.hpp"

namespace ardoise::analyzer {

struct Plugins {
  std::vector<knowledge_sources::AnalysisFactory> analyses;
  std::vector<std::string> complaints;  // one sentence for each that was not loaded
};

// Folder of the installed ones; empty: not found.
[[nodiscard]] std::string installed_plugins_folder();

// Loads all *.so of `folder` in alphabetical order, then `added`.
[[nodiscard]] Plugins load_plugins(const std::string& folder, const std::vector<std::string>& added);

}  // namespace ardoise::analyzer
