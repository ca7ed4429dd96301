// Reads and adds tables of third-party plug-ins (Application::extensions) as JSON. Separate from model.hpp, because
// nlohmann's header takes a second to compile.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

// A JSON object; empty: plug-ins added nothing.
inline const nlohmann::json& extensions_of(const Application& application) {
  static const nlohmann::json kNone = nlohmann::json::object();
  return application.extensions == nullptr ? kNone : *application.extensions;
}

// Sets `content` under `name`; replaces an older entry.
inline void add_extension(Application& application, const std::string& name, nlohmann::json content) {
  auto all = std::make_shared<nlohmann::json>(extensions_of(application));
  (*all)[name] = std::move(content);
  application.extensions = std::move(all);
}

}  // namespace ardoise::reports
