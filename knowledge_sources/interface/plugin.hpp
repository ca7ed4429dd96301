// How the analyzer loads a knowledge source: a shared library (lib/ardoise/<name>.so) exports one PluginDescriptor with
// the interface kAnalysisInterface, which adds its AnalysisFactory to the registrar. The analyzer, replay and the tests
// load it with blackboard::load_plugin(path, kAnalysisInterface, &registrar).
//
//   class Mine final : public Analysis { … };
//   ARDOISE_ANALYSIS(mine, "1.0", Mine)      // once, at namespace scope, in a library named mine.so
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "blackboard/plugin.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/interface/analysis.hpp"
#include "knowledge_sources/interface/interface_digest.hpp"
#include "knowledge_sources/interface/resolver.hpp"

namespace ardoise::knowledge_sources {

// Ends in a digest of all installed headers: a plug-in built with other headers is rejected.
inline constexpr const char* kAnalysisInterface = "ardoise.analysis/" ARDOISE_INTERFACE_DIGEST;

// Type of the `registrar` for plug-ins with the interface kAnalysisInterface. Used by one thread.
class AnalysisRegistrar {
 public:
  // Throws if an analysis of that name exists: the two would overwrite each other's results.
  void add(AnalysisFactory factory) {
    if (std::ranges::any_of(factories_, [&](const auto& other) { return other.name == factory.name; })) {
      throw std::invalid_argument("an analysis named \"" + factory.name + "\" already; load only one of the two");
    }
    factories_.push_back(std::move(factory));
  }
  [[nodiscard]] const std::vector<AnalysisFactory>& factories() const { return factories_; }

 private:
  std::vector<AnalysisFactory> factories_;
};

template <class Implementation>
std::unique_ptr<Analysis> create_analysis(const AnalysisContext& context) {
  return std::make_unique<Implementation>(context);
}

}  // namespace ardoise::knowledge_sources

// NAME is an identifier, VERSION a string, CLASS a class derived from Analysis with a constructor from AnalysisContext.
#define ARDOISE_ANALYSIS(NAME, VERSION, CLASS)                                                                      \
  namespace {                                                                                                       \
  void ardoise_register_##NAME(void* registrar) {                                                                   \
    static_cast<::ardoise::knowledge_sources::AnalysisRegistrar*>(registrar)->add(                                  \
        {#NAME, &::ardoise::knowledge_sources::create_analysis<CLASS>});                                            \
  }                                                                                                                 \
  }                                                                                                                 \
  extern "C" __attribute__((visibility("default")))                                                                 \
  const ::ardoise::blackboard::PluginDescriptor ardoise_plugin = {::ardoise::blackboard::kPluginAbi,                \
                                                                  sizeof(::ardoise::blackboard::PluginDescriptor),  \
                                                                  ::ardoise::knowledge_sources::kAnalysisInterface, \
                                                                  #NAME,                                            \
                                                                  VERSION,                                          \
                                                                  &ardoise_register_##NAME};
