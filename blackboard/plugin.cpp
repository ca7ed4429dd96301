// Loading of plug-ins. Every failure gives one sentence; only std::bad_alloc is thrown.
#include "blackboard/plugin.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>

namespace ardoise::blackboard {
namespace {

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string last_dl_error() {
  const char* const text = dlerror();
  return text != nullptr ? text : "no reason given";
}

// dlopen without a slash would search the library path; a plug-in is exactly the file named.
std::string as_file(const std::string& path) { return path.find('/') == std::string::npos ? "./" + path : path; }

// Why a file that dlopen rejected is unreadable, if it is: dlopen's own message is misleading then.
std::optional<std::string> unreadable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return "The plug-in " + quoted(path) + " cannot be opened (" + std::strerror(errno) +
           "): check the path, or build and install the plug-in first.";
  }
  if (!S_ISREG(status.st_mode))
    return "The plug-in " + quoted(path) + " is not a file: name the shared library itself.";
  return std::nullopt;
}

bool good_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// The error of a descriptor. `abi` is checked first: other fields are meaningless with another one.
std::optional<std::string> wrong_with(const PluginDescriptor& descriptor, const std::string& path,
                                      std::string_view interface_name) {
  const std::string plugin = "The plug-in " + quoted(path);
  if (descriptor.abi != kPluginAbi) {
    return plugin + " was built for plug-in ABI " + std::to_string(descriptor.abi) + ", this program has ABI " +
           std::to_string(kPluginAbi) + ": rebuild the plug-in against the headers of this installation.";
  }
  if (descriptor.size != sizeof(PluginDescriptor)) {
    return plugin + " has a descriptor of " + std::to_string(descriptor.size) + " bytes where this program has " +
           std::to_string(sizeof(PluginDescriptor)) + ": set size to sizeof(PluginDescriptor) and rebuild it.";
  }
  if (descriptor.interface_name == nullptr || descriptor.name == nullptr || descriptor.version == nullptr ||
      descriptor.register_with == nullptr) {
    return plugin + " leaves a field of its descriptor null: fill interface_name, name, version and register_with.";
  }
  if (interface_name != descriptor.interface_name) {
    return plugin + " implements " + quoted(descriptor.interface_name) + ", not " + quoted(interface_name) +
           ": load it where that interface is expected, or rebuild it against the headers of this installation.";
  }
  if (!good_name(descriptor.name)) {
    return plugin + " calls itself " + quoted(descriptor.name) +
           ", but a plug-in's name may have only a-z, 0-9 and _: rename it.";
  }
  return std::nullopt;
}

std::optional<std::string> registration_failure(const PluginDescriptor& descriptor, const std::string& path,
                                                void* registrar) {
  const auto failed = [&](std::string_view what) {
    return "The plug-in " + quoted(path) + " (" + descriptor.name + " " + descriptor.version +
           ") failed to register: " + std::string(what) + "; it is not used.";
  };
  try {
    descriptor.register_with(registrar);
    return std::nullopt;
  } catch (const std::exception& exception) {
    return failed(exception.what());
  } catch (...) {
    return failed("it threw an object other than std::exception");
  }
}

}  // namespace

std::variant<LoadedPlugin, PluginError> load_plugin(const std::string& path, std::string_view interface_name,
                                                    void* registrar) {
  // NOW: missing symbols fail here, not during the analysis. LOCAL: plug-ins do not see each other's symbols.
  void* const library = dlopen(as_file(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string reason = last_dl_error();
    if (auto sentence = unreadable(path)) return PluginError{std::move(*sentence)};
    return PluginError{"The plug-in " + quoted(path) + " cannot be loaded (" + reason +
                       "): rebuild it for this machine and this installation."};
  }
  const auto* const descriptor = static_cast<const PluginDescriptor*>(dlsym(library, "ardoise_plugin"));
  if (descriptor == nullptr) {
    dlclose(library);
    return PluginError{
        "The library " + quoted(path) +
        " is not an Ardoise plug-in, it has no symbol ardoise_plugin: define one, extern \"C\" and visible."};
  }
  if (auto sentence = wrong_with(*descriptor, path, interface_name)) {
    dlclose(library);
    return PluginError{std::move(*sentence)};
  }
  // Never closed from here on: its code has run and may have left pointers to itself.
  if (auto sentence = registration_failure(*descriptor, path, registrar)) return PluginError{std::move(*sentence)};
  return LoadedPlugin{path, descriptor->name, descriptor->version};
}

}  // namespace ardoise::blackboard
