#include "analyzer/run/plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>

namespace ardoise::analyzer {

namespace fs = std::filesystem;

std::string installed_plugins_folder() {
  std::error_code ignored;
  const auto here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  // ARDOISE_LIBRARY_PATH: from the installed executables to the installed libraries.
  for (const auto& folder : {here / "../lib/ardoise", here / ARDOISE_LIBRARY_PATH / "ardoise"}) {
    if (fs::is_directory(folder, ignored)) return folder.lexically_normal().string();
  }
  return {};
}

Plugins load_plugins(const std::string& folder, const std::vector<std::string>& added) {
  Plugins plugins;
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() == ".so") paths.push_back(file.path().string());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) {
    plugins.complaints.push_back(fmt::format("There are no knowledge sources in '{}'; install Ardoise again.",
                                             folder.empty() ? "lib/ardoise" : folder));
  }
  knowledge_sources::AnalysisRegistrar registrar;
  const auto load = [&](const std::vector<std::string>& files) {
    std::vector<std::string> complaints;
    for (const auto& path : files) {
      const auto result = blackboard::load_plugin(path, knowledge_sources::kAnalysisInterface, &registrar);
      if (const auto* failure = std::get_if<blackboard::PluginError>(&result)) complaints.push_back(failure->sentence);
    }
    return complaints;
  };
  std::vector<std::string> faults = load(paths);
  if (faults.size() > 1) {  // one common cause: another version was installed over this one, or a part of it
    faults = {
        fmt::format("{} of the {} knowledge sources in '{}' cannot be loaded; install Ardoise again. The first: {}",
                    faults.size(), paths.size(), folder, faults.front())};
  }
  std::vector<std::string> own;
  for (const auto& path : added) own.push_back(fs::absolute(path, error).string());
  for (const auto& list : {faults, load(own)})
    plugins.complaints.insert(plugins.complaints.end(), list.begin(), list.end());
  plugins.analyses = registrar.factories();
  return plugins;
}

}  // namespace ardoise::analyzer
