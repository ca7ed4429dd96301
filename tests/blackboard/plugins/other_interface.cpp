// A plug-in for plugin_test.cpp: implements something else.
#include "blackboard/plugin.hpp"

namespace {
void register_with(void* registrar) { ++*static_cast<int*>(registrar); }
}  // namespace

extern "C" __attribute__((visibility("default")))
const ardoise::blackboard::PluginDescriptor ardoise_plugin = {ardoise::blackboard::kPluginAbi,
                                                              sizeof(ardoise::blackboard::PluginDescriptor),
                                                              "other.interface",
                                                              "other",
                                                              "1",
                                                              register_with};
