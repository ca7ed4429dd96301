// Reads and adds the tables of third parties' plug-ins (Application::extensions), as JSON. They are not in model.hpp,
// which 150 files include, because nlohmann's header takes a second to compile.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

// An object, empty where plug-ins have added nothing.
inline const nlohmann::json& extensions_of(const Application& application) {
  static const nlohmann::json kNone = nlohmann::json::object();
  return application.extensions == nullptr ? kNone : *application.extensions;
}

// Puts `content` there under `name`, in place of what had this name.
inline void add_extension(Application& application, const std::string& name, nlohmann::json content) {
  auto all = std::make_shared<nlohmann::json>(extensions_of(application));
  (*all)[name] = std::move(content);
  application.extensions = std::move(all);
}

}  // namespace ardoise::reports
