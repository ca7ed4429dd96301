// Loads the knowledge sources of the build from their shared libraries, as the analyzer does.
#pragma once

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "blackboard/plugin.hpp"
#include "knowledge_sources/interface/plugin.hpp"

namespace ardoise::replay {

inline const std::vector<std::string> kAllPlugins{"mpi_profile", "posix_profile", "topology",  "density", "temporal",
                                                  "run_summary", "samples",       "snapshots", "waits",   "endings"};

// Throws std::runtime_error with the loader's sentence.
inline std::vector<knowledge_sources::AnalysisFactory> load_plugins(const std::vector<std::string>& names = kAllPlugins,
                                                                    const std::string& directory = ARDOISE_PLUGIN_DIR) {
  knowledge_sources::AnalysisRegistrar registrar;
  for (const std::string& name : names) {
    const auto loaded =
        blackboard::load_plugin(directory + "/" + name + ".so", knowledge_sources::kAnalysisInterface, &registrar);
    if (const auto* error = std::get_if<blackboard::PluginError>(&loaded)) throw std::runtime_error(error->sentence);
  }
  return registrar.factories();
}

}  // namespace ardoise::replay
