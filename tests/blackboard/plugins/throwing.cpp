// A plug-in for plugin_test.cpp: its registration throws an exception of its own type.
#include <stdexcept>

#include "blackboard/plugin.hpp"

namespace {
struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void register_with(void*) { throw OwnError("no licence for this moon phase"); }
}  // namespace

extern "C" __attribute__((visibility("default")))
const ardoise::blackboard::PluginDescriptor ardoise_plugin = {ardoise::blackboard::kPluginAbi,
                                                              sizeof(ardoise::blackboard::PluginDescriptor),
                                                              "test.interface",
                                                              "throwing",
                                                              "3",
                                                              register_with};
