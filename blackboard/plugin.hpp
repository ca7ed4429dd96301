// Plug-ins: shared libraries that register objects with the program that loads them. The loader knows only names and
// versions; the interface name determines the type of `registrar` (kAnalysisInterface: AnalysisRegistrar of
// knowledge_sources/interface/plugin.hpp). A plug-in exports one C symbol, ardoise_plugin, of type PluginDescriptor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace ardoise::blackboard {

// Raised with every change that breaks plug-ins already built.
inline constexpr std::uint32_t kPluginAbi = 1;

struct PluginDescriptor {
  std::uint32_t abi;                       // kPluginAbi of the headers of its build
  std::uint32_t size;                      // sizeof(PluginDescriptor)
  const char* interface_name;              // the interface that it implements
  const char* name;                        // of the plug-in, [a-z0-9_]+
  const char* version;                     // its own, for the report
  void (*register_with)(void* registrar);  // may throw, which fails the loading of this plug-in only
};

struct LoadedPlugin {
  std::string path, name, version;
};
struct PluginError {
  std::string sentence;  // names the file, the error and the remedy
};

// Loads, checks and registers one plug-in. The library stays loaded until the process ends.
[[nodiscard]] std::variant<LoadedPlugin, PluginError> load_plugin(const std::string& path,
                                                                  std::string_view interface_name, void* registrar);

}  // namespace ardoise::blackboard
